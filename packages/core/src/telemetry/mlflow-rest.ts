/** The REST interface of an MLflow server, as far as experiments and runs need it. */
import { systemClock } from '../identity/clock.ts'
import type { OtlpTarget } from './otlp.ts'

/** How much of an answer is read. */
const longestAnswer = 1_000_000

/** What MLflow answers; `null` stands for a body that is no JSON. */
export interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>> | null
}

/** An answer that is no success, in words for a report. */
export class MlflowError extends Error {}

/** Reads, or with a body writes. Rejects if the server cannot be reached in time. */
export async function askMlflow(
  { url, headers, timeoutMs }: Pick<OtlpTarget, 'url' | 'headers' | 'timeoutMs'>,
  path: string,
  { signal, body }: { readonly signal: AbortSignal; readonly body?: object },
): Promise<Answer> {
  const late = new AbortController()
  const cancel = systemClock.after(timeoutMs, () => late.abort(), { background: true })
  try {
    const response = await fetch(`${url}/api/2.0/mlflow/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
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
  try {
    const body: unknown = JSON.parse(Buffer.concat(parts).toString())
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : null
  } catch {
    return null
  }
}

/** An id that MLflow gave; it goes into a header. */
export function idIn(holder: unknown, key: string): string | null {
  if (typeof holder !== 'object' || holder === null) return null
  const id: unknown = Reflect.get(holder, key)
  return typeof id === 'string' && /^[\w-]{1,100}$/.test(id) ? id : null
}
