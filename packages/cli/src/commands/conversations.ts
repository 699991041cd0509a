/** `witan conversations …`: what was said, and its log. */
import type { Client, ConversationView } from '@witan/client'
import { createConversationFold, speakersOf } from '@witan/client'
import type { ConversationLine, Document, RunLine } from '@witan/protocol'
import { readCount } from '../arguments.ts'
import type { Command, Given } from '../command.ts'
import { connectionOptions, jsonOption } from '../command.ts'
import { connected } from '../connect.ts'
import { conversationExportCommand } from './conversation-export.ts'
import { diagramCommand } from './diagram.ts'
import { peopleCommand } from './people.ts'
import { promptsCommand } from './prompts.ts'
import { replayCommand } from './replay.ts'
import { printList } from '../listing.ts'
import { printSpoken } from '../speaking.ts'
import type { Terminal } from '../terminal.ts'
import { columnsOf, print, printJson } from '../terminal.ts'
import { drawTree } from '../tree/lines.ts'
import { callerWords } from '../tree/naming.ts'
import { age } from '../tree/phrase.ts'
import { storedEvents } from '../stored-events.ts'
import { oneLine } from '../tree/width.ts'

const one = [{ name: 'ID' }]

/** The commands about conversations. */
export const conversationCommands: readonly Command[] = [
  {
    name: 'conversations list',
    summary: 'List the conversations, the newest first.',
    options: {
      agent: { value: 'AGENT', help: 'Only those with this agent.' },
      limit: { value: 'N', help: 'At most N; default 20.' },
      ...jsonOption,
      ...connectionOptions,
    },
    run: (given, terminal) => connected(given, terminal, list),
  },
  {
    name: 'conversations show',
    summary: 'Print the messages, and the tree of every run.',
    operands: one,
    options: { ...jsonOption, ...connectionOptions },
    run: (given, terminal) => connected(given, terminal, show),
  },
  diagramCommand,
  promptsCommand,
  peopleCommand,
  conversationExportCommand,
  replayCommand,
  {
    name: 'conversations delete',
    summary: 'Delete a conversation with all its documents.',
    operands: one,
    options: connectionOptions,
    run: (given, terminal) =>
      connected(given, terminal, async (client) => {
        await client.conversations.delete(operand(given))
        print(terminal, `deleted ${operand(given)}`)
      }),
  },
]

/** The agent, and who called it from another server. */
function calledAgent({ agent, lastRun }: ConversationLine): string {
  const caller = callerWords(lastRun?.caller)
  return caller === '' ? agent : `${agent} ${caller}`
}

async function list(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const limit = readCount(given, 'limit', 200) ?? 20
  const agent = given.text('agent')
  const page = await client.conversations.list({ limit, ...(agent === undefined ? {} : { agent }) })
  const words = given.has('json') ? new Map<string, string>() : await firstWords(client, page.items)
  const now = Date.now()
  printList(terminal, given, {
    items: page.items,
    columns: [
      { title: 'CONVERSATION', tone: 'strong' },
      { title: 'AGENT' },
      { title: 'STATUS' },
      { title: 'AGE' },
      { title: 'BEGINS', tone: 'faint' },
    ],
    cells: (line) => [
      line.id,
      calledAgent(line),
      line.status,
      age(now - Date.parse(line.lastMessageAt)),
      words.get(line.id) ?? '',
    ],
    none: 'There are no conversations yet. witan run AGENT "message" starts one.',
  })
}

const longestWords = 60

/** What each began with: its first event is the message. One small page of its log each, a few at once. */
async function firstWords(client: Client, items: readonly { readonly id: string }[]): Promise<Map<string, string>> {
  const words = new Map<string, string>()
  const open = [...items]
  const read = async () => {
    for (let one = open.shift(); one !== undefined; one = open.shift()) {
      const { events } = await client.conversations.events(one.id, { from: 0, limit: 1 })
      const [first] = events
      const text = oneLine(first?.type === 'message' ? first.content.text : '')
      words.set(one.id, text.length > longestWords ? `${text.slice(0, longestWords - 1)}…` : text)
    }
  }
  await Promise.all(Array.from({ length: 8 }, read))
  return words
}

async function show(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const id = operand(given)
  const conversation = await client.conversations.get(id)
  const document = await client.documents.get(id, { limit: 1 })
  if (given.has('json')) return printJson(terminal, { conversation, ...(await whole(client, document)) })
  const fold = createConversationFold()
  for await (const event of storedEvents(client, id)) fold.take(event)
  print(terminal, [
    { text: id, tone: 'strong' },
    { text: `  ${document.agent}  ${conversation.status}`, tone: 'faint' },
  ])
  for (const line of parameterLines(document)) print(terminal, line)
  printRuns(terminal, fold.view)
}

/** All runs of a conversation, the newest first, and its document with all messages: the server gives both in pages. */
async function whole(client: Client, document: Document): Promise<{ runs: readonly RunLine[]; document: Document }> {
  const runs: RunLine[] = []
  for await (const run of client.runs.all(document.id, { limit: 200 })) runs.push(run)
  const messages: Document['messages'] = []
  for await (const message of client.documents.messages(document.id, { limit: 200 })) messages.push(message)
  return { runs, document: { ...document, messages, olderCursor: null, newerCursor: null, hasMore: false } }
}

function parameterLines(document: Document): string[] {
  return Object.entries(document.parameters).map(([name, { value, sendToModel }]) =>
    sendToModel ? `  ${oneLine(name)} = ${oneLine(JSON.stringify(value) ?? 'null')}` : `  ${oneLine(name)}  hidden`,
  )
}

function printRuns(terminal: Terminal, view: ConversationView): void {
  const columns = columnsOf(terminal.output, 101) - 1
  const said = new Map(
    view.messages.map(({ rootCallId, text, author }) => [rootCallId, author === 'user' ? text : `${author}: ${text}`]),
  )
  for (const runId of view.runs) {
    const root = view.calls.get(runId)
    if (root === undefined) continue
    const prompt = oneLine(said.get(runId) ?? root.task)
    print(terminal)
    print(terminal, [
      { text: '› ', tone: 'busy' },
      { text: prompt, tone: 'strong' },
    ])
    print(terminal)
    const now = Date.parse(root.endedAt ?? root.startedAt)
    for (const line of drawTree(view, runId, { columns, now })) print(terminal, line)
    const speaker = speakersOf(view, runId).at(-1) ?? root
    if (speaker.text === '') continue
    print(terminal)
    const { text, name: agent, sources } = speaker
    printSpoken(terminal, { text, agent, root: root.name, sources })
  }
}

function operand(given: Given): string {
  return given.operands[0] ?? ''
}
