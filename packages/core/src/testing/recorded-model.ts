/** A model that writes down what it was asked and said, and one that says it again: a run that was recorded once replays offline. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { type Model, ModelCallError, type ModelNote, type ModelPart, type ModelRequest } from '../model/model.ts'

/** The first line of a file: what a runtime reads of the model beside its replies. */
interface Head {
  readonly model: Pick<Model, 'price' | 'listing' | 'takes'>
}

/** One call, as a line of the file. */
interface Line {
  readonly request: ModelRequest
  readonly parts: readonly ModelPart[]
  /** What the model's adapter warned of. */
  readonly notes?: readonly ModelNote[]
  /** Set where the call failed behind its parts. */
  readonly error?: Failure
}

/** What of an error decides what the runtime does next. Only `message` of one that no adapter made. */
type Failure = { readonly message: string } & Partial<
  Pick<ModelCallError, 'status' | 'retryable' | 'retryAfterMs' | 'trouble' | 'mayHaveCost'>
>

/**
 * The same model, which writes every call into `file`, one JSON object a line: what it was asked, what it said, and how it failed. An
 * earlier recording there is replaced. The file holds whole conversations: look at it before you share it.
 */
export function recordModel(model: Model, file: string): Model {
  const { price, listing, takes } = model
  writeFileSync(file, `${JSON.stringify({ model: { price, listing, takes } })}\n`)
  return {
    ...model,
    async *stream(request, options) {
      const parts: ModelPart[] = []
      const notes: ModelNote[] = []
      const tell = (note: ModelNote) => {
        notes.push(note)
        options.tell?.(note)
      }
      const write = (more: Pick<Line, 'error'> = {}) => {
        const line: Line = { request, parts, ...(notes.length === 0 ? {} : { notes }), ...more }
        appendFileSync(file, `${JSON.stringify(line)}\n`)
      }
      try {
        for await (const part of model.stream(request, { ...options, tell })) {
          parts.push(part)
          if (part.type === 'reply') write()
          yield part
        }
      } catch (error) {
        if (!options.signal.aborted) write({ error: failureOf(error) })
        throw error
      }
    },
  }
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof ModelCallError)) return { message: error instanceof Error ? error.message : String(error) }
  const { message, status, retryable, retryAfterMs, trouble, mayHaveCost } = error
  return { message, status, retryable, retryAfterMs, trouble, mayHaveCost }
}

function errorOf({ message, status, retryable, retryAfterMs, ...rest }: Failure): Error {
  if (retryable === undefined) return new Error(message)
  return new ModelCallError(message, {
    ...(typeof status === 'number' ? { status } : {}),
    ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}),
    retryable,
    ...rest,
  })
}

/**
 * A model that says what stands in a file of `recordModel`, without a network. A request is answered by the first recorded call that
 * was asked the same and was not played yet. One that nobody recorded fails, and the error names the place where it differs from the
 * call that is next. `id` is that of agents' model; default `recorded/model`. Throws where the file is no recording.
 */
export function replayModel(file: string, options: { readonly id?: string } = {}): Model {
  const { head, lines: left } = recordingIn(file)
  let count = 0
  return {
    ...head.model,
    id: options.id ?? 'recorded/model',
    kind: 'script',
    isUnique: true,
    async *stream(asked, { signal, deltas, reasoning, tell }) {
      signal.throwIfAborted()
      count += 1
      const request = JSON.parse(JSON.stringify(asked)) as ModelRequest
      const at = left.findIndex((line) => isDeepStrictEqual(line.request, request))
      if (at < 0) throw new ModelCallError(differenceOf(count, request, left[0]?.request), { retryable: false })
      const [{ parts, error, notes = [] }] = left.splice(at, 1) as [Line]
      for (const note of notes) tell?.(note)
      for (const part of parts) {
        if (part.type === 'reasoning' ? deltas && reasoning === true : deltas || part.type === 'reply') yield part
      }
      if (error !== undefined) throw errorOf(error)
    },
  }
}

function recordingIn(file: string): { readonly head: Head; readonly lines: Line[] } {
  const [head, ...lines] = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line, at) => readLine(line, { file, number: at + 1 }))
  if (head === undefined || !('model' in head)) throw new Error(`${file} is no recording: line 1 names no model.`)
  return { head, lines: lines as Line[] }
}

function readLine(line: string, { file, number }: { readonly file: string; readonly number: number }): Head | Line {
  try {
    return JSON.parse(line) as Head | Line
  } catch (error) {
    throw new Error(`${file} is no recording: line ${number} is no JSON.`, { cause: error })
  }
}

function differenceOf(count: number, asked: ModelRequest, recorded: ModelRequest | undefined): string {
  if (recorded === undefined) return `Request ${count} was not recorded: nothing is left of the recording.`
  const path = firstDifference(asked, recorded, '')
  return `Request ${count} was not recorded: it differs from the next one that was at \`${path}\`.`
}

/** The path of the first place where two JSON values differ. */
function firstDifference(one: unknown, other: unknown, path: string): string {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return path
  const keys = new Set([...Object.keys(one), ...Object.keys(other)])
  for (const key of keys) {
    const [mine, theirs] = [one, other].map((value) => (value as Record<string, unknown>)[key])
    if (!isDeepStrictEqual(mine, theirs)) return firstDifference(mine, theirs, path === '' ? key : `${path}.${key}`)
  }
  return path
}
