/** What a caller reads when a child has ended: its answer, all its texts, or its text with its errors [C13, K20, K21]. */
import type {
  AgentEndBody,
  AgentStartBody,
  AnswerTerms,
  CallPlace,
  Entry,
  ErrorBody,
  NoticeBody,
  NoticeFacts,
} from '@witan/protocol/entries'
import { type Decision, decisionOf, isRefusal } from '../hook/decision.ts'
import { plainDetail, withoutProviderWords } from '@witan/protocol/entries'
import type { AgentAnswer } from '../tool/tool.ts'
import { jsonForModel } from '../model/attribution.ts'
import { cutTogether } from '../parameter/scrub.ts'
import { contentOf } from './said.ts'

/**
 * The texts and errors of a child. Kept only if its caller asks for more than the answer. Every call that speaks in the child's place
 * adds to the same collection: an agent that got its control, and each step of a workflow.
 */
export interface Gathered {
  readonly terms: AnswerTerms
  /** The texts of the accepted replies, in order. */
  readonly texts: string[]
  /** The errors of tool calls and children. */
  readonly errors: string[]
  /** The same without what a model's server said. */
  readonly plainErrors: string[]
  /** The text that a critique has sent back, until another one stands [F08]. */
  draft: string | null
  /** Set for one that criticises or checks its parent: how it failed is no error that the parent's caller reads. */
  readonly isJudge?: true
}

/** An empty collection, or null if the answer alone is enough. */
export function gather(terms: AnswerTerms | undefined): Gathered | null {
  return terms === undefined ? null : { terms, texts: [], errors: [], plainErrors: [], draft: null }
}

/** The call above that a call speaks in the place of: it got that call's control, or is a step of it. Null if it speaks for itself. */
export function speaksFor(
  { parentCall }: Pick<CallPlace, 'parentCall'>,
  { handOver, step }: Pick<AgentStartBody, 'handOver' | 'step'>,
): string | null {
  return handOver === undefined && step === undefined ? null : parentCall
}

function nobodys(): Gathered {
  const terms = { form: 'plain', collect: 'final' } as const
  return { terms, texts: [], errors: [], plainErrors: [], draft: null, isJudge: true }
}

/** Begins to collect for a call that starts, if its caller wants that, for a reader without a fold. */
export function beginGathering(
  of: Map<string, Gathered>,
  { place, body }: { place: CallPlace; body: AgentStartBody },
): void {
  const isJudge = body.critique === true || body.guardrail !== undefined
  const gathered = isJudge ? nobodys() : (gather(body.answer) ?? of.get(speaksFor(place, body) ?? ''))
  if (gathered !== undefined) of.set(place.call, gathered)
}

/** Collects from a log entry, for a reader without a fold. `of` holds the collections by the child's call. */
export function gatherFrom(of: ReadonlyMap<string, Gathered>, { type, kind, place, body }: Entry): void {
  if (type === 'error' && kind !== 'model') {
    if (of.get(place.call)?.isJudge === true) return
    const gathered = of.get(place.parentCall ?? '')
    gathered?.errors.push(body.detail)
    gathered?.plainErrors.push(plainDetail(body))
    return
  }
  const gathered = of.get(place.call)
  if (gathered === undefined) return
  if (type === 'end' && kind === 'model') {
    if (body.purpose === undefined && body.accepted && body.text !== '') gathered.texts.push(body.text)
  } else if (type === 'critique' && body.verdict === 'revise') takeBack(gathered)
  else if (type === 'hook' && isOfAnswer(body)) writeGathered(gathered, body.at, writtenText(body.written))
  else if (type === 'notice' && isRefusedAnswer(body)) refuseGathered(gathered)
  else if (type === 'notice' && body.code === 'REFLECTION_SKIPPED') giveBack(gathered, body.reason)
}

/** Whether a caller reads all texts of a child, and not its answer alone. */
export function isWhole(gathered: Gathered | null): gathered is Gathered {
  return gathered?.terms.collect === 'all' && gathered.texts.length > 0
}

/** An answer that was refused is no text, and where a caller reads all texts none of them is. */
export function refuseGathered(gathered: Gathered): void {
  if (gathered.terms.collect === 'all') gathered.texts.length = 0
  else gathered.texts.pop()
}

/** Whether an agent refused the last answer. */
function isRefusedAnswer(body: NoticeBody): boolean {
  const decision = decisionOf({ type: 'notice', kind: null, body })
  return decision?.at === 'answered' && isRefusal(decision)
}

