/** A job in figures: when it was, how it ended, and what each agent used in it. */
import type { UsageCounters } from '@witan/protocol'
import { addModelCall, type Entry, emptyCounters } from '@witan/protocol/entries'
import type { EndedJob } from './collector.ts'

/** The figures of one job. */
export interface JobSummary {
  /** The seq of its end. */
  readonly upTo: number
  /** In ms. */
  readonly startedAt: number
  readonly endedAt: number
  /** False for a task. */
  readonly isRun: boolean
  readonly isFailed: boolean
  /** By the agent's id, whatever its path. */
  readonly byAgent: ReadonlyMap<string, UsageCounters>
}

/** Sums up the entries of a job. */
export function summaryOf({ job, upTo }: EndedJob, entries: readonly Entry[]): JobSummary {
  const byAgent = new Map<string, UsageCounters>()
  const countersOf = (agent: string) => {
    const known = byAgent.get(agent) ?? emptyCounters()
    byAgent.set(agent, known)
    return known
  }
  let [isRun, isFailed] = [false, false]
  for (const entry of entries) {
    const { place } = entry
    if (entry.type === 'start' && entry.kind === 'tool') countersOf(place.author).toolCalls += 1
    else if (entry.type === 'end' && entry.kind === 'model') addModelCall(countersOf(place.author), entry.body.usage)
    else if (entry.type === 'notice' && entry.body.code === 'USAGE_INCOMPLETE')
      countersOf(place.author).complete = false
    else if (place.call === job && entry.kind === 'agent') {
      if (entry.type === 'start') isRun = place.parentCall === null
      if (entry.type === 'error') isFailed = true
    }
  }
  const [startedAt, endedAt] = [entries[0]?.at ?? 0, entries.at(-1)?.at ?? 0]
  return { upTo, startedAt, endedAt: Math.max(startedAt, endedAt), isRun, isFailed, byAgent }
}
