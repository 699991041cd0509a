/** Connects telemetry to the parts of a runtime: the log, the definitions and the conversations. */
import { type AgentStartBody, definitionsIn, type Entry } from '@witan/protocol/entries'
import type { Registry } from '../agent/registry.ts'
import type { AgentLookup } from '../conversation/fold.ts'
import { storedOf } from '../conversation/stored-values.ts'
import { entriesOf, type WarmConversations } from '../conversation/warm-conversations.ts'
import type { Clock } from '../identity/clock.ts'
import { randomNumber } from '../identity/ids.ts'
import type { ConversationValues } from '../parameter/parameter.ts'
import { contentAccess } from '../store/loaded.ts'
import type { Store } from '../store/store.ts'
import type { EndedJob, SeenEntries } from '../telemetry/collector.ts'
import { exportersOf } from '../telemetry/options.ts'
import { createTelemetry, type Telemetry } from '../telemetry/telemetry.ts'
import type { RuntimeOptions } from './options.ts'

interface TelemetryParts {
  readonly clock: Clock
  readonly store: Store
  readonly registry: Registry
  warm(): WarmConversations
  report(error: unknown): void
}

/** The telemetry of a runtime; null if nothing is exported. Throws `CONFIG_INVALID`. */
export function telemetryOf(
  { telemetry = {}, random = randomNumber }: RuntimeOptions,
  parts: TelemetryParts,
): Telemetry | null {
  const { clock, report, store, registry } = parts
  const exporters = exportersOf(telemetry, { clock, random, report })
  if (exporters.length === 0) return null
  return createTelemetry({
    clock,
    exporters,
    report,
    values: (database, id) => valuesOf(parts, database, id),
    read: (job) => readJob(store, job),
    readLog: (job, after) => readLog(store, job, after),
    content: contentAccess(store).readContent,
    agents(database, starts) {
      const lookup: AgentLookup = (id, revision) => registry.revision(database, id, revision)
      const isKnown = ({ type, kind, body }: Entry) =>
        type !== 'start' || kind !== 'agent' || isLoaded(registry, database, body)
      // What ran in this process is loaded, and need not be waited for.
      return starts.every(isKnown) ? lookup : loadAgents(registry, database, starts).then(() => lookup)
    },
  })
}

function isLoaded(registry: Registry, database: string, start: AgentStartBody): boolean {
  try {
    for (const [id, revision] of definitionsIn({ ...start, revisions: {} })) registry.revision(database, id, revision)
    return true
  } catch {
    return false
  }
}

async function loadAgents(registry: Registry, database: string, starts: readonly Entry[]): Promise<void> {
  for (const { type, kind, body } of starts)
    if (type === 'start' && kind === 'agent')
      for (const [id, revision] of definitionsIn({ ...body, revisions: {} }))
        await registry.ensureRevision(database, id, revision)
}

/** The values of a conversation with their flags of now: of a warm one they are known, another one is read. Null if it is gone. */
function valuesOf(
  { warm, store }: TelemetryParts,
  database: string,
  id: string,
): ConversationValues | Promise<ConversationValues | null> {
  const log = warm().peek(database, id)
  return log === null ? readValues(store, database, id) : log.state.stored.conversationValues
}

async function readValues(store: Store, database: string, id: string): Promise<ConversationValues | null> {
  const row = await store.getConversation(database, id)
  return row === null ? null : storedOf(row.parameters).conversationValues
}

/** A job that this process has not seen whole, from the beginning of its run. */
async function readJob(
  store: Store,
  { database, conversation, job, run, upTo }: EndedJob,
): Promise<SeenEntries | null> {
  const row = await store.getJob(database, run)
  if (row === null) return null
  const entries: Entry[] = []
  const starts: Entry[] = []
  for await (const entry of entriesOf(store, { database, conversation, after: row.firstSeq - 1, upTo })) {
    if (entry.place.run !== run) continue
    const isOwnStart = entry.type === 'start' && entry.place.call === job
    if (entry.job === job || isOwnStart) entries.push(entry)
    if (entry.type === 'start') starts.push(entry)
  }
  return { entries, starts }
}

/** What a fork has copied has no jobs there, and counts where it was made. */
async function* readLog(
  store: Store,
  { database, conversation, upTo }: Pick<EndedJob, 'database' | 'conversation' | 'upTo'>,
  after: number,
): AsyncGenerator<Entry, void, void> {
  const [first] = after === 0 ? await store.listJobs(database, conversation) : []
  yield* entriesOf(store, { database, conversation, upTo, after: first === undefined ? after : first.firstSeq - 1 })
}
