/** A model that writes down what it was asked and said, and one that says it again: a run that was recorded once replays offline. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { type Model, ModelCallError, type ModelPart, type ModelRequest } from '../model/model.ts'

/** One call, as a line of the file. */
interface Line {
  readonly request: ModelRequest
  readonly parts: readonly ModelPart[]
  /** Set where the call failed behind its parts. */
  readonly error?: { readonly message: string; readonly status: number | null; readonly retryable: boolean }
}

/**
 * The same model, which writes every call into `file`, one JSON object a line: what it was asked, what it said, and how it failed. An
 * earlier recording there is replaced. The file holds whole conversations: look at it before you share it.
 */
export function recordModel(model: Model, file: string): Model {
  writeFileSync(file, '')
  return {
    ...model,
    async *stream(request, options) {
      const parts: ModelPart[] = []
      const write = (more: Pick<Line, 'error'> = {}) =>
        appendFileSync(file, `${JSON.stringify({ request, parts, ...more } satisfies Line)}\n`)
      try {
        for await (const part of model.stream(request, options)) {
          parts.push(part)
          if (part.type === 'reply') write()
          yield part
        }
      } catch (error) {
        if (error instanceof ModelCallError) {
          const { message, status, retryable } = error
          write({ error: { message, status, retryable } })
        }
        throw error
      }
    },
  }
}

/**
 * A model that says what stands in a file of `recordModel`, without a network. A request is answered by the first recorded call that
 * was asked the same and was not played yet. One that nobody recorded fails, and the error names the place where it differs from the
 * call that is next. `id` is that of agents' model; default `recorded/model`.
 */
export function replayModel(file: string, options: { readonly id?: string } = {}): Model {
  const left = linesOf(file)
  let count = 0
  return {
    id: options.id ?? 'recorded/model',
    kind: 'script',
    isUnique: true,
    async *stream(asked, { signal, deltas, reasoning }) {
      signal.throwIfAborted()
      count += 1
      const request = JSON.parse(JSON.stringify(asked)) as ModelRequest
      const at = left.findIndex((line) => isDeepStrictEqual(line.request, request))
      if (at < 0) throw new ModelCallError(differenceOf(count, request, left[0]?.request), { retryable: false })
      const [{ parts, error }] = left.splice(at, 1) as [Line]
      for (const part of parts) {
        if (part.type === 'reasoning' ? deltas && reasoning === true : deltas || part.type === 'reply') yield part
      }
      if (error === undefined) return
      const { message, status, retryable } = error
      throw new ModelCallError(message, { ...(status === null ? {} : { status }), retryable })
    },
  }
}

function linesOf(file: string): Line[] {
  const text = readFileSync(file, 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
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
