/** Asks the hooks of a row, one after the other: a later one sees what an earlier one wrote, and the first that refuses ends the row. */
import type { CheckPoint, Decision } from './decision.ts'
import { reasonOf } from '../tool/outcome.ts'
import type { HookOfRow, HookRow } from './rows.ts'

/** What a hook wrote, which may be null. */
export interface Taken<Written> {
  readonly value: Written
}

/** What is asked, and how. */
export interface Question<Seen extends object, Written> {
  readonly at: CheckPoint
  readonly row: HookRow
  /** Aborts when nobody waits for the answer any more; asked for once a hook takes time. */
  signal(): AbortSignal
  /** What each hook sees, with what the ones before it wrote. */
  seen(written: Written | undefined, own: OwnSignal): Seen
  /** What a hook wrote, as it is to be taken; null if it cannot be. */
  take(written: unknown): Taken<Written> | null | Promise<Taken<Written> | null>
  /** A text that leaves the hook: without what models may not see, and within bounds. */
  clean(reason: string): string
  /** What went wrong, for whoever runs the process. */
  report(why: string): void
}

/** What a row decided. */
export interface Verdict<Written = unknown> {
  /** One for each hook that did not just allow, in order; a refusal is the last. */
  readonly bodies: readonly Decision[]
  /** What stands now; undefined if no hook wrote anything. */
  readonly written: Written | undefined
  /** Why it is refused, as models read it; null if it is not. */
  readonly refused: string | null
}

const allowed: Verdict<never> = { bodies: [], written: undefined, refused: null }

/** Asks a row. If all hooks answer at once, so does this. Never throws, and never rejects. */
export function askRow<Seen extends object, Written>(
  question: Question<Seen, Written>,
): Verdict<Written> | Promise<Verdict<Written>> {
  const { row } = question
  if (row.length === 0) return allowed
  const asking: Asking<Seen, Written> = { question, bodies: [], written: undefined, refused: null }
  return from(asking, 0)
}

interface Asking<Seen extends object, Written> {
  readonly question: Question<Seen, Written>
  readonly bodies: Decision[]
  written: Written | undefined
  refused: string | null
}

function from<Seen extends object, Written>(
  asking: Asking<Seen, Written>,
  at: number,
): Verdict<Written> | Promise<Verdict<Written>> {
  const { row } = asking.question
  for (let index = at; index < row.length && asking.refused === null; index += 1) {
    const done = askOne(asking, row[index] as HookOfRow)
    if (done !== null) return done.then(() => from(asking, index + 1))
  }
  const { bodies, written, refused } = asking
  return bodies.length === 0 ? allowed : { bodies, written, refused }
}

/** Asks one hook. Null once its answer is taken; a promise if that takes time. */
function askOne<Seen extends object, Written>(asking: Asking<Seen, Written>, one: HookOfRow): Promise<void> | null {
  const { question } = asking
  try {
    const own = new OwnSignal()
    const given = one.ask(Object.freeze(question.seen(asking.written, own)))
    if (given === undefined || given === null) return null
    if (!isPromise(given)) return takeAnswer(asking, one, given)
    return inTime(given, { own, whole: question.signal(), timeoutMs: one.hooks.timeoutMs }).then(
      (answer) => takeAnswer(asking, one, answer) ?? undefined,
      (error: unknown) => fail(asking, one, error),
    )
  } catch (error) {
    fail(asking, one, error)
    return null
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** The signal of one hook, made once it is read. */
class OwnSignal {
  #controller: AbortController | null = null

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    return this.#controller.signal
  }

  abort(why: unknown): void {
    this.#controller?.abort(why)
  }
}

/** How long a hook is waited for: for its time, and as long as anybody waits. */
interface Waiting {
  readonly own: OwnSignal
  readonly whole: AbortSignal
  readonly timeoutMs: number
}

async function inTime(given: PromiseLike<unknown>, { own, whole, timeoutMs }: Waiting): Promise<unknown> {
  const over = Promise.withResolvers<never>()
  const end = (why: unknown) => {
    over.reject(why)
    own.abort(why)
  }
  const timer = setTimeout(() => end(new Error(`it took longer than ${timeoutMs} ms`)), timeoutMs)
  const stop = () => end(new Error('nobody waits for it any more'))
  whole.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([given, over.promise])
  } finally {
    clearTimeout(timer)
    whole.removeEventListener('abort', stop)
  }
}

