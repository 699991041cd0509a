/** Steers a task from outside: messages for it, its replies, and its progress [F26–F28]. */
import { type TaskProgress, type TaskReply, WitanError } from '@witan/protocol'
import type { Entry, Writable } from '@witan/protocol/entries'
import { attributed, markForeign } from '../model/attribution.ts'
import { answerText } from '../conversation/fold-hand-over.ts'
import type { ConversationLog } from '../conversation/log.ts'
import { heardAgents, isHeardLate, isJudged, readingAgents } from '../conversation/guards.ts'
import { isGuarded } from '../guard/checks.ts'
import { type AgentCall, callInControl, liveJob, type LiveJob } from '../conversation/state.ts'
import { transcriptOf } from '../conversation/cut.ts'
import { systemMessage } from '../conversation/system-message.ts'
import { modelView } from '../conversation/view.ts'
import { entriesOf } from '../conversation/warm-conversations.ts'
import { traced } from '../job/environment.ts'
import { channelOf } from '../identity/channel.ts'
import { type CallState, ModelCallError, type ModelRequest, namesOfModel } from '../model/model.ts'
import type { ModelMessage } from '../model/message.ts'
import { readReply } from '../model/read-reply.ts'
import type { ModelSpending } from '../tool/outcome.ts'
import { withinLimit } from '../model/time-limit.ts'
import { orAborted } from '../job/abort.ts'
import type { Reservation } from '../store/reply-records.ts'
import { type CommandContext, refusalError } from './accept.ts'
import { deliver, commandEntry } from './deliver.ts'
import { readersOf, storableText } from './redact.ts'
import { notFound } from '../identity/not-found.ts'

interface LiveTask {
  readonly log: ConversationLog
  readonly task: LiveJob
}

/** A live task. Throws `NOT_FOUND`, `TASK_FINISHED`. */
async function liveTask(context: CommandContext, database: string, id: string): Promise<LiveTask> {
  const row = await context.store.getJob(database, id)
  if (row?.kind !== 'task') throw notFound('task', id)
  const log = await context.warm.latest(database, row.conversation)
  const task = liveJob(log.state, id)
  if (task !== null) return { log, task }
  throw new WitanError('TASK_FINISHED', `Task \`${id}\` has ended.`, { hint: 'GET the task for what it came to.' })
}

/** A message for a task. `key` identifies a repeat. `waitMs` is how long to wait for a reply; null does not wait. */
interface TaskMessage {
  readonly id: string
  readonly from: string
  readonly text: string
  /** Whether a model wrote the text: then values hidden from the task are scrubbed from it [D15]. */
  readonly written: boolean
  readonly key: string
  readonly waitMs: number | null
  /** The idempotent reply to the request. Throws `IN_PROGRESS` if another request holds its key. */
  readonly note?: Reservation | undefined
}

/** Appends the message, which the task reads at its next step. Waits for the first text that the task writes after reading it [E50]. */
export async function messageTask(
  context: CommandContext,
  database: string,
  of: TaskMessage & { readonly signal: AbortSignal | null },
): Promise<TaskReply> {
  const { log, task } = await liveTask(context, database, of.id)
  const { place } = task.root
  const { invocation } = place
  let after = task.root.start.seq
  if (task.messageIds.get(of.key) === undefined) {
    const { scrub } = task.root
    const words = of.written && scrub !== null ? scrub(of.text) : of.text
    const clean = storableText(context.env, words, readersOf(task.root))
    const { text: said, notices } = clean === null ? { text: words, notices: [] } : await clean
    const text = attributed(of.from, place.author, said)
    const at = { place: { ...place, author: of.from }, job: place.call }
    const body = { author: of.from, text, id: of.key }
    const entries = [
      commandEntry(context, at, { type: 'message', kind: null, body }),
      ...notices.map((one) => commandEntry(context, { ...at, place }, { type: 'notice', kind: null, body: one })),
    ]
    const note = of.note && { ...of.note, text: null }
    const stored = await deliver(context, log, () => ({ jobs: [place.call], entries, note }))
    if (!stored.ok && stored.reason === 'reply-taken') throw refusalError(stored.reason, log.state.id)
    if (!stored.ok) return messageTask(context, database, of) // the task has ended, or the conversation was deleted
    after = stored.before
  }
  if (of.waitMs === null) return { status: 'saved', reply: null }
  const found = await replyTo(context, log, {
    ...of,
    invocation,
    after,
    waitMs: of.waitMs,
    isLate: isHeardLate(callInControl(task.root)),
    isJudged: (agent, revision) => isJudgedHere(context, database, { agent, revision }),
  })
  const { scrub } = task.root
  // If a model asked, values hidden from the task are scrubbed from the reply too [C17].
  return of.written && scrub !== null && found.reply !== null ? { ...found, reply: scrub(found.reply) } : found
}

