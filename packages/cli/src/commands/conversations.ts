/** `witan conversations …`: what was said, and its log. */
import type { Client } from '@witan/client'
import type { Document, Event } from '@witan/protocol'
import { readCount } from '../arguments.ts'
import type { Command, Given } from '../command.ts'
import { connectionOptions, jsonOption } from '../command.ts'
import { connect } from '../connect.ts'
import type { ExitCode } from '../exit.ts'
import { exitCodes } from '../exit.ts'
import { printJson, printList } from '../listing.ts'
import type { Terminal } from '../terminal.ts'
import { painter, print } from '../terminal.ts'
import type { Tree } from '../tree/fold.ts'
import { createTree, takeEvent } from '../tree/fold.ts'
import { drawTree } from '../tree/lines.ts'
import { oneLine, printable } from '../tree/width.ts'

const one = [{ name: 'ID' }]

/** The commands about conversations. */
export const conversationCommands: readonly Command[] = [
  {
    name: 'conversations list',
    summary: 'List the conversations, the newest first.',
    options: {
      agent: { value: 'AGENT', help: 'Only those with this agent.' },
      limit: { value: 'N', help: 'At most so many; 20 unless given.' },
      ...jsonOption,
      ...connectionOptions,
    },
    run: (given, terminal) => connected(given, terminal, list),
  },
  {
    name: 'conversations show',
    summary: 'Print what was said, and the tree of every run.',
    operands: one,
    options: { ...jsonOption, ...connectionOptions },
    run: (given, terminal) => connected(given, terminal, show),
  },
  {
    name: 'conversations export',
    summary: 'Print the whole log, one event a line.',
    operands: one,
    options: connectionOptions,
    run: (given, terminal) => connected(given, terminal, exportLog),
  },
  {
    name: 'conversations delete',
    summary: 'Delete a conversation with all its documents.',
    operands: one,
    options: connectionOptions,
    run: (given, terminal) =>
      connected(given, terminal, async (client) => {
        await client.conversations.delete(operand(given))
        print(terminal.output, `deleted ${operand(given)}`)
      }),
  },
]

type Work = (client: Client, given: Given, terminal: Terminal) => Promise<void>

async function connected(given: Given, terminal: Terminal, work: Work): Promise<ExitCode> {
  const connection = await connect(given, terminal)
  try {
    await work(connection.client, given, terminal)
    return exitCodes.done
  } finally {
    await connection.close()
  }
}

async function list(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const limit = readCount(given, 'limit', 200) ?? 20
  const agent = given.text('agent')
  const page = await client.conversations.list({ limit, ...(agent === undefined ? {} : { agent }) })
  printList(terminal, given, {
    items: page.items,
    columns: [{ title: 'CONVERSATION', tone: 'strong' }, { title: 'AGENT' }, { title: 'LAST MESSAGE' }],
    cells: (line) => [line.id, line.agent, localTime(line.lastMessageAt)],
    none: 'There are no conversations yet. witan run AGENT "message" starts one.',
  })
}

async function show(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const id = operand(given)
  const conversation = await client.conversations.get(id)
  const document = await client.documents.get(id)
  if (given.has('json')) return printJson(terminal, { conversation, document })
  const paint = painter(terminal)
  const tree = createTree()
  const messages = new Map<string, string>()
  for await (const event of storedEvents(client, id)) {
    if (event.type === 'message' && event.callId === event.rootCallId)
      messages.set(event.rootCallId, String(event.content.text ?? ''))
    takeEvent(tree, event)
  }
  print(
    terminal.output,
    paint([
      { text: id, tone: 'strong' },
      { text: `  ${document.agent}  ${conversation.status}`, tone: 'faint' },
    ]),
  )
  for (const line of parameterLines(document)) print(terminal.output, line)
  printRuns(terminal, tree, messages)
}

function parameterLines(document: Document): string[] {
  return Object.entries(document.parameters).map(([name, { value, sendToModel }]) =>
    sendToModel ? `  ${oneLine(name)} = ${oneLine(JSON.stringify(value) ?? 'null')}` : `  ${oneLine(name)}  hidden`,
  )
}

function printRuns(terminal: Terminal, tree: Tree, messages: ReadonlyMap<string, string>): void {
  const paint = painter(terminal)
  const columns = terminal.output.isTTY ? (terminal.output.columns ?? 80) - 1 : 100
  for (const root of tree.runs) {
    const prompt = oneLine(messages.get(root.callId) ?? root.task)
    print(
      terminal.output,
      `\n${paint([
        { text: '› ', tone: 'busy' },
        { text: prompt, tone: 'strong' },
      ])}\n`,
    )
    for (const line of drawTree(root, { columns, now: root.endedAt ?? root.startedAt }))
      print(terminal.output, paint(line))
    if (root.text !== '') print(terminal.output, `\n${printable(root.text).trimEnd()}`)
  }
}

async function exportLog(client: Client, given: Given, terminal: Terminal): Promise<void> {
  for await (const event of storedEvents(client, operand(given))) print(terminal.output, JSON.stringify(event))
}

async function* storedEvents(client: Client, id: string): AsyncGenerator<Event, void, undefined> {
  let from = 0
  for (;;) {
    const page = await client.conversations.events(id, { from, verbose: true })
    yield* page.events
    from = page.events.at(-1)?.seq ?? from
    if (!page.more || page.events.length === 0) return
  }
}

function localTime(iso: string): string {
  const at = new Date(iso)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`
}

function operand(given: Given): string {
  return given.operands[0] ?? ''
}
