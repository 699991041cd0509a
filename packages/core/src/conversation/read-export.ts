/** Reads an export: every line has its form, and every log is one that Witan can go on from. */
import { isDeepStrictEqual } from 'node:util'
import { type AgentData, WitanError } from '@witan/protocol'
import { definitionsIn, type Entry } from '@witan/protocol/entries'
import { knowledgeBaseSchema } from '@witan/protocol/knowledge'
import { agentSchema, protocolSchema } from '@witan/protocol/schemas'
import { type AgentReading, baseOfRowId, baseRowId, nameOfProtocol, protocolId } from '../agent/records.ts'
import { isTurnSpent, nextTurn } from '../identity/turn.ts'
import { storedPeople } from '../parameter/person.ts'
import type { BlockRevision } from '../memory/records.ts'
import { movedBlock } from '../store/export-blocks.ts'
import type { ExportItem } from '../store/export.ts'
import { contentRow, invalid, type MovingLine, type MovingOf, readMovingLine } from '../store/export-lines.ts'
import { arriving } from '../store/snapshot.ts'
import type { ConversationRow, ConversationSnapshot, InterruptionRow, ParticipantRow } from '../store/store.ts'
import { type AgentLookup, emptyState, fold } from './fold.ts'
import { type Begun, misplaced, misplacedJob } from './misplaced.ts'
import { storedOf } from './stored-values.ts'

/** What of a file is read. */
export interface ReadExportOptions {
  /** The databases that the file may hold; null for all that its first line names. */
  readonly databases?: readonly string[] | null
  /** Where the revisions of agents are that a conversation names and the file does not have, as in an archive. Without it they are missing. */
  readonly stored?: Pick<AgentReading, 'getAgentRevision'>
}

/**
 * Reads the items of a file. Each belongs to a database that the first line names. Throws at the first line that `exportStore` would not
 * write, at a database that is not allowed, and if lines are missing.
 */
export async function* readExport(
  lines: AsyncIterable<string>,
  { databases = null, stored }: ReadExportOptions = {},
): AsyncGenerator<ExportItem> {
  const reader = new Reader(lines)
  const first = await reader.next()
  if (first.kind !== 'witan-store') throw invalid('line 1', 'is not the first line of an export')
  const stranger = databases === null ? undefined : first.databases.find((name) => !databases.includes(name))
  if (stranger !== undefined) throw notAllowedError(stranger)
  const named = new Set(first.databases)
  const counts = { agents: 0, conversations: 0, keys: 0, documents: 0, blocks: 0 }
  const known = new Definitions(stored ?? null)
  // The export of one conversation is only played again: its jobs have no results.
  let isReplay = false
  for (;;) {
    const line = await reader.next()
    if ('database' in line && !named.has(line.database))
      throw invalid(reader.place, `belongs to the database \`${line.database}\`, which the first line does not name`)
    if (line.kind === 'end') {
      const { kind: _, ...said } = { keys: 0, documents: 0, blocks: 0, ...line }
      if (!isDeepStrictEqual(said, counts)) throw invalid(reader.place, 'states other numbers of lines than there are')
      return await reader.finish()
    }
    if (line.kind === 'agent') {
      refuseOddAgent(line, reader.place)
      known.add(line)
      counts.agents += 1
      yield line
    } else if (line.kind === 'key') {
      counts.keys += 1
      yield line
    } else if (line.kind === 'document') {
      counts.documents += 1
      yield line
    } else if (line.kind === 'memory') {
      counts.blocks += 1
      yield movedBlock(line, await reader.revisions(line.revisions), reader.place)
    } else if (line.kind === 'runtime') {
      isReplay = true
      yield line
    } else if (line.kind === 'conversation') {
      const { database } = line
      const { number } = reader
      const snapshot = await reader.snapshot(line)
      await arriving(database, snapshot)
      await refuseUnfoldable(database, snapshot, { known, isReplay, firstLine: number + 1 })
      counts.conversations += 1
      yield { kind: 'conversation', database, snapshot }
    } else throw invalid(reader.place, `is out of place: a line of kind \`${line.kind}\``)
  }
}

