/** Looks ahead in the log: what the calls and jobs at work do next, and when. */
import type { AgentStartBody, Entry } from '@witan/protocol/entries'
import { readJson } from '@witan/protocol/schemas'
import { firstDifference } from './difference.ts'
import { ahead, aheadOfCall, aheadOfJob, type Script } from './script.ts'

/** Append numbers up to this belong to the entries that begin a job. */
const acceptedEntries = 8

/**
 * Whether this entry came from outside a job: a message, an answer, a cancel, the start of a run, a person who joins or leaves. Reports
 * of ended tasks, and the runs that begin with them, come from the runtime.
 */
export function isBrought({ followUps }: Script, { type, kind, appendNo, epoch, body, job }: Entry): boolean {
  if (type === 'participant') return true
  if (!bringable.has(type) && (type !== 'start' || kind !== 'agent')) return false
  if (type === 'message' && body.tasks !== undefined && appendNo < 0) return false
  return appendNo < 0 || (appendNo <= acceptedEntries && epoch <= 1 && !followUps.has(job))
}

/** What a request can bring, beside the start of a run. Anything else in an export is compared with what the engine records. */
const bringable: ReadonlySet<Entry['type']> = new Set(['message', 'resolved', 'cancel', 'notice'])

/**
 * The next attempt of a job if its next entry reports a lost worker: 2 after one loss. Null otherwise. A task that had not begun records
 * its status `running` first.
 */
export function attemptAhead(script: Script, job: string): number | null {
  for (const { type, body } of aheadOfJob(script, job)) {
    if (type === 'task' && body.status === 'running') continue
    if (type !== 'notice' || body.code !== 'RUN_RECOVERED') return null
    return body.attempt
  }
  return null
}

/** The epoch in which a job records its next entry; without one, the epoch that its row has. */
export function epochOf(script: Script, job: string): number {
  for (const { epoch } of aheadOfJob(script, job)) return epoch
  return script.epochs.get(job) ?? 0
}

/** The next entry that a job records; null if there is none. */
export function nextOfJob(script: Script, job: string): Entry | null {
  for (const entry of aheadOfJob(script, job)) return entry
  return null
}

/** The next entry of a call; null if there is none. */
export function nextOfCall(script: Script, call: string): Entry | null {
  for (const entry of aheadOfCall(script, call)) return entry
  return null
}

/** Whether an entry only closes what a job has begun, since it was cancelled or has failed. */
export function isClosing({ type, kind, place, body }: Entry, job: string): boolean {
  if (type === 'resolved') return true
  if (type === 'notice') return body.code === 'USAGE_INCOMPLETE' || body.code === 'PROTOCOL_UNFINISHED'
  if (type === 'task') return place.call === job && endedAs.has(body.status)
  if (type === 'error' && kind === 'model') return body.code === 'MODEL_CALL_LOST'
  if (type === 'error') return body.code === 'RUN_CANCELLED' || (kind === 'agent' && place.call === job)
  return type === 'end' && kind === 'agent' && body.finishReason === 'cancelled'
}

const endedAs: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled'])

/** The next start of a run; null if there is none. */
export function nextRunStart(script: Script): AgentStartBody | null {
  for (const { type, kind, place, body } of ahead(script))
    if (type === 'start' && kind === 'agent' && place.call === place.run) return body
  return null
}

/** Whether the log notes a lost request of a call before the reply or the end of that call. */
export function isLostAhead(script: Script, call: string): boolean {
  let last: number | null = null
  for (const { type, kind, body, epoch } of aheadOfCall(script, call)) {
    last ??= epoch
    if (epoch > last) return false
    if (type === 'notice' && body.code === 'USAGE_INCOMPLETE') return true
    if (type === 'end' && kind === 'model' && body.purpose !== 'progress') return false
    if (kind === 'agent' && type !== 'start') return false
  }
  return false
}

/** Whether the log notes that a tool, of the agent's call `owner`, had asked a model in vain when its job cut it off. */
export function isCutWhileAsking(
  script: Script,
  { call, owner }: { readonly call: string; readonly owner: string },
): boolean {
  const [end] = [...aheadOfCall(script, call)].filter(({ kind, type }) => kind === 'tool' && type !== 'start')
  if (end === undefined || !isClosing(end, end.job)) return false
  for (const { seq, epoch, type, body } of aheadOfCall(script, owner)) {
    if (seq > end.seq) return false
    if (type === 'notice' && body.code === 'USAGE_INCOMPLETE' && epoch === end.epoch) return true
  }
  return false
}

/** How a model call ends: with a reply, or without one. */
export type ModelEntry = Entry & { readonly kind: 'model' }

/** Which model call is looked for: the next one of this agent's call, made in this epoch. With `orSummary` one for a summary counts, too. */
interface Asked {
  readonly call: string
  readonly epoch: number
  readonly orSummary?: true
}

/** How the next model call of an agent's call ends in an epoch; null if the call ends, or its owner is lost, before the log shows it. */
export function outcomeAhead(script: Script, { call, epoch, orSummary }: Asked): ModelEntry | null {
  for (const entry of aheadOfCall(script, call)) {
    if (entry.epoch > epoch) return null
    if (isOutcome(entry) && (orSummary === true || entry.body.purpose !== 'summary')) return entry
    if (entry.kind === 'agent' && entry.type !== 'start') return null
  }
  return null
}

function isOutcome(entry: Entry): entry is ModelEntry {
  return entry.kind === 'model' && entry.body.purpose !== 'progress'
}

/** How many entries stood before the request of a model call. */
export function askedAt({ seq, body: { behind = 0 } }: ModelEntry): number {
  return seq - 1 - behind
}

/** A tool call of an agent's call, before it starts. */
interface Attempted {
  readonly caller: string
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
}

/** The error with which a tool refused the arguments of a call, as the log says; null if it took them. */
export function refusalAhead(script: Script, { caller, tool, args }: Attempted): string | null {
  const refused = new Set<string>()
  for (const { type, kind, place, body } of ahead(script)) {
    if (type === 'start' && kind === 'tool' && place.parentCall === caller && body.name === tool) {
      if (isPartOf(args, body.arguments)) refused.add(place.call)
    } else if (refused.has(place.call)) {
      return type === 'error' && kind === 'tool' && body.code === 'TOOL_ARGS_INVALID' ? body.detail : null
    }
    // The calls behind the next reply belong to another step.
    if (place.call === caller && type === 'end' && (kind === 'model' || kind === 'agent')) return null
  }
  return null
}

function isPartOf(args: Readonly<Record<string, unknown>>, raw: unknown): boolean {
  const all = typeof raw === 'string' ? parsed(raw) : raw
  if (typeof all !== 'object' || all === null) return false
  const known = all as Readonly<Record<string, unknown>>
  return Object.keys(args).every((name) => firstDifference(args[name], known[name]) === null)
}

/** The log keeps refused arguments as the model wrote them. */
function parsed(text: string): unknown {
  if (text.trim() === '') return {}
  const read = readJson(text)
  return read.ok ? read.value : null
}