function takeAnswer<Seen extends object, Written>(
  asking: Asking<Seen, Written>,
  one: HookOfRow,
  answer: unknown,
): Promise<void> | null {
  if (answer === undefined || answer === null) return null
  try {
    const { refuse, rewrite, isFlag } = answerOf(one, answer)
    if (isFlag) {
      decide(asking, one, { effect: 'flagged', reason: null })
      return null
    }
    if (refuse !== undefined) {
      refuseFor(asking, one, { effect: 'refused', reason: asking.question.clean(refuse) })
      return null
    }
    const taken = asking.question.take(rewrite)
    if (!isPromise(taken)) {
      takeWritten(asking, one, taken)
      return null
    }
    return Promise.resolve(taken).then(
      (written) => takeWritten(asking, one, written),
      (error: unknown) => fail(asking, one, error),
    )
  } catch (error) {
    fail(asking, one, error)
    return null
  }
}

/** What a hook answered. Throws for what is no answer. */
function answerOf(
  { action }: HookOfRow,
  answer: unknown,
): { readonly refuse?: string; readonly rewrite?: unknown; readonly isFlag?: boolean } {
  if (typeof answer === 'object' && answer !== null) {
    if (action === 'flag' && 'flag' in answer) return { isFlag: true }
    const { refuse, rewrite } = answer as { readonly refuse?: unknown; readonly rewrite?: unknown }
    if (typeof refuse === 'string' && rewrite === undefined) return { refuse }
    if (rewrite !== undefined && refuse === undefined) return { rewrite }
  }
  throw new TypeError('a hook returns nothing, { refuse: "why" } or { rewrite: … }')
}

/** What may be written at each point. */
const writable: Readonly<Record<CheckPoint, string>> = {
  beforeRun: '{ message: "…" } of a message that is no peer’s and behind no hand-over',
  answered: 'nothing',
  joined: '{ message: "…" }',
  beforeModel: '{ note: "…" } of at most 16,000 characters',
  afterModel: '{ text: "…" }',
  beforeTool: '{ arguments: {…} } that fit the tool',
  onInterruption: 'nothing',
  afterTool: '{ result: … } that is JSON',
  afterRun: '{ text: "…" } that fits the output schema of the agent',
}

function takeWritten<Seen extends object, Written>(
  asking: Asking<Seen, Written>,
  one: HookOfRow,
  taken: Taken<Written> | null,
): void {
  // What a guardrail cannot take out any more is refused: nothing is wrong with it.
  if (taken === null && one.action !== undefined)
    return refuseFor(asking, one, { effect: 'failed', reason: `guardrail ${one.hooks.name} failed` })
  if (taken === null) return fail(asking, one, new TypeError(`it may write ${writable[asking.question.at]} there`))
  const { value: written } = taken
  asking.written = written
  decide(asking, one, { effect: 'rewritten', reason: null, written })
}

function fail<Seen extends object, Written>(asking: Asking<Seen, Written>, one: HookOfRow, error: unknown): void {
  const { hooks, action } = one
  const { name, onError } = hooks
  const { at, report } = asking.question
  const who = action === undefined ? 'Hook' : 'Guardrail'
  report(`${who} \`${name}\` failed at ${at}: ${reasonOf(error, 'unknown trouble')}`)
  const reason = `${who.toLowerCase()} ${name} failed`
  if (onError !== 'allow') return refuseFor(asking, one, { effect: 'failed', reason })
  decide(asking, one, { effect: 'failed', reason, allows: true })
}

function refuseFor<Seen extends object, Written>(
  asking: Asking<Seen, Written>,
  one: HookOfRow,
  of: { readonly effect: 'refused' | 'failed'; readonly reason: string },
): void {
  asking.refused = of.reason
  decide(asking, one, of)
}

function decide<Seen extends object, Written>(
  { question, bodies }: Asking<Seen, Written>,
  { hooks, action, of }: HookOfRow,
  what: Omit<Decision, 'name' | 'at' | 'action' | 'of'>,
): void {
  const decision = { name: hooks.name, at: question.at, ...what }
  bodies.push(action === undefined || of === undefined ? decision : { ...decision, action, of })
}