function notAllowedError(database: string): WitanError {
  return new WitanError('BODY_INVALID', `The file holds the database \`${database}\`, which is not allowed here.`, {
    path: 'line 1',
    hint: 'Allow it too, or export the others alone: `witan export --database NAME`.',
  })
}

/** Revisions in order, each of the definition that the line names. */
function refuseOddAgent({ id, revisions, current }: MovingOf<'agent'>, place: string): void {
  const isOwn = revisions.every(({ data }) => id === definitionId(id, data))
  if (!isOwn) throw invalid(place, 'has a revision of another agent, protocol or knowledge base')
  const numbers = revisions.map(({ revision }) => revision)
  const isRising = numbers.every((number, index) => index === 0 || number > (numbers[index - 1] as number))
  if (!isRising || (current !== null && current !== numbers.at(-1)))
    throw invalid(place, 'has an agent whose revisions are not in order')
}

/** The id that a definition has among all of them, if it is of the kind that the id says. */
function definitionId(id: string, data: Readonly<Record<string, unknown>>): string {
  if (nameOfProtocol(id) !== null && protocolSchema.safeParse(data).success) return protocolId(String(data['name']))
  if (baseOfRowId(id) !== null && knowledgeBaseSchema.safeParse(data).success) return baseRowId(String(data['id']))
  return agentSchema.safeParse(data).success ? String(data['id']) : ''
}

/** The definitions of a file, and those that a log names and the store has. */
class Definitions {
  readonly #data = new Map<string, unknown>()
  readonly #stored: ReadExportOptions['stored'] | null

  constructor(stored: ReadExportOptions['stored'] | null) {
    this.#stored = stored
  }

  add({ database, id, revisions }: MovingOf<'agent'>): void {
    for (const { revision, data } of revisions) this.#data.set(`${database}\n${id}\n${revision}`, data)
  }

