/** What conversations used so far, as the metrics of their MLflow runs: a function of the log, whichever processes wrote it [Tb15, Tb28]. */
import { agentIdPattern } from '@witan/protocol'
import { type Entry, type ModelUsage, roundCost } from '@witan/protocol/entries'
import { channelOf } from '../identity/channel.ts'
import type { EndedJob } from './collector.ts'

/** The figures of a conversation up to one entry. */
export interface ConversationSummary {
  /** The seq of that entry, and its time in ms. */
  readonly upTo: number
  readonly at: number
  readonly startedAt: number
  /** When its last run ended; null before. */
  readonly endedAt: number | null
  /** Of the last run that ended. */
  readonly isFailed: boolean
  /** `cost_usd` is absent while no cost is known; `cost_incomplete` and `usage_incomplete` are 1 once a sum lacks something [E83]. */
  readonly metrics: ReadonlyMap<string, number>
}

/** The most agents with metrics of their own: MLflow takes 1,000 metrics in a request. */
const mostAgents = 100
/** The most conversations that are remembered. */
const mostKnown = 1_000

/** A conversation up to the end of a job. */
type Reach = Pick<EndedJob, 'database' | 'conversation' | 'upTo'>

/** Reads the entries of a conversation after this seq up to that end; with 0 those that it did not copy from another one. */
export type ReadLog = (of: Reach, after: number) => AsyncIterable<Entry>

/** Adds up conversations. Of those that it has seen lately only what is new in the log is read. */
export class Summaries {
  readonly #read: ReadLog
  readonly #known = new Map<string, Sum>()

  constructor(read: ReadLog) {
    this.#read = read
  }

  /** The figures up to the end of a job; null if the conversation is gone. */
  async upTo(job: Reach): Promise<ConversationSummary | null> {
    const channel = channelOf(job.database, job.conversation)
    const known = this.#known.get(channel)
    this.#known.delete(channel)
    // A conversation whose log is shorter than it was began anew.
    const sum = known === undefined || known.upTo > job.upTo ? emptySum() : known
    for await (const entry of this.#read(job, sum.upTo)) take(sum, entry)
    if (sum.upTo === 0) return null
    this.#known.set(channel, sum)
    for (const oldest of this.#known.keys()) if (this.#known.size > mostKnown) this.#known.delete(oldest)
    return shown(sum)
  }
}

/** The figures of one conversation, which grow with its log. */
interface Sum {
  upTo: number
  at: number
  startedAt: number
  endedAt: number | null
  isFailed: boolean
  readonly metrics: Map<string, number>
  /** What stands before the names of metrics: nothing for the total, and an agent with a slash. */
  readonly prefixes: Set<string>
  /** Those with a reply of unknown cost. */
  readonly unpriced: Set<string>
}

function emptySum(): Sum {
  return {
    ...{ upTo: 0, at: 0, startedAt: 0, endedAt: null, isFailed: false },
    metrics: new Map([
      ['runs', 0],
      ['failed_runs', 0],
    ]),
    prefixes: new Set(),
    unpriced: new Set(),
  }
}

function shown({ upTo, at, startedAt, endedAt, isFailed, metrics }: Sum): ConversationSummary {
  return { upTo, at, startedAt, endedAt, isFailed, metrics: new Map(metrics) }
}

function take(sum: Sum, entry: Entry): void {
  const { place, seq, at } = entry
  if (sum.upTo === 0) sum.startedAt = at
  sum.upTo = seq
  sum.at = at
  if (entry.type === 'start' && entry.kind === 'tool') count(sum, place.author, { tool_calls: 1 })
  else if (entry.type === 'end' && entry.kind === 'model') replied(sum, place.author, entry.body.usage)
  else if (entry.type === 'notice' && entry.body.code === 'USAGE_INCOMPLETE') lacks(sum, place.author)
  else if ((entry.type === 'end' || entry.type === 'error') && entry.kind === 'agent' && place.parentCall === null)
    ended(sum, entry)
}

function ended(sum: Sum, { type, at }: Entry): void {
  sum.endedAt = at
  sum.isFailed = type === 'error'
  addTo(sum, 'runs', 1)
  if (sum.isFailed) addTo(sum, 'failed_runs', 1)
}

function replied(sum: Sum, agent: string, usage: ModelUsage | null): void {
  const [input, output] = [usage?.inputTokens ?? 0, usage?.outputTokens ?? 0]
  count(sum, agent, { model_calls: 1, input_tokens: input, output_tokens: output, total_tokens: input + output })
  if (usage === null || usage.inputTokens === null || usage.outputTokens === null) lacks(sum, agent)
  const costUsd = usage?.costUsd
  for (const prefix of prefixesOf(sum, agent)) {
    if (costUsd === undefined) sum.unpriced.add(prefix)
    else addTo(sum, `${prefix}cost_usd`, costUsd)
    if (sum.unpriced.has(prefix) && sum.metrics.has(`${prefix}cost_usd`)) sum.metrics.set(`${prefix}cost_incomplete`, 1)
  }
}

function lacks(sum: Sum, agent: string): void {
  for (const prefix of prefixesOf(sum, agent)) sum.metrics.set(`${prefix}usage_incomplete`, 1)
}

function count(sum: Sum, agent: string, more: Readonly<Record<string, number>>): void {
  for (const prefix of prefixesOf(sum, agent))
    for (const [name, value] of Object.entries(more)) addTo(sum, `${prefix}${name}`, value)
}

function addTo({ metrics }: Sum, name: string, more: number): void {
  metrics.set(name, roundCost((metrics.get(name) ?? 0) + more))
}

const counted = ['model_calls', 'tool_calls', 'input_tokens', 'output_tokens', 'total_tokens']

/** Those of the total and of an agent, whatever its path; of further agents, and of those whose names MLflow refuses, the total alone. */
function prefixesOf({ prefixes, metrics }: Sum, agent: string): readonly string[] {
  const own = `${agent}/`
  const isShown = agentIdPattern.test(agent) && (prefixes.has(own) || prefixes.size <= mostAgents)
  const all = isShown ? ['', own] : ['']
  for (const prefix of all) {
    if (prefixes.has(prefix)) continue
    prefixes.add(prefix)
    for (const name of counted) metrics.set(`${prefix}${name}`, 0)
  }
  return all
}
