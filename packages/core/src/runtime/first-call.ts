/** The call of an agent as it stands before its first model call, in a conversation that is stored nowhere. */
import type { Entry, LoggedToolCall, ToolMode } from '@witan/protocol/entries'
import type { Registry } from '../agent/registry.ts'
import { hasToList } from '../conversation/listed.ts'
import { ConversationLog } from '../conversation/log.ts'
import { emptyState, fold } from '../conversation/fold.ts'
import { oneHistory } from '../conversation/known-history.ts'
import type { AgentCall } from '../conversation/state.ts'
import { storedOf } from '../conversation/stored-values.ts'
import { LiveHub } from '../event/live.ts'
import type { Environment, PinnedAgent } from '../job/environment.ts'
import { Job } from '../job/job.ts'
import { runEntries } from '../job/start.ts'
import type { Model } from '../model/model.ts'
import { recordListing } from '../run/list-tools.ts'
import type { ConversationRow } from '../store/store.ts'
import type { Scope } from './scope.ts'
import type { Parts } from './wiring.ts'

/** How such a conversation begins. */
interface Beginning {
  readonly root: PinnedAgent
  readonly parameters: ConversationRow['parameters']
  readonly toolMode?: ToolMode | null
  /** The definitions that count; absent: those of the runtime. */
  readonly registry?: Registry
  /** In place of the agent's initial queries and of what it demands: the calls to make first. */
  readonly initial?: readonly LoggedToolCall[]
}

/** A root's call whose job nobody works on. `recorded` grows with what its job records. */
export interface FirstCall {
  readonly call: AgentCall
  readonly job: Job
  readonly recorded: readonly Entry[]
}

/** Begins a conversation in memory: nothing of it is stored, and nothing starts by itself. */
export function firstCall({ parts, database, principal }: Scope, begin: Beginning): FirstCall {
  const { root, parameters, toolMode = null, registry = parts.registry, initial } = begin
  const recorded: Entry[] = []
  const env = detached(parts, registry, (entry) => recorded.push(entry))
  const state = emptyState({
    database,
    id: `previews/${env.ids.conversation(env.storeNow(database))}`,
    rootAgent: root.data.id,
    stored: storedOf(parameters),
    maxModelIterationsPerCall: null,
  })
  const agents = (id: string, revision: number) => registry.revision(database, id, revision)
  const messages = [{ author: 'user', text: '' }]
  const run = { message: '', messages, hidden: initial !== undefined, originRunId: null, principal, toolMode }
  const { entries, place } = runEntries({ env, state }, { pinned: root, ...run })
  for (const [index, entry] of entries.entries()) fold(state, begun(entry, index + 1, initial), agents)
  let lastSeq = entries.length
  const log = new ConversationLog(state, {
    async append({ entries: stored }) {
      const before = lastSeq
      lastSeq += stored.length
      return { ok: true, before, lastSeq, jobs: [] }
    },
    stored: () => {},
    read: async () => [],
    history: oneHistory,
    agents,
  })
  const job = new Job(env, log, { id: place.call, epoch: 1, attempts: 1 })
  return { call: job.run.root, job, recorded }
}

/** What is known of the tools of MCP servers. None is asked for a conversation that is stored nowhere. */
export function listKnown(call: AgentCall, job: Job): void {
  if (!hasToList(call)) return
  const { agent, parameters } = call
  recordListing(call, job, job.env.listings.shown({ agent, parameters, channel: job.log.state.channel }))
}

function begun(entry: Entry, seq: number, initial: Beginning['initial']): Entry {
  if (initial === undefined || entry.type !== 'start' || entry.kind !== 'agent') return { ...entry, seq }
  return { ...entry, seq, body: { ...entry.body, initial } }
}

/** The environment of the runtime, with definitions of its own, and without a way to store, start or report anything. */
function detached(parts: Parts, registry: Registry, recorded: (entry: Entry) => void): Environment {
  const contents = new Map<string, Uint8Array>()
  const { env } = parts
  return {
    ...env,
    ...(registry === parts.registry ? {} : parts.definitions(registry)),
    hub: new LiveHub(),
    model: (name) => env.model(name) ?? unknownModel(name),
    content: async ({ digest }) => base64(contents.get(digest)),
    async storeContent(_, digest, bytes) {
      contents.set(digest, bytes)
    },
    readContent: async ({ digest }) => contents.get(digest) ?? null,
    launch: () => {},
    abandon: () => {},
    expireAt: () => {},
    traceparent: null,
    follower: { recording: () => {}, recorded },
  }
}

function base64(bytes: Uint8Array | undefined): string | null {
  return bytes === undefined ? null : Buffer.from(bytes).toString('base64')
}

/** Stands for a model that this runtime does not have: the request for it can be made all the same, and is sent nowhere. */
function unknownModel(id: string): Model {
  return {
    id,
    // biome-ignore lint/correctness/useYield: it is never asked
    async *stream() {
      throw new Error(`Model ${id} is not configured.`)
    },
  }
}
