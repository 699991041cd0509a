/** `witan agents …`: agents as data. */
import type { Client } from '@witan/client'
import type { StoredAgent } from '@witan/protocol'
import { storedAgents } from '../apply/plan.ts'
import type { Command, Given } from '../command.ts'
import { connectionOptions, jsonOption } from '../command.ts'
import { connected } from '../connect.ts'
import { printList } from '../listing.ts'
import type { Terminal } from '../terminal.ts'
import { print, printJson } from '../terminal.ts'
import { agentToolCommands } from './agent-tools.ts'
import { applyCommand } from './apply.ts'
import { exportCommand } from './export.ts'

const one = [{ name: 'AGENT' }]

/** The commands about agents. */
export const agentCommands: readonly Command[] = [
  {
    name: 'agents list',
    summary: 'List the agents.',
    options: { ...jsonOption, ...connectionOptions },
    run: (given, terminal) => connected(given, terminal, list),
  },
  {
    name: 'agents show',
    summary: 'Print one agent as JSON, with its revision and what the check said.',
    operands: one,
    options: connectionOptions,
    run: (given, terminal) =>
      connected(given, terminal, async (client) => printJson(terminal, await client.agents.get(operand(given)))),
  },
  ...agentToolCommands,
  applyCommand,
  exportCommand,
  {
    name: 'agents delete',
    summary: 'Delete an agent.',
    operands: one,
    options: { force: { help: 'Also if other agents list it.' }, ...connectionOptions },
    run: (given, terminal) =>
      connected(given, terminal, async (client) => {
        await client.agents.delete(operand(given), { force: given.has('force') })
        print(terminal, `deleted ${operand(given)}`)
      }),
  },
]

async function list(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const items = [...(await storedAgents(client)).values()]
  printList(terminal, given, {
    items,
    columns: [
      { title: 'AGENT', tone: 'strong' },
      { title: 'MODEL' },
      { title: 'REVISION' },
      { title: 'SOURCE' },
      { title: 'DESCRIPTION', tone: 'faint' },
    ],
    cells: (agent) => [agent.id, ...insideOf(agent), agent.description],
    none: 'There are no agents yet. witan agents apply -f FILE saves some.',
  })
}

/** A workflow has no model: its kind stands there. Who may only call an agent is shown none of it. */
function insideOf({ model, workflow, revision, source }: Partial<StoredAgent>): [string, string, string] {
  if (revision === undefined || source === undefined) return ['–', '–', '–']
  return [workflow == null ? (model ?? '') : `(${workflow.kind})`, String(revision), source]
}

function operand(given: Given): string {
  return given.operands[0] ?? ''
}
