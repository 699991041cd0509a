/** Steering a task from outside: words for it, what it says to them, and what it is doing [F26–F28]. */
import { type TaskProgress, type TaskReply, WitanError } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import type { ConversationLog } from '../conversation/log.ts'
import { liveJob, type RunState } from '../conversation/state.ts'
import { transcriptOf } from '../conversation/trim.ts'
import { modelView } from '../conversation/view.ts'
import { entriesOf } from '../conversation/warm.ts'
import { channelOf } from '../identity/channel.ts'
import { type Model, ModelCallError, type ModelReply, type ModelRequest } from '../model/model.ts'
import type { ModelSpending } from '../tool/outcome.ts'
import { orAborted } from '../job/abort.ts'
import type { Reservation } from '../store/store.ts'
import { type CommandContext, refusalError } from './accept.ts'
import { deliver, foreign } from './deliver.ts'

interface LiveTask {
  readonly log: ConversationLog
  readonly task: RunState
}

/** A task at work. Throws `NOT_FOUND`, `TASK_FINISHED`. */
async function liveTask(context: CommandContext, database: string, id: string): Promise<LiveTask> {
  const row = await context.store.getJob(database, id)
  if (row?.kind !== 'task') {
    const hint = 'GET /api/v1/tasks lists them.'
    throw new WitanError('NOT_FOUND', `There is no task \`${id.slice(0, 80)}\`.`, { hint })
  }
  const log = await context.warm.get(database, row.conversation)
  await log.catchUp()
  const task = liveJob(log.state, id)
  if (task !== null) return { log, task }
  throw new WitanError('TASK_FINISHED', `Task \`${id}\` has ended.`, { hint: 'GET the task for what it came to.' })
}

/** Words for a task. `key`: the same words when they come again. `waitMs`: how long to wait for what it says to them; null for not at all. */
export interface Words {
  readonly id: string
  readonly from: string
  readonly text: string
  /** Whether a model wrote them: then the task reads none of the values in them that it must not see [D15]. */
  readonly written: boolean
  readonly key: string
  readonly waitMs: number | null
  /** The reply to the request that brings the words; throws `IN_PROGRESS` where its key is another's. */
  readonly note?: Reservation | undefined
}

/** Puts the words where the task reads them at its next step. Waits for the first text that it says having read them [E50]. */
export async function sayTo(
  context: CommandContext,
  database: string,
  of: Words & { readonly signal: AbortSignal | null },
): Promise<TaskReply> {
  const { log, task } = await liveTask(context, database, of.id)
  const { place } = task.root
  let after = task.root.start.seq
  if (!task.heard.has(of.key)) {
    const { scrub } = task.root
    const words = of.written && scrub !== null ? scrub(of.text) : of.text
    const text = `[from @${of.from} to @${place.author}] ${words}`
    const said = { place: { ...place, author: of.from }, job: place.call }
    const body = { author: of.from, text, id: of.key }
    const entry = foreign(context, said, { type: 'message', kind: null, body })
    const note = of.note && { ...of.note, text: null }
    const stored = await deliver(context, log, { jobs: [place.call], entries: [entry], note })
    if (!stored.ok && stored.reason === 'reply-taken') throw refusalError(stored.reason, log.state.id)
    if (!stored.ok) return sayTo(context, database, of) // it has ended meanwhile, or the conversation went
    after = stored.before
  }
  if (of.waitMs === null) return { status: 'saved', reply: null }
  const told = await replyTo(context, log, { ...of, after, waitMs: of.waitMs })
  const { scrub } = task.root
  // A model that asked reads none of the values either that its task was bound to [C17].
  return of.written && scrub !== null && told.reply !== null ? { ...told, reply: scrub(told.reply) } : told
}

/** Reads along until the task has said something, rests, or the time is over. */
function replyTo(
  context: CommandContext,
  { state }: ConversationLog,
  of: Words & { readonly after: number; readonly waitMs: number; readonly signal: AbortSignal | null },
): Promise<TaskReply> {
  const { database, id: conversation } = state
  const { env, store } = context
  const listener = new ReplyListener(of)
  const leave = env.hub.join(channelOf(database, conversation), listener)
  const lift = env.clock.after(of.waitMs, () => listener.settle({ status: 'waiting', reply: null }))
  const giveUp = () => listener.settle({ status: 'waiting', reply: null })
  of.signal?.addEventListener('abort', giveUp, { once: true })
  void (async () => {
    for await (const entry of entriesOf(store, { database, conversation, after: of.after })) listener.take(entry)
    listener.live()
  })().catch((error: unknown) => {
    env.report(error)
    giveUp()
  })
  return listener.reply.finally(() => {
    leave()
    lift()
    of.signal?.removeEventListener('abort', giveUp)
  })
}

