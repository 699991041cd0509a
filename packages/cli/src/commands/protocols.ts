/** `witan protocols …`: protocols as data. */
import type { Command, Given } from '../command.ts'
import { connectionOptions, jsonOption } from '../command.ts'
import { connected } from '../connect.ts'
import { storedProtocols } from '../apply/protocols.ts'
import { printList } from '../listing.ts'
import { print, printJson } from '../terminal.ts'
import { applyAs } from './apply.ts'

const one = [{ name: 'PROTOCOL' }]

/** The commands about protocols. */
export const protocolCommands: readonly Command[] = [
  {
    name: 'protocols list',
    summary: 'List the protocols that agents may speak.',
    options: { ...jsonOption, ...connectionOptions },
    run: (given, terminal) =>
      connected(given, terminal, async (client) => {
        printList(terminal, given, {
          items: [...(await storedProtocols(client)).values()],
          columns: [
            { title: 'PROTOCOL', tone: 'strong' },
            { title: 'MESSAGES' },
            { title: 'REVISION' },
            { title: 'SOURCE' },
            { title: 'PURPOSE', tone: 'faint' },
          ],
          cells: ({ name, messages, revision, source, purpose }) => [
            name,
            messages.map((message) => message.name).join(', '),
            String(revision),
            source,
            purpose,
          ],
          none: 'There are no protocols yet. witan protocols apply -f FILE saves some.',
        })
      }),
  },
  {
    name: 'protocols show',
    summary: 'Print one protocol as JSON, with its revision.',
    operands: one,
    options: connectionOptions,
    run: (given, terminal) =>
      connected(given, terminal, async (client) => printJson(terminal, await client.protocols.get(operand(given)))),
  },
  {
    ...applyAs('protocols apply', { example: 'protocols.yaml' }),
    summary: 'Save protocols from YAML or JSON, and agents beside them, as `witan agents apply` does.',
    examples: ['witan protocols apply -f protocols.yaml --dry-run'],
  },
  {
    name: 'protocols delete',
    summary: 'Delete a protocol that no agent speaks.',
    operands: one,
    options: connectionOptions,
    run: (given, terminal) =>
      connected(given, terminal, async (client) => {
        await client.protocols.delete(operand(given))
        print(terminal, `deleted ${operand(given)}`)
      }),
  },
]

function operand(given: Given): string {
  return given.operands[0] ?? ''
}
