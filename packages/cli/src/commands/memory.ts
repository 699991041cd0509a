/** `witan memory …`: what agents remember, listed, shown, written and erased [F39]. */
import type { Client } from '@witan/client'
import {
  type ErasedMemory,
  type MemoryBlock,
  type MemoryRevision,
  type MemoryWriter,
  memoryKinds,
  memoryScopes,
} from '@witan/protocol/memory'
import { readCount } from '../arguments.ts'
import { type Command, connectionOptions, type Given, jsonOption, type Option } from '../command.ts'
import { askYes, canAsk } from '../confirming.ts'
import { connected, withClient } from '../connect.ts'
import { type ExitCode, exitCodes, UsageError } from '../exit.ts'
import { printList } from '../listing.ts'
import { print, printJsonLine, printText, type Terminal } from '../terminal.ts'
import { age, plural } from '../tree/phrase.ts'
import { oneLine } from '../tree/width.ts'

const about: Readonly<Record<string, Option>> = {
  agent: { value: 'AGENT', help: 'Only of this agent.' },
  subject: { value: 'WHOM', help: 'About whom, such as user:anna; default: you.' },
}
const scope: Readonly<Record<string, Option>> = {
  scope: { value: 'SCOPE', help: `${memoryScopes.join(', ')}; agent is for everybody.` },
}
const rest = { ...jsonOption, ...connectionOptions }
const one = { name: 'BLOCK' }

/** The commands about memory. */
export const memoryCommands: readonly Command[] = [
  {
    name: 'memory list',
    summary: 'List what agents remember about you; an admin sees what is about everybody.',
    options: {
      ...about,
      subject: { value: 'WHOM', help: 'About whom, such as user:anna; default: all that you may see.' },
      ...scope,
      kind: { value: 'KIND', help: `${memoryKinds.join(' or ')}.` },
      words: { value: 'TEXT', help: 'Only blocks with all these words.' },
      limit: { value: 'N', help: 'At most N; default 50.' },
      ...rest,
    },
    run: (given, terminal) => connected(given, terminal, list),
  },
  {
    name: 'memory show',
    summary: 'Print a block, by its id or its key.',
    operands: [one],
    options: { ...about, ...scope, revisions: { help: 'Print each revision, and who wrote it.' }, ...rest },
    examples: ['witan memory show drink --agent desk --revisions'],
    run: (given, terminal) => connected(given, terminal, show),
  },
  {
    name: 'memory set',
    summary: 'Write a block: another text for one that exists, else a new one.',
    operands: [one, { name: 'TEXT' }],
    options: {
      ...about,
      ...scope,
      conversation: { value: 'ID', help: 'A new block of this conversation alone.' },
      kind: { value: 'KIND', help: 'Of a new block: core, the default, or archival.' },
      revision: { value: 'N', help: 'Only if it has revision N.' },
      ...rest,
    },
    examples: ['witan memory set drink "Tea, no sugar." --agent desk'],
    run: (given, terminal) => connected(given, terminal, set),
  },
  {
    name: 'memory erase',
    summary: 'Erase a block, or all that is known about somebody, with all revisions. Asks at a terminal.',
    operands: [{ ...one, optional: true }],
    options: {
      ...about,
      ...scope,
      conversations: { help: 'Without BLOCK: also delete the conversations that quote them.' },
      yes: { short: 'y', help: 'Do not ask. Required without BLOCK in a script.' },
      ...rest,
    },
    examples: ['witan memory erase drink --agent desk', 'witan memory erase --subject user:anna --conversations'],
    run: (given, terminal) => withClient(given, terminal, (client) => erase(client, given, terminal)),
  },
]

async function list(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const limit = readCount(given, 'limit', 10_000) ?? 50
  const [subject, words] = [given.text('subject'), given.text('words')]
  const query = {
    ...filterIn(given),
    ...(subject === undefined ? {} : { subject }),
    ...(words === undefined ? {} : { q: words }),
  }
  const items: MemoryBlock[] = []
  for await (const block of client.memory.all({ ...query, limit: Math.min(200, limit) })) {
    items.push(block)
    if (items.length === limit) break
  }
  const now = Date.now()
  printList(terminal, given, {
    items,
    columns: [
      { title: 'BLOCK', tone: 'strong' },
      { title: 'AGENT' },
      { title: 'ABOUT' },
      { title: 'KEY' },
      { title: 'KIND' },
      { title: 'REVISION', isNumber: true },
      { title: 'CHANGED' },
      { title: 'TEXT', tone: 'faint' },
    ],
    cells: (block) => [
      block.id,
      block.agent,
      aboutWords(block),
      block.key,
      block.kind,
      String(block.revision),
      age(now - Date.parse(block.updatedAt)),
      block.text,
    ],
    none: 'Nothing is remembered. An agent with "memory": {} remembers, and witan memory set writes.',
  })
}