/** Takes the entries of a conversation in order until one settles the reply; live ones wait until the stored ones were read. */
class ReplyListener {
  readonly reply: Promise<TaskReply>
  settle: (reply: TaskReply) => void = () => {}
  readonly #task: string
  readonly #key: string
  #words: 'unknown' | 'said' | 'heard' = 'unknown'
  #early: Entry[] | null = []

  constructor({ id, key }: Words) {
    this.#task = id
    this.#key = key
    this.reply = new Promise((resolve) => {
      this.settle = resolve
    })
  }

  entries(entries: readonly Entry[]): void {
    if (this.#early !== null) this.#early.push(...entries)
    else for (const entry of entries) this.take(entry)
  }

  live(): void {
    const early = this.#early ?? []
    this.#early = null
    this.entries(early)
  }

  take(entry: Entry): void {
    if (entry.place.call !== this.#task) return
    if (entry.type === 'end' && entry.kind === 'model') {
      if (entry.body.heard?.includes(this.#key) === true) this.#words = 'heard'
      if (this.#words === 'heard' && entry.body.text !== '') this.settle({ status: 'replied', reply: entry.body.text })
    } else if (entry.type === 'task' && entry.body.status === 'waiting') {
      // It rests with the words unread, or read without a reply: somebody else must move it first.
      if (this.#words !== 'unknown') this.settle({ status: 'waiting', reply: null })
    } else if (entry.type === 'message') {
      if (entry.body.id === this.#key) this.#words = 'said'
    } else if (entry.kind === 'agent' && entry.type !== 'start') this.settle({ status: 'completed', reply: null })
  }

  delta(): void {}

  gone(): void {
    this.settle({ status: 'completed', reply: null })
  }
}

/** How much of a task's history its model reads for a question about it, in characters from the end. */
const readBack = 24_000

/** What a task is doing, by a model call of its own over what is stored: the task learns nothing of it and is not held up. */
export async function progressOf(
  context: CommandContext,
  database: string,
  of: { readonly id: string; readonly question: string; readonly signal: AbortSignal },
): Promise<TaskProgress & { readonly spent: ModelSpending }> {
  const { log, task } = await liveTask(context, database, of.id)
  const model = context.env.model(task.root.model)
  if (model === null) throw new ModelCallError(`there is no model \`${task.root.model}\``, { retryable: false })
  const asOfSeq = log.state.seq
  const startedAt = context.env.clock.now()
  const reply = await orAborted(replyOf(model, requestOf(task, of.question), of.signal), of.signal)
  const spent = { model: reply.model ?? model.id, usage: reply.usage, finishReason: reply.finishReason, startedAt }
  const { scrub } = task.root
  return { text: scrub === null ? reply.text : scrub(reply.text), asOfSeq, spent }
}

function requestOf(task: RunState, question: string): ModelRequest {
  const { agent, scrub } = task.root
  const history = transcriptOf(modelView(task.root, { maxDepth: Number.POSITIVE_INFINITY }).messages.slice(1)).slice(
    -readBack,
  )
  const below = [...task.calls.values()].slice(1).map(({ agent: { id } }) => `\`${id}\` is at work for it.`)
  const story = [`<history>\n${scrub === null ? history : scrub(history)}\n</history>`, ...below].join('\n')
  const system = `You report on the work of the agent \`${agent.id}\`, from its history alone. Answer the question in a few sentences; say what is not known yet.`
  const messages = [
    { role: 'system', content: system },
    { role: 'user', content: `${story}\n\n${question}` },
  ] as const
  return { messages, tools: [], toolChoice: 'none', temperature: null, reasoningEffort: null, output: null }
}

async function replyOf(model: Model, request: ModelRequest, signal: AbortSignal): Promise<ModelReply> {
  for await (const part of model.stream(request, { signal, deltas: false }))
    if (part.type === 'reply') return part.reply
  throw new ModelCallError('the model ended its stream without a reply', { retryable: false })
}