/** Whether a hook wrote another answer, or another result of the call that asked for it. */
function isOfAnswer({ at, effect }: Pick<Decision, 'at' | 'effect'>): boolean {
  return effect === 'rewritten' && (at === 'afterRun' || at === 'afterTool')
}

/** A result that a hook wrote stands for all that its caller would read; an answer, for the last text. */
export function writeGathered({ texts, errors, plainErrors }: Gathered, at: Decision['at'], text: string): void {
  if (at !== 'afterTool') {
    texts.splice(-1, 1, text)
    return
  }
  texts.splice(0, texts.length, text)
  errors.length = 0
  plainErrors.length = 0
}

/** What a hook wrote, as a text. */
export function writtenText(written: unknown): string {
  return typeof written === 'string' ? written : jsonForModel(written)
}

/** The last text is a draft, and none of the texts that its caller reads. */
export function takeBack(gathered: Gathered): void {
  gathered.draft = gathered.texts.pop() ?? null
}

/** A draft whose revision has failed is a text again. */
export function giveBack(gathered: Gathered, reason: NoticeFacts['REFLECTION_SKIPPED']['reason']): void {
  if (reason === 'revision' && gathered.draft !== null) gathered.texts.push(gathered.draft)
  gathered.draft = null
}

/** The value that the caller reads when the child has ended or failed. */
export function callersView(body: Answered | ErrorBody, gathered: Gathered | null): unknown {
  const failure = failureOf(body)
  const last = 'code' in body ? '' : body.text
  const text = isWhole(gathered) ? cutTogether(gathered.texts).join('\n') : last
  if (gathered?.terms.form === 'textAndError')
    return withErrors(text, failure === null ? gathered.errors : [...gathered.errors, failure])
  if (failure !== null) return { error: failure }
  if (gathered?.terms.collect === 'all') return text
  return (body as Answered).output ?? text
}

/** What of the end of a call its caller may read. */
type Answered = Pick<AgentEndBody, 'text' | 'output' | 'finishReason'>

/** An end and a collection without what a model's server said, for people who may not read that. */
export function plainEnd(
  body: AgentEndBody | ErrorBody,
  gathered: Gathered | null,
): { readonly body: AgentEndBody | ErrorBody; readonly gathered: Gathered | null } {
  return {
    body: 'code' in body ? withoutProviderWords(body) : body,
    gathered: gathered === null ? null : { ...gathered, errors: gathered.plainErrors },
  }
}

/** The value of `callersView` for a person who may not read what a model's server said. */
export function plainView(body: AgentEndBody | ErrorBody, gathered: Gathered | null): unknown {
  const plain = plainEnd(body, gathered)
  return callersView(plain.body, plain.gathered)
}

/** The answer that a tool gets from an agent that it runs. `clean` removes what the tool's agent may not know. */
export function agentAnswer(body: AgentEndBody | ErrorBody, clean: (text: string) => string): AgentAnswer {
  const failure = failureOf('code' in body ? withoutProviderWords(body) : body)
  if (failure !== null) return { error: clean(failure) }
  const { text, output } = body as AgentEndBody
  const written = contentOf(output)
  return { text: clean(text), output: clean(written) === written ? output : null }
}

/** The error of a call, or null. A cancelled call counts as failed, so that its caller reads no empty answer [D10]. */
function failureOf(body: Answered | ErrorBody): string | null {
  if ('code' in body) return body.detail
  return body.finishReason === 'cancelled' ? 'The run ended before this was answered.' : null
}

/** The result of an agent that is wrapped as a tool: its text, and its errors, if any. */
interface TextAndError {
  readonly text: string
  readonly error?: string
}

/** Whether an answer has that form. A structured output of the same shape also counts. */
export function isTextAndError(answer: unknown): answer is TextAndError {
  if (typeof answer !== 'object' || answer === null) return false
  const fields = Object.entries(answer)
  const isField = ([key, value]: [string, unknown]) => (key === 'text' || key === 'error') && typeof value === 'string'
  return 'text' in answer && fields.every(isField)
}

function withErrors(text: string, errors: readonly string[]): TextAndError {
  return errors.length === 0 ? { text } : { text, error: cutTogether([...new Set(errors)]).join('\n') }
}

/** The result of a call that starts a task: exactly what the calling model reads until the task has ended [F21]. */
interface Handle {
  readonly status: 'queued'
  readonly task_id: string
  readonly tool_call_id: string | null
  readonly mode: 'non_blocking'
}

/** The handle of a task. */
export function handleOf(call: string, toolCallId: string | null): Handle {
  return { status: 'queued', task_id: call, tool_call_id: toolCallId, mode: 'non_blocking' }
}
