/** Sums of usage beside the log: they follow the entries, in the same append [T27]. */
import type { UsageDimension } from '@witan/protocol/schemas'
import type { Entry, Writable } from '@witan/protocol/entries'
import { localPrincipal } from '../identity/principal.ts'

/** What is added up. A cost is known, or its reply is `unpriced`; `incomplete` counts what makes the sums a lower bound. */
export interface UsageSums {
  readonly modelCalls: number
  readonly toolCalls: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedInputTokens: number
  readonly reasoningTokens: number
  readonly cacheWriteTokens: number
  readonly costUsd: number
  readonly unpriced: number
  readonly incomplete: number
  /** The oldest date of a price table that a cost is from; null without one. */
  readonly priceDate: string | null
}

/** The sums of one key and day. `day` counts from 1970-01-01, UTC; by `day` the key is empty. */
export interface UsageRow extends UsageSums {
  readonly by: UsageDimension
  readonly key: string
  readonly day: number
}

/** A page of rows, behind the row `after`. That row need not exist. */
export interface UsagePage {
  readonly by: UsageDimension
  readonly after: Pick<UsageRow, 'key' | 'day'> | null
  readonly limit: number
}

/** The methods of a store that read usage. A store derives the rows from the entries that it stores; see `Append.usedBy`. */
export interface UsageRecords {
  /** Rows in the order of their keys, and of their days within a key. */
  listUsage(database: string, page: UsagePage): Promise<readonly UsageRow[]>
}

/** The usage of one agent, with one model, on one day. Calls of tools count for the agent, not for the model. */
export interface UsageFact extends UsageSums {
  readonly agent: string
  /** As it was asked for. Null if only tools were called, or in a notice of an earlier version. */
  readonly model: string | null
  readonly day: number
}

const dayMs = 86_400_000
const none: readonly UsageFact[] = []

/** The day of a time in ms. */
export function dayOf(at: number): number {
  return Math.floor(at / dayMs)
}

/** The usage in these entries. Most appends have that of one agent, and many have none. */
export function usageFacts(entries: readonly Entry[]): readonly UsageFact[] {
  let facts: Writable<UsageFact>[] | null = null
  for (const entry of entries) {
    if (!countsAsUsage(entry)) continue
    facts ??= []
    addEntry(facts, entry)
  }
  return facts ?? none
}

/** Whether an entry changes a sum: a model's reply, the start of a tool, a request that was lost. */
export function countsAsUsage({ type, kind, body }: Entry): boolean {
  if (type === 'end') return kind === 'model'
  if (type === 'start') return kind === 'tool'
  return type === 'notice' && body.code === 'USAGE_INCOMPLETE'
}

/** Adds an entry that counts as usage to the fact of its agent, model and day. A new fact comes last. */
export function addEntry(facts: Writable<UsageFact>[], entry: Entry): void {
  const { author: agent } = entry.place
  const day = dayOf(entry.at)
  if (entry.type === 'end' && entry.kind === 'model')
    return countReply(factOf(facts, { agent, day, model: entry.body.asked ?? entry.body.model }), entry.body.usage)
  if (entry.type === 'start')
    (latest(facts, { agent, day }) ?? factOf(facts, { agent, day, model: null })).toolCalls += 1
  else if (entry.type === 'notice') factOf(facts, { agent, day, model: entry.body.model ?? null }).incomplete += 1
}

function factOf(facts: Writable<UsageFact>[], of: Pick<UsageFact, 'agent' | 'day' | 'model'>): Writable<UsageFact> {
  const known = latest(facts, of)
  if (known !== null) return known
  const fresh = { ...emptySums, agent: of.agent, day: of.day, model: of.model }
  facts.push(fresh)
  return fresh
}

/** The last of these facts that is of this agent and day, and of this model if one is named. Nearly always it is among the last ones. */
function latest(
  facts: readonly Writable<UsageFact>[],
  { agent, day, model }: Pick<UsageFact, 'agent' | 'day'> & Partial<Pick<UsageFact, 'model'>>,
): Writable<UsageFact> | null {
  for (let at = facts.length - 1; at >= 0; at -= 1) {
    const one = facts[at] as Writable<UsageFact>
    if (one.agent === agent && one.day === day && (model === undefined || one.model === model)) return one
  }
  return null
}

type ReplyUsage = (Entry & { readonly type: 'end'; readonly kind: 'model' })['body']['usage']

function countReply(fact: Writable<UsageFact>, used: ReplyUsage): void {
  fact.modelCalls += 1
  if (used?.costUsd === undefined) fact.unpriced += 1
  else fact.costUsd += used.costUsd
  if (used === null || used.inputTokens === null || used.outputTokens === null) fact.incomplete += 1
  if (used === null) return
  fact.inputTokens += used.inputTokens ?? 0
  fact.outputTokens += used.outputTokens ?? 0
  fact.cachedInputTokens += used.cachedInputTokens
  fact.reasoningTokens += used.reasoningTokens
  fact.cacheWriteTokens += used.cacheWriteTokens ?? 0
  fact.priceDate = older(fact.priceDate, used.priceDate ?? null)
}

