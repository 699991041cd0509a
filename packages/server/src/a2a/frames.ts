/** A task as a stream: the task, its text as it is written, and its end. */
import type { OwnMessage, OwnRun, OwnRuns } from '@witan/core/tooling'
import type { Event } from '@witan/protocol'
import type { Seal } from './conditions.ts'
import type { AnswerModes } from './modes.ts'
import { usageMetadata } from './shared-budget.ts'
import { answerId, answerOf, hasEnded, isSettled, statusOf, taskOf } from './task.ts'
import type { StreamFrame, WireArtifact, WirePart } from './wire.ts'

/** The most characters of a text in one frame: as JSON it then stays below 4 MiB, whatever they are. */
const mostCharacters = 500_000

/** What a stream follows. */
interface Followed {
  readonly own: OwnRuns
  readonly run: OwnRun
  readonly history: readonly OwnMessage[]
  /** Resolves when the task has ended or asks its caller; null if the server stops before. */
  readonly settled: Promise<OwnRun | null>
  /** Whether the caller is told what it has cost. */
  readonly withUsage: boolean
  readonly modes: AnswerModes
  /** What seals the states of the conditions that it asks. */
  readonly sealFor: (run: OwnRun) => Promise<Seal>
}

/** The frames of a task. They end when it has ended or waits for its caller, and when `signal` aborts. */
export async function* framesOf(followed: Followed, signal: AbortSignal): AsyncGenerator<StreamFrame> {
  const { run, history, settled, withUsage, modes, sealFor } = followed
  const length = lengthOf(run)
  const isLong = length > mostCharacters
  const seal = await sealFor(run)
  yield {
    task: taskOf(run, {
      history: shortened(history, isLong ? 0 : length),
      withArtifacts: !isLong,
      withUsage,
      modes,
      seal,
    }),
  }
  const text = new SentText(run, modes)
  if (isSettled(run)) {
    if (isLong) yield* text.end(run)
    return
  }
  yield* liveText(followed, text, signal)
  if (signal.aborted) return
  const end = await settled
  if (end === null || signal.aborted) return
  yield* text.end(end)
  const { runId: taskId, conversationId: contextId } = end
  const cost = withUsage ? usageMetadata(end) : {}
  yield { statusUpdate: { taskId, contextId, status: statusOf(end, await sealFor(end)), ...cost } }
}

/** The text of the run as its model writes it, until the task is settled. */
async function* liveText(
  { own, run, settled }: Followed,
  text: SentText,
  signal: AbortSignal,
): AsyncGenerator<StreamFrame> {
  const over = new AbortController()
  const leave = (): void => over.abort()
  signal.addEventListener('abort', leave, { once: true })
  settled.then(leave, leave)
  try {
    for await (const event of own.follow(run, over.signal)) yield* text.take(event)
  } finally {
    signal.removeEventListener('abort', leave)
    leave()
  }
}

/** What a stream has sent of the answer. */
class SentText {
  readonly #place: { readonly taskId: string; readonly contextId: string }
  readonly #modes: AnswerModes
  /** The call and the attempt that wrote it; null before the first piece. */
  #from: string | null = null
  #text = ''

  constructor({ runId, conversationId }: OwnRun, modes: AnswerModes) {
    this.#place = { taskId: runId, contextId: conversationId }
    this.#modes = modes
  }

  /** A piece of text. Another call, another attempt and a snapshot begin the text anew. */
  *take(event: Event): Generator<StreamFrame> {
    if (event.type !== 'delta' || event.kind !== 'agent' || !this.#modes.text) return
    const { text, attempt, snapshot } = event.content as { text?: string; attempt: number; snapshot?: true }
    if (text === undefined || text === '') return
    const from = `${event.callId} ${attempt}`
    const goesOn = from === this.#from && snapshot !== true
    this.#from = from
    this.#text = goesOn ? this.#text + text : text
    yield* this.#chunks(text, goesOn)
  }

  /** What is still to be sent of the answer: never anything twice. Nothing of a task that did not complete. */
  *end(run: OwnRun): Generator<StreamFrame> {
    const answer = hasEnded(run) ? this.#answerOf(run) : null
    if (answer === null) return
    const [first] = answer.parts
    const whole = first !== undefined && 'text' in first ? first.text : ''
    const goesOn = this.#from !== null && whole.startsWith(this.#text)
    const rest = goesOn ? whole.slice(this.#text.length) : whole
    const pieces = piecesOf(rest)
    const others = answer.parts.filter((part) => 'data' in part)
    const last = pieces.pop() ?? ''
    let append = goesOn
    for (const piece of pieces) {
      yield this.#frame([{ text: piece }], { append, lastChunk: false })
      append = true
    }
    const words = last === '' && others.length > 0 ? [] : [{ text: last }]
    if (words.length > 0 && others.length > 0 && lengthOf(run) > mostCharacters) {
      yield this.#frame(words, { append, lastChunk: false })
      yield this.#frame(others, { append: true, lastChunk: true })
    } else yield this.#frame([...words, ...others], { append, lastChunk: true })
  }

  /** Words that somebody takes as data are one value: those that fit into no frame stay a text. */
  #answerOf(run: OwnRun): WireArtifact | null {
    const answer = answerOf(run, this.#modes)
    const isTooLong = answer?.parts.some((part) => 'data' in part && isLongText(part.data)) === true
    return isTooLong ? answerOf(run, { text: true, data: false }) : answer
  }

  *#chunks(text: string, goesOn: boolean): Generator<StreamFrame> {
    let append = goesOn
    for (const piece of piecesOf(text)) {
      yield this.#frame([{ text: piece }], { append, lastChunk: false })
      append = true
    }
  }

  #frame(parts: readonly WirePart[], at: { readonly append: boolean; readonly lastChunk: boolean }): StreamFrame {
    return { artifactUpdate: { ...this.#place, artifact: { artifactId: answerId, parts }, ...at } }
  }
}

/** A text in pieces that fit into a frame. No character is cut in two. */
function piecesOf(text: string): string[] {
  const pieces: string[] = []
  for (let from = 0; from < text.length; ) {
    let upTo = Math.min(from + mostCharacters, text.length)
    const last = text.charCodeAt(upTo - 1)
    if (upTo < text.length && last >= 0xd800 && last <= 0xdbff) upTo -= 1
    pieces.push(text.slice(from, upTo))
    from = upTo
  }
  return pieces
}

function isLongText(data: unknown): boolean {
  return typeof data === 'string' && data.length > mostCharacters
}

/** How many characters the answer of a run has, as text and as data. */
function lengthOf({ result }: OwnRun): number {
  const output = result?.output ?? null
  return (result?.text.length ?? 0) + (output === null ? 0 : JSON.stringify(output).length)
}

/** The latest messages that fit into the first frame, beside an answer of this length. */
function shortened(history: readonly OwnMessage[], length: number): readonly OwnMessage[] {
  let left = mostCharacters - length
  const tooMany = history.findLastIndex((message) => {
    left -= 'text' in message ? message.text.length : JSON.stringify(message).length
    return left < 0
  })
  return history.slice(tooMany + 1)
}