/** Follows the log until the task has replied, parks or ends, or the time is over. */
function replyTo(
  context: CommandContext,
  { state }: ConversationLog,
  of: TaskMessage & {
    readonly invocation: string
    readonly after: number
    readonly waitMs: number
    readonly isLate: boolean
    readonly signal: AbortSignal | null
    isJudged(agent: string, revision: number): boolean
  },
): Promise<TaskReply> {
  const { database, id: conversation } = state
  const { env, store } = context
  const listener = new ReplyListener(of)
  const { leave } = env.hub.join(channelOf(database, conversation), listener)
  const cancelTimer = env.clock.after(of.waitMs, () => listener.settle({ status: 'waiting', reply: null }))
  const giveUp = () => listener.settle({ status: 'waiting', reply: null })
  of.signal?.addEventListener('abort', giveUp, { once: true })
  void (async () => {
    for await (const entry of entriesOf(store, { database, conversation, after: of.after })) listener.read(entry)
    listener.startLive()
  })().catch((error: unknown) => {
    env.report(error)
    giveUp()
  })
  return listener.reply.finally(() => {
    leave()
    cancelTimer()
    of.signal?.removeEventListener('abort', giveUp)
  })
}

/** The message whose reply is awaited, and where it will stand: in the task's call, or in one that has its control. */
interface AwaitedReply extends TaskMessage {
  readonly invocation: string
  readonly after: number
  /** Whether agents check what it says before it is heard: then no text of it is a reply. */
  readonly isLate: boolean
  /** Whether agents check what this one says. */
  isJudged(agent: string, revision: number): boolean
}

function isJudgedHere(
  { env }: CommandContext,
  database: string,
  { agent, revision }: { readonly agent: string; readonly revision: number },
): boolean {
  return isJudged(env.pinned(database, agent, { [agent]: revision })?.data)
}

/** Reads the entries of a conversation in order until one settles the reply. Live entries wait until the stored ones are read. */
class ReplyListener {
  readonly reply: Promise<TaskReply>
  settle: (reply: TaskReply) => void = () => {}
  readonly #of: Writable<AwaitedReply>
  #message: 'unknown' | 'stored' | 'read' = 'unknown'
  #early: Entry[] | null = []

  constructor(of: AwaitedReply) {
    this.#of = { ...of }
    this.reply = new Promise((resolve) => {
      this.settle = resolve
    })
  }

