/** `witan knowledge …`: knowledge bases, the files in them, and what a search finds. */
import type { Client } from '@witan/client'
import type { Passage, StoredKnowledgeBase } from '@witan/protocol/knowledge'
import type { Command, Given } from '../command.ts'
import { connectionOptions, jsonOption } from '../command.ts'
import { mayDelete, yesOption } from '../confirming.ts'
import { connected, withConnection } from '../connect.ts'
import { type ExitCode, exitCodes, UsageError } from '../exit.ts'
import { findFiles } from '../ingest/files.ts'
import { attributesOf, deleteDocuments, goneOf, type Ingested, ingestFiles } from '../ingest/ingesting.ts'
import { printList } from '../listing.ts'
import { applyAs } from './apply.ts'
import { createProgress } from '../progress.ts'
import { print, printJson, printJsonLine, printProse, printText, type Terminal } from '../terminal.ts'
import { whereOf } from '../tree/knowledge.ts'
import { plural } from '../tree/phrase.ts'
import { oneLine } from '../tree/width.ts'

const one = [{ name: 'BASE' }]

/** The commands about knowledge bases. */
export const knowledgeCommands: readonly Command[] = [
  {
    name: 'knowledge list',
    summary: 'List the knowledge bases, with how much they have.',
    options: { ...jsonOption, ...connectionOptions },
    run: (given, terminal) => connected(given, terminal, list),
  },
  {
    name: 'knowledge show',
    summary: 'Print one knowledge base as JSON, with its revision and its counts.',
    operands: one,
    options: connectionOptions,
    run: (given, terminal) =>
      connected(given, terminal, async (client) => {
        const base = await client.knowledge.get(baseIn(given))
        printJson(terminal, base)
        const { waiting } = base
        if (waiting !== null && waiting > 0) sayNotice(terminal, 'KNOWLEDGE_PENDING', waitingWords(waiting))
      }),
  },
  {
    ...applyAs('knowledge apply', { example: 'bases.yaml', prunes: false }),
    summary: 'Save knowledge bases from YAML or JSON, and agents beside them, as `witan agents apply` does.',
    examples: ['witan knowledge apply -f bases.yaml --dry-run'],
  },
  {
    name: 'knowledge add',
    summary: 'Read files and folders into a knowledge base: what is new or has changed.',
    operands: [...one, { name: 'PATH', many: true }],
    options: {
      attribute: { value: 'NAME=VALUE', multiple: true, help: 'An attribute of all these documents; repeatable.' },
      prefix: { value: 'TEXT', help: 'What stands before each key, such as acme/; default: nothing.' },
      prune: { help: 'Also delete the other documents of the base; with --prefix those below it.' },
      yes: { short: 'y', help: 'Do not ask before --prune deletes. Required for it in a script.' },
      ...jsonOption,
      ...connectionOptions,
    },
    examples: [
      'witan knowledge add handbook docs/',
      'witan knowledge add contracts acme/ --prefix acme/ --attribute customer=acme',
    ],
    run: add,
  },
  {
    name: 'knowledge search',
    summary: 'Search a knowledge base: the passages that an agent with this filter gets, best first.',
    operands: [...one, { name: 'WORDS', many: true }],
    options: {
      filter: { value: 'NAME=VALUE', multiple: true, help: 'Only documents with this attribute; repeatable.' },
      limit: { value: 'NUMBER', help: 'How many passages, 1 to 20; default 6.' },
      ...jsonOption,
      ...connectionOptions,
    },
    examples: ['witan knowledge search contracts "notice period" --filter customer=acme'],
    run: (given, terminal) => connected(given, terminal, search),
  },
  {
    name: 'knowledge delete',
    summary: 'Delete a knowledge base with all its documents.',
    operands: one,
    options: { force: { help: 'Also if agents list it.' }, ...yesOption, ...connectionOptions },
    run: (given, terminal) => withConnection(given, terminal, ({ client }) => remove(client, given, terminal)),
  },
]

