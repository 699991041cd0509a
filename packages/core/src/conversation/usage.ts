/** Adding up what a tree of calls used. */
import type { UsageCounters } from '@witan/protocol'
import { addCounters } from '@witan/protocol/entries'

/** Adds the counters of `from` to `into`, path by path. */
export function mergeUsage(into: Map<string, UsageCounters>, from: ReadonlyMap<string, UsageCounters>): void {
  for (const [path, counters] of from) {
    const known = into.get(path)
    if (known === undefined) into.set(path, { ...counters })
    else addCounters(known, counters)
  }
}