async function show(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const block = await foundBlock(client, given)
  if (!given.has('revisions')) {
    if (given.has('json')) return printJsonLine(terminal, block)
    printHead(terminal, block.key, [block.agent, aboutWords(block), block.kind, `revision ${block.revision}`])
    return printText(terminal, block.text)
  }
  for (let cursor: string | null = null; ; ) {
    const page = await client.memory.revisions(block.id, { limit: 200, ...(cursor === null ? {} : { cursor }) })
    for (const revision of page.items) printRevision(terminal, given, revision)
    cursor = page.nextCursor
    if (cursor === null) break
  }
}

function printRevision(terminal: Terminal, given: Given, revision: MemoryRevision): void {
  if (given.has('json')) return printJsonLine(terminal, revision)
  printHead(terminal, `revision ${revision.revision}`, [revision.at, writerWords(revision.writtenBy)])
  printText(terminal, revision.text)
}

function printHead(terminal: Terminal, name: string, words: readonly string[]): void {
  print(terminal, [
    { text: oneLine(name), tone: 'strong' },
    { text: words.map((word) => `  ${oneLine(word)}`).join(''), tone: 'faint' },
  ])
}

function writerWords({ id, agent, conversationId }: MemoryWriter): string {
  if (agent === null) return `by ${id}`
  return `by ${agent} for ${id}${conversationId === null ? '' : `, in ${conversationId}`}`
}

async function set(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const [key = '', text = ''] = given.operands
  const revision = readCount(given, 'revision', 1_000_000_000)
  const before = await lookUp(client, given)
  if (before === null && revision !== undefined)
    throw new UsageError(`There is no block "${oneLine(key)}" with revision ${revision}.`, 'Leave --revision out.')
  const block =
    before === null
      ? await client.memory.create({ ...(await ownerIn(client, given)), key, text })
      : await client.memory.change(before.id, { text, expectedRevision: revision ?? before.revision })
  if (given.has('json')) printJsonLine(terminal, block)
  else print(terminal, `${oneLine(block.key)} of ${oneLine(block.agent)} has revision ${block.revision}`)
}

/** Whose a new block is. */
async function ownerIn(client: Client, given: Given) {
  const agent = given.text('agent')
  if (agent === undefined) throw new UsageError('A new block belongs to an agent.', 'Add --agent AGENT.')
  const conversationId = given.text('conversation') ?? null
  const { scope: named, kind } = filterIn(given)
  const chosen = named ?? (conversationId === null ? 'person' : 'conversation')
  const subject = chosen === 'agent' ? null : await subjectIn(client, given)
  return { agent, scope: chosen, subject, conversationId, ...(kind === undefined ? {} : { kind }) }
}

async function erase(client: Client, given: Given, terminal: Terminal): Promise<ExitCode> {
  const isNamed = given.operands.length > 0
  if (isNamed && given.has('conversations'))
    throw new UsageError('--conversations is for all that is known about somebody.', 'Leave BLOCK out.')
  if (!isNamed && given.has('scope'))
    throw new UsageError('Without BLOCK every scope is erased.', 'Leave --scope out, or name a block.')
  return isNamed ? eraseOne(client, given, terminal) : eraseAll(client, given, terminal)
}

async function eraseOne(client: Client, given: Given, terminal: Terminal): Promise<ExitCode> {
  const block = await foundBlock(client, given)
  const what = `${oneLine(block.key)} of ${oneLine(block.agent)}`
  const words = `Erase ${what}, ${oneLine(aboutWords(block))}, with all revisions?`
  if (!given.has('yes') && canAsk(terminal) && !(await askYes(terminal, words))) return unchanged(terminal)
  await client.memory.delete(block.id)
  if (given.has('json')) printJsonLine(terminal, { id: block.id, erased: true })
  else print(terminal, `erased ${what}`)
  return exitCodes.done
}