async function remove(client: Client, given: Given, terminal: Terminal): Promise<ExitCode> {
  const { id, documents, source, revision } = await client.knowledge.get(baseIn(given))
  const content = documents === null || documents === 0 ? '' : ` with ${plural(documents, 'document')}`
  if (!(await mayDelete(given, terminal, `Delete the knowledge base ${id}${content}?`))) return exitCodes.failed
  await client.knowledge.delete(id, { force: given.has('force'), ifMatch: revision })
  print(terminal, `deleted ${id}`)
  if (source === 'code')
    printProse(
      terminal,
      [{ text: '! It is defined in code, and the next start makes it again, without documents.', tone: 'wait' }],
      { to: terminal.errors },
    )
  return exitCodes.done
}

function waitingWords(count: number): string {
  const what = count === 1 ? '1 document waits' : `${count} documents wait`
  return `${what} to be read by a process that takes work, and is found only then.`
}

function baseIn(given: Given): string {
  return given.operands[0] ?? ''
}

async function list(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const items: StoredKnowledgeBase[] = []
  for await (const base of client.knowledge.all()) items.push(base)
  printList(terminal, given, {
    items,
    columns: [
      { title: 'BASE', tone: 'strong' },
      { title: 'DOCUMENTS' },
      { title: 'PASSAGES' },
      { title: 'REVISION' },
      { title: 'SOURCE' },
      { title: 'DESCRIPTION', tone: 'faint' },
    ],
    cells: ({ id, documents, passages, revision, source, description }) => [
      id,
      ...[documents, passages].map((count) => String(count ?? '–')),
      ...[String(revision), source, description],
    ],
    none: 'There are no knowledge bases yet. witan knowledge apply -f FILE saves some.',
  })
}

async function add(given: Given, terminal: Terminal): Promise<ExitCode> {
  const [base = '', ...paths] = given.operands
  if (paths.length === 0)
    throw new UsageError('witan knowledge add needs a file or a folder.', `Write witan knowledge add ${base} docs/.`)
  const found = await findFiles(paths, terminal.folder)
  if (found.files.length === 0 && !given.has('prune'))
    throw new UsageError('There is no file to read.', 'Name a folder with text, Markdown, HTML, CSV, JSON or PDF.')
  return withConnection(given, terminal, async ({ client }) => {
    const attributes = attributesFor(await client.knowledge.get(base), given)
    const plan = { base, found, attributes, prefix: given.text('prefix') ?? '' }
    const gone = given.has('prune') ? await goneOf(client, plan) : []
    if (gone.length > 0 && !(await mayDelete(given, terminal, questionOf(gone)))) return exitCodes.failed
    const progress = createProgress(terminal)
    const show = (text: string) => progress.show(text)
    try {
      const ingested = await ingestFiles(client, plan, show)
      const deleted = await deleteDocuments(client, { base, keys: gone }, show)
      progress.end()
      sayLeft(terminal, found.left)
      sayIngested(given, terminal, { ...ingested, deleted })
      return ingested.failed.length > 0 ? exitCodes.failed : exitCodes.done
    } finally {
      progress.end()
    }
  })
}

function questionOf(gone: readonly string[]): string {
  return `Delete ${plural(gone.length, 'document')} that the files do not have (${firstOf(gone)})?`
}

/** The first names of a list. */
function firstOf(names: readonly string[]): string {
  return [...names.slice(0, 3).map(oneLine), ...(names.length > 3 ? ['…'] : [])].join(', ')
}

/** Throws without an attribute that every agent filters by: nobody would see these documents, and no message would say so. */
function attributesFor(base: StoredKnowledgeBase, given: Given) {
  const attributes = attributesOf(base, given.texts('attribute'), 'attribute')
  const missing = base.requiredFilters.find((name) => !Object.hasOwn(attributes, name))
  if (missing === undefined) return attributes
  throw new UsageError(
    `"${base.id}" demands a filter by "${missing}": without it no agent sees these documents.`,
    `Add --attribute ${missing}=VALUE.`,
  )
}

