/** Which models read an entry: where it stands in the documents of the fold, and whose requests reach there. */
import type { EntryReaders } from '@witan/protocol/schemas'
import type { Entry } from '@witan/protocol/entries'
import type { AgentCall } from '../../conversation/state.ts'
import type { SharedHistory } from '../../conversation/shared-history.ts'
import { askedModels, endsModelCall } from './asked.ts'
import type { LoadedLog } from './loaded-log.ts'
import { afterEntry, type Before, beforeEntry, isHeld, type Traces, tracesOf } from './traces.ts'

type EntryReader = EntryReaders['items'][number]

/** The readers of the entry with this seq, in the order in which they first read it. */
export async function readersOfEntry(log: LoadedLog, seq: number): Promise<readonly EntryReader[]> {
  const traces = tracesOf(log.entries[seq - 1] as Entry, log.entries)
  const found = new Map<string, EntryReader>()
  let before: Before | null = null
  const asked = await askedModels(log, {
    before: (state, entry) => {
      // Before the entry itself nothing holds it.
      before = entry.seq < seq ? null : beforeEntry(state, entry)
    },
    after: (state, entry) => {
      if (before !== null) afterEntry(traces, state, { entry, before })
    },
    asked: (call, entry) => {
      const { call: callId, author: agent, document } = call.place
      const as = found.has(callId) ? null : howRead(traces, call)
      if (as === null) return
      found.set(callId, { callId, agent, document, first: entry === null ? callId : String(entry.seq), as })
    },
  })
  for (const [index, entry] of log.entries.entries()) if (endsModelCall(entry)) await asked.ended(index)
  for await (const _ of asked.underWay());
  const at = ({ first }: EntryReader) => (/^\d+$/.test(first) ? Number(first) : Number.POSITIVE_INFINITY)
  return [...found.values()].sort((one, other) => at(one) - at(other))
}

/** How a model reads the entry now; null if it does not. */
function howRead(traces: Traces, call: AgentCall): EntryReader['as'] | null {
  if (traces.holders.size === 0 && traces.openings.size === 0) return null
  const { document, agent, firstSaid, shared, handOver, message } = call
  // What a call was given is the last that waits for it, before anything is said to it.
  if (traces.openings.has(call) && call.iterations === 0) {
    const opening = document.inbox.find(({ text }) => text.endsWith(message))
    if (opening !== undefined) traces.holders.add(opening)
  }
  const said = document.said.findLast((one, at) => at >= firstSaid && isHeld(traces, one))
  if (said !== undefined && traces.summaries.has(said)) return 'summary'
  if (said?.kind === 'words' || document.inbox.some((one) => traces.holders.has(one))) return 'message'
  if (said !== undefined) {
    const reply = said.kind === 'results' ? said.of : said
    if (reply.agent === agent.id) return said.kind === 'reply' ? 'own' : 'result'
    const isText = said.kind === 'reply' && said.calls.length === 0
    if (handOver?.history !== 'words' || isText) return 'attributed'
  }
  return shared !== null && isShared(traces, shared) ? 'shared' : null
}

/** Whether what a call reads of its caller's document holds the entry. Exchanges with other agents are left out there. */
function isShared(traces: Traces, { said, from, upTo, others }: SharedHistory): boolean {
  return said.slice(from, upTo).some((one) => {
    if (one.kind !== 'results') return traces.holders.has(one)
    return one.results.some((result) => traces.holders.has(result) && !others.has(result.name))
  })
}
