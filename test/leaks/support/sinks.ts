/** Reads every place that a value could come out of, once a conversation is over, sorted by the agent whose words they are. */
import type { Store } from '@witan/core'
import type { AnyEvent, RunResult } from '@witan/protocol'
import { storedEntries } from '../../support/claims.ts'
import { modelCallsOf } from '../../support/asked.ts'
import { playerOf, type Stage } from '../../support/stage.ts'
import type { Sink } from './visibility-table.ts'
import { textOf } from './texts.ts'

/** What one reader got of one agent. `agent` is '' where a place belongs to no agent. */
interface Place {
  readonly sink: Sink
  readonly agent: string
  readonly text: string
}

/** What was seen while the run went on. */
export interface Witnessed {
  readonly conversation: string
  readonly waiting: RunResult | null
  readonly final: RunResult
  readonly interruptions: unknown
  readonly whileWaiting: unknown
  readonly live: readonly AnyEvent[]
  readonly executed: readonly { readonly agent: string; readonly parameters: unknown; readonly context: string }[]
}

/** All places of a finished conversation. */
export async function placesOf(stage: Stage, store: Store, seen: Witnessed): Promise<readonly Place[]> {
  const { conversation, final } = seen
  const entries = await storedEntries(store, conversation)
  const verbose = await stage.events(conversation)
  const terse = await stage.events(conversation, { verbose: false })
  const paths = new Set(verbose.map(({ document }) => document))
  const documents = await Promise.all([...paths].map((path) => stage.document(path)))
  const full = await Promise.all([...paths].map((path) => stage.runtime.getDocument(path, { detail: 'full' })))
  const asked = await modelCallsOf(stage.runtime, conversation)
  return [
    ...byAgent(
      'model call',
      asked.map((one) => [one.agent, one]),
    ),
    ...byAgent(
      'model',
      stage.requests.map((request) => [playerOf(request), request]),
    ),
    ...byAgent(
      'log',
      entries.map(({ place, body }) => [place.author, body]),
    ),
    ...byAgent(
      'verbose events',
      verbose.map((event) => [event.author, event]),
    ),
    ...byAgent(
      'terse events',
      terse.map((event) => [event.author, event]),
    ),
    ...byAgent(
      'document',
      documents.map((document) => [document.agent, document]),
    ),
    ...byAgent(
      'full document',
      full.map((document) => [document.agent, document]),
    ),
    ...byAgent(
      'executor',
      seen.executed.map(({ agent, parameters }) => [agent, parameters]),
    ),
    ...byAgent(
      'tool context',
      seen.executed.map(({ agent, context }) => [agent, context]),
    ),
    ...byAgent('deltas', deltasOf(seen.live)),
    ...byAgent('reasoning deltas', reasoningOf(seen.live)),
    whole('waiting result', seen.waiting),
    whole('interruption', seen.interruptions),
    whole('conversation read', seen.whileWaiting),
    whole('run tree', (await stage.runtime.getRun(final.runId)).tree),
    whole('final result', final),
    whole('check', await stage.runtime.agents.check()),
    whole('report', stage.reports),
  ]
}

function whole(sink: Sink, value: unknown): Place {
  return { sink, agent: '', text: textOf(value) }
}

/** One place for each agent, with all that it said there. */
function byAgent(sink: Sink, said: readonly (readonly [agent: string, what: unknown])[]): Place[] {
  const texts = new Map<string, string[]>()
  for (const [agent, what] of said) texts.set(agent, [...(texts.get(agent) ?? []), textOf(what)])
  return [...texts].map(([agent, lines]) => ({ sink, agent, text: lines.join('\n') }))
}

/** The deltas of a call as one text: a value that is cut in two by a chunk is a value all the same. */
function deltasOf(live: readonly AnyEvent[]): readonly (readonly [agent: string, text: string])[] {
  return joinedDeltas(live, 'text')
}

/** What the model of a call reasons, as one text. */
export function reasoningOf(live: readonly AnyEvent[]): readonly (readonly [agent: string, text: string])[] {
  return joinedDeltas(live, 'reasoning')
}

function joinedDeltas(live: readonly AnyEvent[], key: 'text' | 'reasoning') {
  const calls = new Map<string, [agent: string, text: string]>()
  for (const { type, callId, author, content } of live) {
    if (type !== 'delta' || !(key in content)) continue
    const [, before] = calls.get(callId) ?? [author, '']
    calls.set(callId, [author, before + String(content[key])])
  }
  return [...calls.values()]
}
