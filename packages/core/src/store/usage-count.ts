/** Adds up the usage in entries, for all stores [T27]. */
import type { UsageCounters } from '@witan/protocol'
import type { CheckpointBody, EmbeddingUse, Entry, Writable } from '@witan/protocol/entries'
import { embeddingsIn } from '@witan/protocol/entries'
import { type UsageDimension, usageDimensions } from '@witan/protocol/schemas'
import { localPrincipal } from '../identity/principal.ts'
import { type Pausable, runWithoutPause } from '../identity/pausable.ts'
import { sorted } from '../identity/sorted.ts'
import { pause } from '../identity/turn.ts'
import { sumColumns, type UsageRow, type UsageSums } from './usage-records.ts'

/** For whom an entry counts. */
export interface UsageOwner {
  readonly conversation: string
  readonly user: string
}

/** The usage of an agent with one model on one day, or of a complete conversation, which names neither. */
interface DaySums extends Writable<UsageSums> {
  readonly agent: string
  /** As it was asked for. Null if only tools were called, or in a notice of an earlier version. */
  readonly model: string | null
  readonly day: number
}

const dayMs = 86_400_000

/** The day of a time in ms. */
export function dayOf(at: number): number {
  return Math.floor(at / dayMs)
}

/**
 * Whether an entry changes a sum: a model's reply, what an agent elsewhere has cost, what embedding models used, the start of a tool, a request
 * that was lost.
 */
export function countsAsUsage(entry: Entry): boolean {
  const { type, kind, body } = entry
  if (type === 'end' && kind === 'model') return true
  if (type === 'start') return kind === 'tool'
  if (type === 'checkpoint') return body.answered !== undefined || body.spent !== undefined
  if (type === 'notice') return body.code === 'USAGE_INCOMPLETE'
  return embeddingsIn(entry).length > 0
}

/** The usage in the entries that were added. Rows are made when they are read, since most entries change a sum that is there. */
export class UsageCount {
  readonly #users = new Map<string, SumsList>()
  readonly #conversations = new Map<string, SumsList>()
  readonly #adopted: UsageCount[] = []

  /** How many conversations have used something. */
  get conversations(): number {
    return this.#adopted.reduce((sum, one) => sum + one.conversations, this.#conversations.size)
  }

