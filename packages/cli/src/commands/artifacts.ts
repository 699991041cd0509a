/** `witan artifacts …`: the files that agents made, listed and fetched [T31]. */
import type { Client } from '@witan/client'
import type { Artifact } from '@witan/protocol/entries'
import { isTextType, sizeText } from '@witan/protocol/files'
import { checkedBytes, targetOf, writeWhole } from '../artifact-file.ts'
import { type Command, connectionOptions, type Given, jsonOption } from '../command.ts'
import { connected } from '../connect.ts'
import { UsageError } from '../exit.ts'
import { printList } from '../listing.ts'
import { print, printText, type Terminal, writeBytes } from '../terminal.ts'
import { age } from '../tree/phrase.ts'
import { oneLine } from '../tree/width.ts'

/** The commands about artifacts. */
export const artifactCommands: readonly Command[] = [
  {
    name: 'artifacts list',
    summary: 'List the files that the agents of a conversation made, the oldest first.',
    operands: [{ name: 'CONVERSATION' }],
    options: {
      run: { value: 'RUN', help: 'Only those of this run.' },
      agent: { value: 'AGENT', help: 'Only those that this agent made.' },
      ...jsonOption,
      ...connectionOptions,
    },
    examples: ['witan artifacts list chats/1 --agent writer'],
    run: (given, terminal) => connected(given, terminal, list),
  },
  {
    name: 'artifacts get',
    summary: 'Write the bytes of a file that an agent made: to standard output, or to a new file.',
    operands: [{ name: 'ID' }],
    options: {
      out: { value: 'FILE', help: 'Write to this file, or under its own name into this folder.' },
      force: { help: 'With --out: replace an existing file.' },
      ...connectionOptions,
    },
    examples: ['witan artifacts get art_1 --out report.md', 'witan artifacts get art_1 | less'],
    run: (given, terminal) => connected(given, terminal, get),
  },
]

async function list(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const [id = ''] = given.operands
  const [run, agent] = [given.text('run'), given.text('agent')]
  const query = { limit: 200, ...(run === undefined ? {} : { run }), ...(agent === undefined ? {} : { agent }) }
  const items: Artifact[] = []
  for await (const one of client.artifacts.all(id, query)) items.push(one)
  const nameOf = new Map(items.map((one) => [one.id, one.name]))
  const now = Date.now()
  printList(terminal, given, {
    items,
    columns: [
      { title: 'ARTIFACT', tone: 'strong' },
      { title: 'NAME' },
      { title: 'TYPE' },
      { title: 'SIZE' },
      { title: 'BY' },
      { title: 'AGE' },
      { title: 'FROM', tone: 'faint' },
    ],
    cells: (one) => [
      one.id,
      one.name,
      one.mediaType,
      sizeText(one.bytes),
      one.agentPath,
      age(now - Date.parse(one.createdAt)),
      one.inputs.map((input) => nameOf.get(input) ?? input).join(', '),
    ],
    none: 'There are none. An agent with "artifacts": true can save some.',
  })
}

async function get(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const [id = ''] = given.operands
  const out = given.text('out')
  if (out === undefined && given.has('force'))
    throw new UsageError('--force is for a file, and none is named.', 'Add --out FILE.')
  const artifact = await client.artifacts.get(id)
  const target = out === undefined ? null : await targetOf(out, artifact.name, terminal.folder)
  // A terminal shows the text; a pipe and a file get the bytes as they are.
  const isShown = target === null && terminal.output.isTTY === true
  if (isShown && !isTextType(artifact.mediaType)) throw notText(artifact)
  const bytes = await checkedBytes(await client.artifacts.content(id), artifact)
  if (target !== null) {
    await writeWhole(target, bytes, { replace: given.has('force') })
    return print(terminal, `wrote ${oneLine(target)}, ${sizeText(bytes.byteLength)}`, terminal.errors)
  }
  if (isShown) printText(terminal, new TextDecoder().decode(bytes).replace(/\n$/, ''))
  else writeBytes(terminal.output, bytes)
}

function notText({ name, mediaType, bytes }: Artifact): UsageError {
  const what = `"${oneLine(name)}" is ${oneLine(mediaType)}, ${sizeText(bytes)}: nothing that a terminal shows.`
  return new UsageError(what, 'Add --out FILE, or write to a pipe.')
}