  /** Whether the file has that revision, or the store. */
  async find(database: string, id: string, revision: number): Promise<boolean> {
    const key = `${database}\n${id}\n${revision}`
    if (this.#data.has(key)) return true
    const row = (await this.#stored?.getAgentRevision(database, id, revision)) ?? null
    if (row !== null) this.#data.set(key, row.data)
    return row !== null
  }

  /** The agents of a database. Throws for a revision that is not there or is no agent's. */
  of(database: string): AgentLookup {
    const read = new Map<string, AgentData>()
    return (id, revision) => {
      const key = `${id}\n${revision}`
      const agent = read.get(key) ?? agentSchema.parse(this.#data.get(`${database}\n${key}`))
      read.set(key, agent)
      return agent
    }
  }
}

/** Folds a log as its first reader would. Throws at the first line that cannot stand where it stands. */
async function refuseUnfoldable(
  database: string,
  { row, entries, jobs }: ConversationSnapshot,
  {
    known,
    isReplay,
    firstLine,
  }: { readonly known: Definitions; readonly isReplay: boolean; readonly firstLine: number },
): Promise<void> {
  const { id, agent: rootAgent, maxModelIterationsPerCall } = row
  const state = emptyState({ database, id, rootAgent, stored: storedOf(row.parameters), maxModelIterationsPerCall })
  const agents = known.of(database)
  const begun: Begun = { calls: new Set(), jobs: new Map(), refused: new Map() }
  for (const [index, entry] of entries.entries()) {
    if (isTurnSpent()) await nextTurn()
    const why = (await unknownIn(known, database, entry)) ?? misplaced(state, entry, begun)
    if (why !== null) throw invalid(`line ${firstLine + index}`, why)
    fold(state, entry, agents)
  }
  if (isReplay) return
  for (const [index, job] of jobs.entries()) {
    const why = misplacedJob(state, job, begun)
    if (why !== null) throw invalid(`line ${firstLine + entries.length + index}`, why)
  }
  const rows = new Set(jobs.map((job) => job.id))
  const left = [state.run, ...state.tasks.values()].find((job) => job !== null && !rows.has(job.root.job))
  if (left) throw invalid(`line ${firstLine - 1}`, `has no job of the call \`${left.root.job}\`, which is under way`)
}

/** The first revision that an entry names and that cannot be found. */
async function unknownIn(known: Definitions, database: string, { type, kind, body }: Entry): Promise<string | null> {
  if (type !== 'start' || kind !== 'agent') return null
  for (const [id, revision] of definitionsIn(body))
    if (!(await known.find(database, id, revision)))
      return `names revision ${revision} of \`${id}\`, which is not in the file`
  return null
}

/** Reads lines in order and counts them. */
class Reader {
  readonly #lines: AsyncIterator<string>
  #number = 0

  constructor(lines: AsyncIterable<string>) {
    this.#lines = lines[Symbol.asyncIterator]()
  }

  /** The number of the last line that was read. */
  get number(): number {
    return this.#number
  }

  get place(): string {
    return `line ${this.#number}`
  }

  async next(): Promise<MovingLine> {
    if (isTurnSpent()) await nextTurn()
    const { value, done } = await this.#lines.next()
    if (done === true) throw invalid(`line ${this.#number + 1}`, 'is not there: the file was cut off')
    this.#number += 1
    return readMovingLine(value, this.#number)
  }

  async finish(): Promise<void> {
    const { done } = await this.#lines.next()
    if (done !== true) throw invalid(`line ${this.#number + 1}`, 'comes after the last line of an export')
  }

  async revisions(count: number): Promise<readonly BlockRevision[]> {
    const revisions: BlockRevision[] = []
    while (revisions.length < count) {
      const line = await this.next()
      if (line.kind !== 'revision') throw invalid(this.place, 'is out of place: a block of memory has more revisions')
      revisions.push(line.revision)
    }
    return revisions
  }

  async snapshot(line: MovingOf<'conversation'>): Promise<ConversationSnapshot> {
    const { database, row, jobs, interruptions, contents, participants = 0 } = line
    const at = { database, conversation: row.id }
    const read = {
      row: { ...row, database } satisfies ConversationRow,
      entries: await this.#take(row.lastSeq, 'entry', ({ entry }) => entry as unknown as Entry),
      jobs: await this.#take(jobs, 'job', ({ job }) => {
        const changedAt = job.endedAt ?? job.startedAt ?? job.createdAt
        return { ...job, ...at, owner: null, leaseUntil: 0, changedAt }
      }),
      interruptions: await this.#take(interruptions, 'interruption', ({ interruption }) => {
        return { ...interruption, ...at } as unknown as InterruptionRow
      }),
      ...(contents === undefined
        ? {}
        : { contents: await this.#take(contents, 'content', ({ content }) => contentRow(content, this.place)) }),
    }
    const people = await this.#take(participants, 'participant', ({ participant }) => participant)
    const all = participants === 0 ? startedWith(row) : people
    return all.length === 0 ? read : { ...read, participants: all }
  }

  async #take<Kind extends MovingLine['kind'], Row>(
    count: number,
    kind: Kind,
    read: (line: MovingOf<Kind>) => Row,
  ): Promise<readonly Row[]> {
    const rows: Row[] = []
    while (rows.length < count) {
      const line = await this.next()
      if (line.kind !== kind)
        throw invalid(this.place, `is of kind \`${line.kind}\` where one of kind \`${kind}\` must be`)
      rows.push(read(line as MovingOf<Kind>))
    }
    return rows
  }
}

/** The people of a conversation whose export names none: an earlier version kept those of its start among its parameters only. */
function startedWith({ parameters, createdAt }: Pick<ConversationRow, 'parameters' | 'createdAt'>): ParticipantRow[] {
  const given = storedPeople(parameters)
  return given.map(({ id, name, roles }) => ({ user: id, name, roles, joinedAt: createdAt, leftAt: null }))
}