const emptySums: UsageSums = {
  modelCalls: 0,
  toolCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
  cacheWriteTokens: 0,
  costUsd: 0,
  unpriced: 0,
  incomplete: 0,
  priceDate: null,
}

function older(one: string | null, other: string | null): string | null {
  return one === null || (other !== null && other < one) ? other : one
}

/** Adds to sums, in place. */
export function addSums(sums: Writable<UsageSums>, more: UsageSums): void {
  sums.modelCalls += more.modelCalls
  sums.toolCalls += more.toolCalls
  sums.inputTokens += more.inputTokens
  sums.outputTokens += more.outputTokens
  sums.cachedInputTokens += more.cachedInputTokens
  sums.reasoningTokens += more.reasoningTokens
  sums.cacheWriteTokens += more.cacheWriteTokens
  sums.costUsd += more.costUsd
  sums.unpriced += more.unpriced
  sums.incomplete += more.incomplete
  sums.priceDate = older(sums.priceDate, more.priceDate)
}

/** For whom facts count. */
export interface UsageOwner {
  readonly conversation: string
  readonly user: string
}

/** The keys to which a fact is added, one for each dimension. */
function keysOf({ agent, model }: UsageFact, { conversation, user }: UsageOwner): [UsageDimension, string][] {
  const keys: [UsageDimension, string][] = [
    ['agent', agent],
    ['conversation', conversation],
    ['day', ''],
    ['user', user],
  ]
  if (model !== null) keys.push(['model', model])
  return keys
}

/** What a fact adds there: calls of tools are no model's. */
function sumsIn(fact: UsageFact, by: UsageDimension): UsageSums {
  return by === 'model' && fact.toolCalls > 0 ? { ...fact, toolCalls: 0 } : fact
}

/** A row of sums, to be changed in place. */
export function newRow({ by, key, day }: Pick<UsageRow, 'by' | 'key' | 'day'>, sums: UsageSums): Writable<UsageRow> {
  const row = { ...emptySums, by, key, day }
  addSums(row, sums)
  return row
}

/** The rows that a fact adds, one for each dimension. */
export function rowsOf(fact: UsageFact, owner: UsageOwner): UsageRow[] {
  return keysOf(fact, owner).map(([by, key]) => newRow({ by, key, day: fact.day }, sumsIn(fact, by)))
}

/** Adds rows up, one for each dimension, key and day, in the order of a list. */
export class UsageTotals {
  readonly #rows = new Map<string, Writable<UsageRow>>()

  add(rows: readonly UsageRow[]): void {
    for (const row of rows) {
      const name = `${row.by} ${row.day} ${row.key}`
      const known = this.#rows.get(name)
      if (known === undefined) this.#rows.set(name, { ...row })
      else addSums(known, row)
    }
  }

  get rows(): readonly UsageRow[] {
    return [...this.#rows.values()].sort(inOrder)
  }
}

/** The order of a list. */
export function inOrder(one: UsageRow, other: UsageRow): number {
  if (one.by !== other.by) return one.by < other.by ? -1 : 1
  if (one.key !== other.key) return one.key < other.key ? -1 : 1
  return one.day - other.day
}

/**
 * Counts the log of one conversation anew, entry by entry. What does not belong to one of its jobs is history that a fork has copied,
 * and counts where it was made. A run counts for whom it works for.
 */
export class LogUsage {
  readonly #users = new Map<string, string>()

  /** For whom an entry counts, if `isOwn`; null if it counts for nobody. The entries of a run follow its start. */
  userOf(entry: Entry, isOwn: boolean): string | null {
    const { run, call } = entry.place
    if (entry.type === 'start' && entry.kind === 'agent') {
      if (call === run && entry.body.principal !== undefined) this.#users.set(run, entry.body.principal.id)
      return null
    }
    return isOwn ? (this.#users.get(run) ?? localPrincipal.id) : null
  }

  /** The rows of one entry, if `isOwn`. */
  rowsOf(
    entry: Entry,
    { conversation, isOwn }: { readonly conversation: string; readonly isOwn: boolean },
  ): UsageRow[] {
    const user = this.userOf(entry, isOwn)
    return user === null ? [] : usageFacts([entry]).flatMap((fact) => rowsOf(fact, { conversation, user }))
  }
}

/** The usage of a conversation that comes from another store. */
export function usageOfWhole(
  conversation: string,
  { entries, jobs }: { readonly entries: readonly Entry[]; readonly jobs: readonly { readonly id: string }[] },
): readonly UsageRow[] {
  const own = new Set(jobs.map(({ id }) => id))
  const [log, totals] = [new LogUsage(), new UsageTotals()]
  for (const entry of entries) totals.add(log.rowsOf(entry, { conversation, isOwn: own.has(entry.job) }))
  return totals.rows
}
