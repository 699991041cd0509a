/** A job without a loop: its steps are called one by one, and what they record is read as short lines. */
import type { AgentInput } from '@witan/protocol'
import type { Entry, EntryContent } from '@witan/protocol/entries'
import { knowledgeUses } from '@witan/protocol/knowledge'
import { agentSchema } from '@witan/protocol/schemas'
import { emptyState } from '../conversation/fold.ts'
import { oneHistory } from '../conversation/known-history.ts'
import { ConversationLog } from '../conversation/log.ts'
import { makeEntry } from '../conversation/entry.ts'
import { storedOf } from '../conversation/stored-values.ts'
import { localPrincipal } from '../identity/principal.ts'
import type { PinnedAgent } from '../job/environment.ts'
import { Job } from '../job/job.ts'
import { runEntries } from '../job/start.ts'
import { createWitan } from '../runtime/witan.ts'
import { wire } from '../runtime/wiring.ts'
import { memoryStore } from '../store/drivers/memory.ts'
import { defineTool } from '../tool/define-tool.ts'
import type { JobChange } from '../store/store.ts'
import { scriptedModel } from './scripted-model.ts'

/** An agent of a bare job. Its instructions and model are given. */
export type BareAgent = Omit<AgentInput, 'model' | 'instructions'>

const clock = { now: () => 1_767_225_600_000, after: () => () => {} }

const note = defineTool({
  name: 'note',
  description: 'Notes.',
  effect: 'none',
  parameters: { '~standard': { version: 1, vendor: 'witan', validate: (value) => ({ value: value as object }) } },
  jsonSchema: { type: 'object', properties: {} },
  execute: () => 'noted',
})

/** A job, and what came of its steps. */
export interface BareJob {
  readonly job: Job
  /** What was recorded since the last look, as lines such as `start tool note`; who recorded them, if it was not `a`. */
  lines(): string[]
  /** The entries recorded so far. */
  readonly entries: readonly Entry[]
  /** The changes of jobs that were stored with them. */
  readonly changes: readonly JobChange[]
  /** Records an entry of the root's call, as if the job had. */
  apply(content: EntryContent): void
  /** A reply of the root's model with these calls. */
  reply(text: string, ...calls: readonly (readonly [name: string, args: unknown])[]): void
  /** The job of a further run, once the one before has ended. */
  runOf(text: string): Job
  /** Another owner of the same job. */
  next(attempts: number): Job
}

/** The root agent `a` of a conversation that has just been asked "go". */
export async function bareJob(agents: readonly BareAgent[]): Promise<BareJob> {
  const entries: Entry[] = []
  const changes: JobChange[] = []
  const model = scriptedModel(() => 'Done.')
  const parts = wire(
    { store: memoryStore(), clock, models: { 'play/model': model }, tools: [note], retry: { tries: 1 } },
    (env) => ({
      ...env,
      launch: () => {},
      follower: { recording: () => {}, recorded: (entry) => entries.push(entry) },
    }),
  )
  await parts.store.open()
  const written = agents.map((one) => ({ model: 'play/model', instructions: `You are ${one.id}.`, ...one }))
  const knowledge = [...new Set(agents.flatMap((one) => knowledgeUses(agentSchema.parse(one)).map(({ id }) => id)))]
  const { agents: admin } = createWitan(parts, localPrincipal, () => Promise.resolve())
  await admin.saveTogether({ agents: written, knowledge: knowledge.map((id) => ({ id })) })
  const database = 'default'
  const about = { database, id: 'chats/1', rootAgent: 'a', stored: storedOf({}), maxModelIterationsPerCall: null }
  const state = emptyState(about)
  const log = new ConversationLog(state, {
    append: async (append) => {
      for (const entry of append.entries) if (!entries.includes(entry)) entries.push(entry)
      changes.push(...(append.jobs ?? []))
      return { ok: true, before: 0, lastSeq: entries.length, jobs: [] }
    },
    stored: () => {},
    history: oneHistory,
    read: async () => [],
    agents: (id, revision) => parts.registry.revision(database, id, revision),
  })
  const pinned = parts.env.pin(database, 'a') as PinnedAgent
  const begin = { pinned, hidden: false, originRunId: null, toolMode: null, principal: localPrincipal }
  const runOf = (text: string) => {
    const begun = runEntries(
      { env: parts.env, state },
      { ...begin, message: text, messages: [{ author: 'user', text }] },
    )
    for (const entry of begun.entries) log.sync.apply(entry)
    return new Job(parts.env, log, { id: begun.place.call, epoch: 1, attempts: 1 })
  }
  const job = runOf('go')
  const { identity } = job
  let [looked, replies, number] = [0, 0, 100]
  const apply = (content: EntryContent) => {
    number += 1
    log.sync.apply(
      makeEntry(content, { place: job.run.root.place, job: identity.id, epoch: 1, appendNo: number, at: 0 }),
    )
  }
  return {
    job,
    entries,
    changes,
    apply,
    lines() {
      const fresh = entries.slice(looked)
      looked = entries.length
      return fresh.map(lineOf)
    },
    reply(text, ...calls) {
      const toolCalls = calls.map(([name, args], index) => ({
        ...{ id: `call_${++replies}_${index}`, name },
        arguments: typeof args === 'string' ? args : JSON.stringify(args),
      }))
      const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 }
      const finishReason = calls.length > 0 ? 'tool_calls' : 'stop'
      const body = { model: 'play/model', usage, finishReason, text, toolCalls, taken: 1, startedAt: 0, attempt: 1 }
      apply({
        type: 'end',
        kind: 'model',
        body: { ...body, offered: true, accepted: true } as Extract<
          EntryContent,
          { type: 'end'; kind: 'model' }
        >['body'],
      })
    },
    runOf,
    next: (attempts) => new Job(parts.env, log, { id: identity.id, epoch: 2, attempts }),
  }
}

function lineOf({ type, kind, body, place }: Entry): string {
  const { name, agent, code, status } = body as Readonly<Record<string, unknown>>
  const what = [kind, name ?? (type === 'start' ? agent : null) ?? code ?? status].filter((one) => one != null)
  return [type, ...what, ...(place.author === 'a' ? [] : [`by ${place.author}`])].join(' ')
}
