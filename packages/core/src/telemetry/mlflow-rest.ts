/** The REST interface of an MLflow server, as far as experiments and runs need it. */
import { readJson } from '@witan/protocol/schemas'
import { systemClock } from '../identity/clock.ts'
import type { OtlpTarget } from './otlp.ts'

/** How much of an answer is read. */
const longestAnswer = 1_000_000

/** What MLflow answers; `null` stands for a body that is no JSON. */
interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>> | null
}

/** An answer that is no success, in words for a report. */
export class MlflowError extends Error {}

/** What is asked: with a body it is written, else read. */
interface Question {
  readonly signal: AbortSignal
  readonly body?: object
  /** Of the interface. Default: `2.0`. */
  readonly version?: '2.0' | '3.0'
  readonly method?: 'GET' | 'POST' | 'PATCH'
}

/** How long the upload of a file may take, in ms. */
const uploadMs = 60_000

/** Writes a file. Returns the status, or null if it took too long. Rejects if the server cannot be reached. */
export async function putMlflow(
  { url, headers }: Pick<OtlpTarget, 'url' | 'headers'>,
  path: string,
  { signal, bytes }: { readonly signal: AbortSignal; readonly bytes: Uint8Array },
): Promise<number | null> {
  const late = new AbortController()
  const cancel = systemClock.after(uploadMs, () => late.abort(), { background: true })
  try {
    const response = await fetch(`${url}/api/2.0/${path}`, {
      method: 'PUT',
      redirect: 'manual',
      headers: { ...headers, 'content-type': 'application/octet-stream' },
      body: bytes as Uint8Array<ArrayBuffer>,
      signal: AbortSignal.any([signal, late.signal]),
    })
    await response.body?.cancel()
    return response.status
  } catch (error) {
    if (late.signal.aborted) return null
    throw error
  } finally {
    cancel()
  }
}

/** Reads, or with a body writes. Rejects if the server cannot be reached in time. */
export async function askMlflow(
  { url, headers, timeoutMs }: Pick<OtlpTarget, 'url' | 'headers' | 'timeoutMs'>,
  path: string,
  { signal, body, version = '2.0', method = body === undefined ? 'GET' : 'POST' }: Question,
): Promise<Answer> {
  const late = new AbortController()
  const cancel = systemClock.after(timeoutMs, () => late.abort(), { background: true })
  try {
    const response = await fetch(`${url}/api/${version}/mlflow/${path}`, {
      method,
      redirect: 'manual',
      headers: { ...headers, 'content-type': 'application/json' },
      signal: AbortSignal.any([signal, late.signal]),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await read(response) }
  } finally {
    cancel()
  }
}

async function read(response: Response): Promise<Answer['body']> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of response.body ?? []) {
    length += part.length
    if (length > longestAnswer) return null
    parts.push(part)
  }
  const read = readJson(Buffer.concat(parts).toString())
  return read.ok && typeof read.value === 'object' ? (read.value as Answer['body']) : null
}

/** An id that MLflow gave; it goes into a header. */
export function idIn(holder: unknown, key: string): string | null {
  if (typeof holder !== 'object' || holder === null) return null
  const id: unknown = Reflect.get(holder, key)
  return typeof id === 'string' && /^[\w-]{1,100}$/.test(id) ? id : null
}