function sayLeft(terminal: Terminal, left: readonly string[]): void {
  if (left.length === 0) return
  printProse(terminal, [{ text: `left out, as no text: ${left.length} (${firstOf(left)})`, tone: 'faint' }], {
    to: terminal.errors,
  })
}

function sayIngested(given: Given, terminal: Terminal, ingested: Ingested): void {
  if (given.has('json')) return printJsonLine(terminal, ingested)
  for (const { key, code, detail } of ingested.failed)
    printProse(
      terminal,
      [
        { text: '✗ ', tone: 'bad' },
        { text: oneLine(key), tone: 'strong' },
        { text: `  ${code}  `, tone: 'bad' },
        { text: oneLine(detail), tone: 'plain' },
      ],
      { to: terminal.errors },
    )
  for (const key of ingested.empty)
    printProse(
      terminal,
      [
        { text: '! ', tone: 'wait' },
        { text: oneLine(key), tone: 'strong' },
        { text: '  has no text: no search finds it', tone: 'plain' },
      ],
      { to: terminal.errors },
    )
  const { added, changed, unchanged, deleted, failed } = ingested
  const counts = { added, changed, unchanged, deleted, failed: failed.length }
  const said = Object.entries(counts).map(([name, count]) => `${name} ${count}`)
  print(terminal, said.join(', '))
}

async function search(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const [base = '', ...words] = given.operands
  const query = words.join(' ').trim()
  if (query === '')
    throw new UsageError('witan knowledge search needs words.', `Write witan knowledge search ${base} "words".`)
  const filters = given.texts('filter')
  const filter = filters.length === 0 ? {} : filterOf(await client.knowledge.get(base), filters)
  const limit = limitIn(given)
  const { passages, notices } = await client.knowledge.search(base, {
    ...{ query, filter },
    ...(limit === null ? {} : { limit }),
  })
  for (const { code, detail } of notices) sayNotice(terminal, code, detail)
  if (given.has('json')) for (const passage of passages) printJsonLine(terminal, passage)
  else for (const passage of passages) printPassage(terminal, passage)
  if (passages.length === 0) print(terminal, await whyNothing(client, base, filters.length > 0), terminal.errors)
}

function printPassage(terminal: Terminal, passage: Passage): void {
  const [name = '', ...rest] = whereOf(passage)
  print(terminal, [
    { text: `[${passage.id}] `, tone: 'busy' },
    { text: name, tone: 'strong' },
    { text: rest.map((part) => `  ${part}`).join(''), tone: 'faint' },
  ])
  printText(terminal, passage.text)
  print(terminal)
}

/** What to do about a search that finds nothing. */
async function whyNothing(client: Client, id: string, isFiltered: boolean): Promise<string> {
  const { documents } = await client.knowledge.get(id)
  if (documents === 0) return `"${id}" has no documents yet. witan knowledge add ${id} FOLDER adds some.`
  if (isFiltered) return 'Nothing was found in the documents that this filter lets in.'
  return 'Nothing was found: no passage has one of these words.'
}

/** Prints a notice for people on standard error: what programs read stays as it is. */
function sayNotice(terminal: Terminal, code: string, detail: string): void {
  printProse(
    terminal,
    [
      { text: `${code}  `, tone: 'wait' },
      { text: oneLine(detail), tone: 'plain' },
    ],
    { to: terminal.errors },
  )
}

/** A filter has one value of each attribute: of a list, one that the document's has. */
function filterOf(base: StoredKnowledgeBase, words: readonly string[]) {
  const single = Object.entries(base.attributes).map(
    ([name, type]) => [name, type === 'string[]' ? 'string' : type] as const,
  )
  return attributesOf({ ...base, attributes: Object.fromEntries(single) }, words, 'filter')
}

function limitIn(given: Given): number | null {
  const text = given.text('limit')
  if (text === undefined) return null
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= 20) return limit
  throw new UsageError(`--limit ${text} is no number from 1 to 20.`, 'Leave it out for 6.')
}
