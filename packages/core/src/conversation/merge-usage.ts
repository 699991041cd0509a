/** Adds up the usage of a call tree. */
import type { UsageCounters } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import { addCounters, addEmbeddings, embeddingsIn, emptyCounters } from '@witan/protocol/entries'
import type { AgentCall, LiveJob } from './state.ts'

/** Adds the counters of `from` to `into`, path by path. */
export function mergeUsage(into: Map<string, UsageCounters>, from: ReadonlyMap<string, UsageCounters>): void {
  for (const [path, counters] of from) {
    const known = into.get(path)
    if (known === undefined) into.set(path, { ...counters })
    else addCounters(known, counters)
  }
}

/** The counters of a call's own path. */
export function countersOf(call: AgentCall): UsageCounters {
  const path = call.place.agentPath
  const known = call.usage.get(path)
  if (known !== undefined) return known
  const fresh = emptyCounters()
  call.usage.set(path, fresh)
  return fresh
}

/** Counts what embedding models used for a search, in the usage of the agent that made it. No budget knows of it. */
export function foldEmbeddings(run: LiveJob, entry: Entry): void {
  const used = embeddingsIn(entry)
  if (used.length === 0) return
  const { call, parentCall } = entry.place
  const searcher = run.calls.get((entry.kind === 'tool' ? parentCall : call) ?? '')
  if (searcher !== undefined) addEmbeddings(countersOf(searcher), used)
}