async function eraseAll(client: Client, given: Given, terminal: Terminal): Promise<ExitCode> {
  const subject = await subjectIn(client, given)
  const { agent } = filterIn(given)
  const conversations = given.has('conversations')
  if (!given.has('yes')) {
    if (!canAsk(terminal)) {
      const hint = 'Add --yes to erase it, or witan memory list shows what there is.'
      throw new UsageError('Nothing was erased: without a terminal, erasing all cannot be confirmed.', hint)
    }
    const whose = agent === undefined ? 'every agent' : oneLine(agent)
    const more = conversations ? ', and delete the conversations that quote it' : ''
    const words = `Erase all that ${whose} remembers about ${oneLine(subject)}, with all revisions${more}?`
    if (!(await askYes(terminal, words))) return unchanged(terminal)
  }
  const erased = await client.memory.erase({ subject, ...(agent === undefined ? {} : { agent }), conversations })
  if (given.has('json')) printJsonLine(terminal, erased)
  else sayErased(terminal, subject, erased)
  return exitCodes.done
}

function sayErased(terminal: Terminal, subject: string, { erased, conversations, deleted = [] }: ErasedMemory): void {
  print(terminal, `erased ${plural(erased, 'block')} about ${oneLine(subject)}`)
  const gone = new Set(deleted)
  for (const id of deleted) print(terminal, `deleted ${oneLine(id)}`)
  for (const id of conversations) if (!gone.has(id)) print(terminal, `quoted in ${oneLine(id)}`)
}

function unchanged(terminal: Terminal): ExitCode {
  print(terminal, 'Nothing was changed.')
  return exitCodes.failed
}

/** About whom: `--subject`, else the caller. */
async function subjectIn(client: Client, given: Given): Promise<string> {
  return given.text('subject') ?? (await client.principal()).id
}

type Chosen<Set extends readonly string[]> = Set[number]

/** What narrows a list, as far as it was given. */
function filterIn(given: Given) {
  const agent = given.text('agent')
  const [inScope, kind] = [choice(given, 'scope', memoryScopes), choice(given, 'kind', memoryKinds)]
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(inScope === undefined ? {} : { scope: inScope }),
    ...(kind === undefined ? {} : { kind }),
  }
}

function choice<Set extends readonly string[]>(given: Given, name: string, set: Set): Chosen<Set> | undefined {
  const text = given.text(name)
  if (text === undefined || set.includes(text)) return text
  throw new UsageError(`--${name} "${oneLine(text)}" is none of ${set.join(', ')}.`, `Write --${name} ${set[0]}.`)
}

async function foundBlock(client: Client, given: Given): Promise<MemoryBlock> {
  const block = await lookUp(client, given)
  if (block !== null) return block
  const hint = 'witan memory list shows what there is; --agent, --subject and --scope say whose it is.'
  throw new UsageError(`There is no block "${oneLine(given.operands[0] ?? '')}".`, hint)
}

/** The block of the id, or the one of the key among those about `--subject`; null for none. Throws where several have it. */
async function lookUp(client: Client, given: Given): Promise<MemoryBlock | null> {
  const [word = ''] = given.operands
  if (word.startsWith('m_')) return client.memory.get(word)
  const { kind: _, ...filter } = filterIn(given)
  const conversation = given.text('conversation')
  const subject = filter.scope === 'agent' ? {} : { subject: await subjectIn(client, given) }
  const found: MemoryBlock[] = []
  for await (const block of client.memory.all({ ...filter, ...subject, q: word, limit: 200 })) {
    const isMeant = block.key === word && (conversation === undefined || block.conversationId === conversation)
    if (isMeant) found.push(block)
    if (found.length > mostNamed) break
  }
  const [first = null, second] = found
  if (second === undefined) return first
  const ids = found.slice(0, mostNamed).map(({ id, agent, scope: of }) => `${id} (${agent}, ${of})`)
  const hint = `Name one by its id: ${oneLine(ids.join(', '))}; or add --agent or --scope.`
  throw new UsageError(`Several blocks have the key "${oneLine(word)}".`, hint)
}

const mostNamed = 5

function aboutWords({ scope: of, subject, conversationId }: MemoryBlock): string {
  if (of === 'agent') return 'for everybody'
  return of === 'conversation' ? `about ${subject} in ${conversationId}` : `about ${subject}`
}