  entries(entries: readonly Entry[]): void {
    if (this.#early !== null) this.#early.push(...entries)
    else for (const entry of entries) this.read(entry)
  }

  startLive(): void {
    const early = this.#early ?? []
    this.#early = null
    this.entries(early)
  }

  read(entry: Entry): void {
    const { id, key, invocation, after } = this.#of
    // Entries before the message are ignored: readers may get them a second time.
    if (entry.place.invocation !== invocation || entry.seq <= after) return
    // Who takes the control over may be checked where the one before was not.
    if (entry.type === 'start' && entry.kind === 'agent' && entry.body.handOver !== undefined)
      this.#of.isLate ||= this.#of.isJudged(entry.body.agent, entry.body.revision)
    else if (entry.type === 'end' && entry.kind === 'model') {
      if (entry.body.heard?.includes(key) === true) this.#message = 'read'
      if (!this.#of.isLate && this.#message === 'read' && entry.body.text !== '')
        this.settle({ status: 'replied', reply: entry.body.text })
    } else if (entry.place.call !== id) {
      return
    } else if (entry.type === 'task' && entry.body.status === 'waiting') {
      // The task parked with the message unread, or read without a reply.
      if (this.#message !== 'unknown') this.settle({ status: 'waiting', reply: null })
    } else if (entry.type === 'message') {
      if (entry.body.id === key && this.#message === 'unknown') this.#message = 'stored'
    } else if (entry.kind === 'agent' && entry.type !== 'start') this.settle({ status: 'completed', reply: null })
  }

  delta(): void {}

  doubt(): void {}

  gone(): void {
    this.settle({ status: 'completed', reply: null })
  }
}

/** How much of a task's history its model reads for a question about it, in characters from the end. */
const readBack = 24_000

interface ProgressQuestion {
  readonly id: string
  readonly question: string
  readonly signal: AbortSignal
  /** Of the model call. */
  readonly state?: CallState | undefined
}

/** Describes a task's progress, by a separate model call over the stored history. The task neither notices nor waits. */
export async function progressOf(
  context: CommandContext,
  database: string,
  of: ProgressQuestion,
): Promise<TaskProgress & { readonly spent: ModelSpending }> {
  const { log, task } = await liveTask(context, database, of.id)
  const call = atWork(task)
  const named = modelThatReports(call)
  const model = named === null ? null : context.env.model(named)
  if (call === null || model === null) throw new ModelCallError(whyNobody(named), { retryable: false })
  if (isHeardLate(call))
    throw new WitanError('GUARDRAIL_REFUSED', `An agent checks what \`${call.agent.id}\` says.`, {
      hint: 'Wait for its answer: it is shown once that agent has allowed it.',
    })
  const readers = readingAgents(call)
  // What waits may not be checked yet.
  const isWaitingRead = !readers.some((agent) => isGuarded(agent, 'input'))
  const known = isWaitingRead ? call : { ...call, document: { ...call.document, inbox: [] } }
  const { guards } = context.env
  const question = await guards.pass(readers, 'input', of.question)
  const asOfSeq = log.state.seq
  const startedAt = context.env.clock.now()
  const reply = await withinLimit(context.env.timeLimit, of.signal, (signal) => {
    const state = of.state === undefined ? {} : { state: of.state }
    const options = { signal, deltas: false, ...state, ...traced(context.env, database, call.place) }
    const request = requestOf(task, known, { question, soFar: soFar(context, log, call) })
    return orAborted(readReply(model, request, options), signal)
  })
  const spent = { ...namesOfModel(reply, model), usage: reply.usage, finishReason: reply.finishReason, startedAt }
  const text = await guards.pass(heardAgents(call), 'output', reply.text)
  return { text: answerText(task.root, text), asOfSeq, spent }
}

/** Why nobody here can say how far a task is. */
function whyNobody(model: string | null): string {
  return model === null ? 'no agent with a model is at work' : `there is no model \`${model}\``
}

/** The model of the agent that is asked about. One on another server has none here, and is not asked: its caller's reads what is stored. */
function modelThatReports(call: AgentCall | null): string | null {
  return (call === null || call.remote === null ? call : call.parent)?.model ?? null
}

/** The call of a task that knows most of it: the one that has control, or in a workflow the last step at work. */
function atWork({ root, calls }: LiveJob): AgentCall | null {
  const inControl = callInControl(root)
  if (inControl.workflow === null) return inControl
  return [...calls.values()].findLast(({ workflow }) => workflow === null) ?? null
}

function readBy(call: AgentCall): readonly ModelMessage[] {
  return modelView(call, systemMessage(call, { maxDepth: 0, lines: [] })).messages.slice(1)
}

const unknownThere = 'what it has done is not known here before its answer.'
const begunThere = 'its last words are the beginning of an answer that goes on.'

/** What an agent on another server was asked, has answered before, and has been sent since, as the model of its caller may read it. */
function saidTo({ message, earlierAnswers, document, parent }: AgentCall, soFar: string): readonly ModelMessage[] {
  const shown = parent?.scrubOthers ?? ((text: string) => text)
  const told = (content: string) => ({ role: 'user', content: markForeign(shown(content)) }) as const
  const answers = earlierAnswers.map((content) => ({ role: 'assistant', content: shown(content) }) as const)
  const begun = soFar === '' ? [] : [{ role: 'assistant', content: markForeign(soFar) } as const]
  return [told(message), ...answers, ...document.inbox.map(({ text }) => told(text)), ...begun]
}

/** What an agent on another server has written of its answer, as far as it was read here; empty where nothing is known. */
function soFar({ env }: CommandContext, { state }: ConversationLog, { place, remote, parent }: AgentCall): string {
  if (remote === null) return ''
  const characters = 2 * readBack
  const [{ text } = { text: '' }] = env.hub.texts(state.channel, { call: place.call, characters })
  const shown = parent?.scrubOthers ?? ((whole: string) => whole)
  // The last word may be the beginning of one that is hidden.
  let end = text.length
  while (end > 0 && text[end - 1]?.trim() !== '') end -= 1
  return shown(text.slice(Math.max(0, end - characters), end)).trimEnd()
}

function requestOf(
  task: LiveJob,
  call: AgentCall,
  { question, soFar }: { readonly question: string; readonly soFar: string },
): ModelRequest {
  const { agent } = call
  const whole = transcriptOf(call.remote === null ? readBy(call) : saidTo(call, soFar))
  // A cut in a line that was escaped must not leave its mark at the beginning of a line.
  const history = whole.length <= readBack ? whole : `…${whole.slice(-readBack)}`
  const others = [...task.calls.values()].slice(1).map(({ agent: { id } }) => `\`${id}\` is at work for it.`)
  const below =
    call.remote === null
      ? others
      : [...others, `It works on another server: ${soFar === '' ? unknownThere : begunThere}`]
  const story = [`<history>\n${answerText(task.root, history)}\n</history>`, ...below].join('\n')
  const system = `You report on the work of the agent \`${agent.id}\`, from its history alone. Answer the question in a few sentences; say what is not known yet.`
  const messages = [
    { role: 'system', content: system },
    { role: 'user', content: `${story}\n\n${markForeign(question)}` },
  ] as const
  return { messages, tools: [], toolChoice: 'none', temperature: null, reasoningEffort: null, output: null }
}