  /** Adds what an entry used, if it used anything. */
  add(entry: Entry, owner: UsageOwner): void {
    if (!countsAsUsage(entry)) return
    const embedded = embeddingsIn(entry)
    for (const one of embedded) for (const sums of this.#sumsOf(entry, owner, one.model)) addEmbedding(sums, one)
    if (embedded.length === 0) for (const sums of this.#sumsOf(entry, owner, modelOf(entry))) addEntry(sums, entry)
  }

  /** The sums that an entry counts in: of its agent with the model, and of its conversation. */
  #sumsOf(
    { at, place }: Entry,
    { conversation, user }: UsageOwner,
    model: string | null | undefined,
  ): readonly [DaySums, DaySums] {
    const day = dayOf(at)
    return [
      sumsOf(this.#users, user, { agent: place.author, model, day }),
      sumsOf(this.#conversations, conversation, { agent: '', model: null, day }),
    ]
  }

  /** Takes over another count, to which nothing is added any more. */
  adopt(other: UsageCount): void {
    this.#adopted.push(other)
  }

  /** Forgets a conversation. What it used stays in the sums of others. */
  forget(conversation: string): void {
    this.#conversations.delete(conversation)
    for (const one of this.#adopted) one.forget(conversation)
  }

  /** The rows of these dimensions, in the order of a list. */
  rows(dimensions: readonly UsageDimension[] = usageDimensions): readonly UsageRow[] {
    return runWithoutPause(this.rowsInPieces(dimensions))
  }

  /** The same in short pieces of work. */
  *rowsInPieces(dimensions: readonly UsageDimension[] = usageDimensions): Pausable<readonly UsageRow[]> {
    const rows = new Map<string, Writable<UsageRow>>()
    const add = (sums: DaySums, keys: Partial<Record<UsageDimension, string | null>>) => {
      for (const by of dimensions) {
        const key = keys[by] ?? null
        if (key === null) continue
        const name = `${by} ${sums.day} ${key}`
        const row = rows.get(name) ?? { ...noSums, by, key, day: sums.day }
        rows.set(name, row)
        addSums(row, by === 'model' ? { ...sums, toolCalls: 0 } : sums)
      }
    }
    let count = 0
    for (const { sums, user, conversation } of this.#all()) {
      if (conversation === null) add(sums, { agent: sums.agent, day: '', model: sums.model, user })
      else add(sums, { conversation })
      count += 1
      if (count % pieceSums === 0) yield
    }
    return yield* sorted([...rows.values()], inOrder)
  }

  *#all(): Generator<{ sums: DaySums; user: string | null; conversation: string | null }> {
    for (const [user, { all }] of this.#users) for (const sums of all) yield { sums, user, conversation: null }
    for (const [conversation, { all }] of this.#conversations)
      for (const sums of all) yield { sums, user: null, conversation }
    for (const one of this.#adopted) yield* one.#all()
  }
}

/** Sums between two pauses. */
const pieceSums = 500

/** The model of an entry that counts; null if it is not known here; undefined for the call of a tool, which is no model's. */
function modelOf(entry: Entry): string | null | undefined {
  if (entry.type === 'end' && entry.kind === 'model') return entry.body.asked ?? entry.body.model
  if (entry.type === 'checkpoint') return null
  if (entry.type !== 'notice' || entry.body.code !== 'USAGE_INCOMPLETE') return undefined
  return entry.body.model ?? null
}

interface SumsOf {
  readonly agent: string
  readonly model: string | null | undefined
  readonly day: number
}

/** The sums of one user or conversation, in the order in which they began; and, once they are many, each by what it is of. */
interface SumsList {
  readonly all: DaySums[]
  places: Map<string, DaySums> | null
}

/** A list of so many is looked through. */
const shortList = 16

/** The sums of this agent, model and day; without a model the latest ones. They come last if they are new. */
function sumsOf(lists: Map<string, SumsList>, key: string, of: SumsOf): DaySums {
  const list = lists.get(key) ?? { all: [], places: null }
  const known = knownIn(list, of)
  if (known !== undefined) return known
  const { agent, model, day } = of
  const fresh = { ...noSums, agent, model: model ?? null, day }
  if (list.all.push(fresh) === 1) lists.set(key, list)
  if (list.places !== null) notePlace(list.places, fresh)
  return fresh
}

/** The sums that a list has of these; undefined if it has none. Called for every entry that counts, so it makes no object while the list is short. */
function knownIn(list: SumsList, of: SumsOf): DaySums | undefined {
  const { all } = list
  if (all.length > shortList) list.places ??= placesIn(all)
  if (list.places !== null) return list.places.get(placeName(of))
  const { agent, model, day } = of
  for (let at = all.length - 1; at >= 0; at -= 1) {
    const one = all[at] as DaySums
    if (one.agent === agent && one.day === day && (model === undefined || one.model === model)) return one
  }
  return undefined
}

function placesIn(all: readonly DaySums[]): Map<string, DaySums> {
  const places = new Map<string, DaySums>()
  for (const one of all) notePlace(places, one)
  return places
}

function notePlace(places: Map<string, DaySums>, one: DaySums): void {
  places.set(placeName(one), one)
  places.set(placeName({ ...one, model: undefined }), one)
}

function placeName({ agent, model, day }: SumsOf): string {
  return JSON.stringify([day, agent, model ?? (model === null ? 0 : 1)])
}

/** Adds an entry that counts. */
function addEntry(sums: Writable<UsageSums>, entry: Entry): void {
  if (entry.type === 'start') sums.toolCalls += 1
  else if (entry.type === 'notice') sums.incomplete += 1
  else if (entry.type === 'checkpoint') addRemote(sums, entry.body)
  else if (entry.type === 'end' && entry.kind === 'model') addReply(sums, entry.body.usage)
}

/** What an agent on another server says that it has cost: at its answer, and before. */
function addRemote(sums: Writable<UsageSums>, { spent, answered }: CheckpointBody): void {
  if (spent !== undefined) addSpent(sums, spent)
  if (answered !== undefined) addSpent(sums, answered.usage)
}

function addSpent(sums: Writable<UsageSums>, used: UsageCounters | null): void {
  if (used === null || !used.complete) sums.incomplete += 1
  if (used === null) return
  sums.modelCalls += used.modelCalls
  sums.toolCalls += used.toolCalls
  if (used.costUsd === null) sums.unpriced += Math.max(used.modelCalls, Math.min(used.inputTokens, 1))
  else sums.costUsd += used.costUsd
  addTokens(sums, used)
}

type ReplyUsage = (Entry & { readonly type: 'end'; readonly kind: 'model' })['body']['usage']

function addReply(sums: Writable<UsageSums>, used: ReplyUsage): void {
  sums.modelCalls += 1
  if (used?.costUsd === undefined) sums.unpriced += 1
  else sums.costUsd += used.costUsd
  if (used === null || used.inputTokens === null || used.outputTokens === null) sums.incomplete += 1
  if (used !== null) addTokens(sums, used)
}

/** What an embedding model used is no call: its tokens and their cost count, and that they are unknown. */
function addEmbedding(sums: Writable<UsageSums>, { inputTokens, costUsd, priceDate }: EmbeddingUse): void {
  if (inputTokens === null) sums.incomplete += 1
  if (inputTokens === null || inputTokens === 0) return
  if (costUsd === undefined) sums.unpriced += 1
  else sums.costUsd += costUsd
  sums.inputTokens += inputTokens
  sums.priceDate = older(sums.priceDate, priceDate ?? null)
}

/** Adds rows to others, by what they are of; and puts them in the order of a list. */
export function addedRows(rows: readonly UsageRow[], more: readonly UsageRow[]): readonly UsageRow[] {
  const sums = new Map(rows.map((row) => [`${row.by} ${row.day} ${row.key}`, { ...row }]))
  for (const row of more) {
    const name = `${row.by} ${row.day} ${row.key}`
    const known = sums.get(name)
    if (known === undefined) sums.set(name, { ...row })
    else addSums(known, row)
  }
  return [...sums.values()].sort(inOrder)
}

/** Rows of what embedding models used outside of conversations, at this time: by model and by day. */
export function usageOfEmbeddings(used: readonly EmbeddingUse[], at: number): readonly UsageRow[] {
  const rows = new Map<string, Writable<UsageRow>>()
  for (const one of used)
    for (const [by, key] of [
      ['model', one.model],
      ['day', ''],
    ] as const) {
      const row = rows.get(`${by} ${key}`) ?? { ...noSums, by, key, day: dayOf(at) }
      rows.set(`${by} ${key}`, row)
      addEmbedding(row, one)
    }
  return [...rows.values()].sort(inOrder)
}

function addTokens(sums: Writable<UsageSums>, used: UsageCounters | NonNullable<ReplyUsage>): void {
  sums.inputTokens += used.inputTokens ?? 0
  sums.outputTokens += used.outputTokens ?? 0
  sums.cachedInputTokens += used.cachedInputTokens
  sums.reasoningTokens += used.reasoningTokens
  sums.cacheWriteTokens += used.cacheWriteTokens ?? 0
  sums.priceDate = older(sums.priceDate, used.priceDate ?? null)
}

const noSums = { ...Object.fromEntries(sumColumns.map((name) => [name, 0])), priceDate: null } as unknown as UsageSums

function older(one: string | null, other: string | null): string | null {
  return one === null || (other !== null && other < one) ? other : one
}

/** Adds to sums, in place. */
export function addSums(sums: Writable<UsageSums>, more: UsageSums): void {
  for (const name of sumColumns) sums[name] += more[name]
  sums.priceDate = older(sums.priceDate, more.priceDate)
}

/** Sums of nothing. */
export function emptySums(): Writable<UsageSums> {
  return { ...noSums }
}

/** The order of a list. */
function inOrder(one: UsageRow, other: UsageRow): number {
  if (one.by !== other.by) return one.by < other.by ? -1 : 1
  if (one.key !== other.key) return one.key < other.key ? -1 : 1
  return one.day - other.day
}

/** The principals that the runs of one log work for, by its entries. The entries of a run follow its start. */
export class LogUsers {
  readonly #users = new Map<string, string>()

  /** For whom an entry counts. Only one that `isOwn` does: the others are history that a fork has copied, and counts where it was made. */
  of(entry: Entry, isOwn: boolean): string | null {
    const { run, call } = entry.place
    if (entry.type === 'start' && entry.kind === 'agent' && call === run && entry.body.principal !== undefined)
      this.#users.set(run, entry.body.principal.id)
    return isOwn ? (this.#users.get(run) ?? localPrincipal.id) : null
  }
}

/** A conversation that comes from another store. */
interface ArrivedConversation {
  readonly id: string
  readonly entries: readonly Entry[]
  readonly jobs: readonly { readonly id: string }[]
}

/** Entries between two pauses. */
const pieceEntries = 500

/** The usage of a conversation that comes from another store. */
export async function usageOfSnapshot({ id, entries, jobs }: ArrivedConversation): Promise<UsageCount> {
  const count = new UsageCount()
  for await (const [entry, user] of countedIn({ id, entries, jobs })) count.add(entry, { conversation: id, user })
  return count
}

/** Rows of the usage in a part of a log: up to this seq, from where the part before it ends. */
export interface UsagePart {
  readonly rows: readonly UsageRow[]
  readonly upTo: number
}

/** How many entries that count are in one part: about two milliseconds of writing. */
const partEntries = 500

/** The same usage in parts, each short enough for one transaction and turn. */
export async function usageParts({ id, entries, jobs }: ArrivedConversation): Promise<readonly UsagePart[]> {
  const parts: UsagePart[] = []
  let [count, size] = [new UsageCount(), 0]
  for await (const [entry, user] of countedIn({ id, entries, jobs })) {
    if (!countsAsUsage(entry)) continue
    if (size === partEntries) {
      parts.push({ rows: count.rows(), upTo: entry.seq - 1 })
      ;[count, size] = [new UsageCount(), 0]
    }
    count.add(entry, { conversation: id, user })
    size += 1
  }
  parts.push({ rows: count.rows(), upTo: entries.at(-1)?.seq ?? 0 })
  return parts
}

/** The entries of the conversation's own jobs, and for whom each counts. */
async function* countedIn({ entries, jobs }: ArrivedConversation): AsyncGenerator<readonly [Entry, string]> {
  const own = new Set(jobs.map((job) => job.id))
  const users = new LogUsers()
  for (const [index, entry] of entries.entries()) {
    if (index % pieceEntries === 0) await pause()
    const user = users.of(entry, own.has(entry.job))
    if (user !== null) yield [entry, user]
  }
}
