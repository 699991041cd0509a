/** Turns what a server answered in place of a reply into a `ModelCallError` that says what to do and never repeats a secret. */
import { ModelCallError } from '../model.ts'
import { isRetryableStatus, readRetryAfter, readRetryWish } from '../retry.ts'
import { isUnreachable, neverArrived, troubleOf } from '../trouble.ts'

const longestDetail = 500
/** An error is read no further than this: bytes of a body, characters of a text. */
const longestBody = 64 * 1024

/** Who was called, in words for messages, and what must not appear in them. */
export interface Called {
  readonly name: string
  readonly secrets: readonly string[]
}

/** The error for an answer whose status is not 2xx. Reads the body as far as it is needed. */
export async function errorOfResponse(response: Response, called: Called): Promise<ModelCallError> {
  const { status } = response
  if (status >= 300 && status < 400) {
    await response.body?.cancel()
    const hint = 'Redirects are not followed; set "baseUrl" to where it points.'
    return new ModelCallError(`${called.name} answered ${status}. ${hint}`, {
      status,
      retryable: false,
      trouble: 'access',
    })
  }
  const body = await readStart(response)
  const text = describe(body)
  const trouble = troubleOf({ status, codes: codesOf(body), text })
  const detail = clean(text, called)
  const retryAfterMs = readRetryAfter((name) => response.headers.get(name)) ?? readRetryWish(body, text)
  return new ModelCallError(`${called.name} answered ${status}${detail === '' ? '' : `: ${detail}`}`, {
    status,
    retryable: trouble === null && isRetryableStatus(status),
    trouble,
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
  })
}

/** The error for an error object inside a reply. */
export function errorOfObject(error: unknown, called: Called): ModelCallError {
  const status = statusOf(error)
  const refused = isObject(error) && error.type === 'invalid_request_error'
  const text = describe(error)
  const trouble = troubleOf({ status, codes: codesOf(error), text })
  const detail = clean(text, called)
  const retryAfterMs = readRetryWish(error, text)
  return new ModelCallError(`${called.name} reported an error in its reply: ${detail === '' ? 'no details' : detail}`, {
    ...(status === undefined ? {} : { status }),
    retryable: trouble === null && (status === undefined ? !refused : isRetryableStatus(status)),
    trouble,
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
    // Within a reply the server has begun: only a refusal costs nothing.
    mayHaveCost: !refused && trouble === null && (status ?? 500) >= 500,
  })
}

/** The error for a reply that is no chat completion. */
export function errorOfText(text: string, called: Called): ModelCallError {
  if (text.trimStart().startsWith('<')) {
    const message = `${called.name} answered with a web page. Is "baseUrl" right, such as ending in /v1?`
    return new ModelCallError(message, { retryable: false, trouble: 'access' })
  }
  return new ModelCallError(`${called.name} sent text that is not JSON: ${clean(text, called)}`, {
    retryable: true,
  })
}

/** The error for JSON that is not parsed because it would take too long. */
export function errorOfExcess(problem: string, called: Called): ModelCallError {
  const message = `${called.name} sent JSON that is too large to read: ${problem}. Is "baseUrl" that of a model server?`
  return new ModelCallError(message, { retryable: false })
}

/** The error for a reply that ended before the server named a finish reason. */
export function errorOfEnd(called: Called): ModelCallError {
  return new ModelCallError(`${called.name} ended its reply in the middle.`, { retryable: true })
}

/** The error for a reply that is too large. */
export function errorOfSize(maxBytes: number, called: Called): ModelCallError {
  return new ModelCallError(`${called.name} sent more than ${maxBytes} bytes in one reply.`, { retryable: false })
}

/** The error for a connection that could not be made or broke. Its cause is named by code only: the text may hold a header. */
export function errorOfNetwork(error: unknown, called: Called): ModelCallError {
  const inner = error instanceof Error && error.cause !== undefined ? error.cause : error
  const code = isObject(inner) && typeof inner.code === 'string' ? inner.code : undefined
  const reason = code ?? (inner instanceof Error ? clean(inner.message, called) : 'unknown reason')
  return new ModelCallError(`${called.name} could not be reached, or the connection broke (${reason}).`, {
    retryable: true,
    trouble: isUnreachable(code ?? '') ? 'access' : null,
    mayHaveCost: !neverArrived(code ?? ''),
  })
}

async function readStart(response: Response): Promise<unknown> {
  let text = ''
  try {
    const decoder = new TextDecoder()
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes, { stream: true })
      if (text.length > longestBody) break
    }
  } catch {
    // The status is known; what is missing of the body would only have explained it.
  }
  try {
    return JSON.parse(text)
  } catch {
    return text.trimStart().startsWith('<') ? '' : text
  }
}

/** What an error says, and what the provider said to the gateway that hands it on, as OpenRouter does. */
function describe(value: unknown): string {
  const text = textIn(value)
  const inner = isObject(value) && isObject(value.error) ? value.error : value
  const said = isObject(inner) && isObject(inner.metadata) ? inner.metadata.raw : undefined
  return typeof said === 'string' && said !== '' ? `${text}: ${said}` : text
}

/** The text of an error in the forms that servers use: `{error: {message}}`, `{error}`, `{message}`, `{detail}`, or plain text. */
function textIn(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value
  if (!isObject(value) || depth > 4) return ''
  for (const key of ['error', 'message', 'detail', 'msg', '0']) {
    const text = textIn(value[key], depth + 1)
    if (text !== '') return text
  }
  return ''
}

/** The codes and types of an error, also of one within `error` or a list. */
function codesOf(value: unknown): readonly unknown[] {
  const outer: unknown = Array.isArray(value) ? value[0] : value
  if (!isObject(outer)) return []
  const inner = isObject(outer.error) ? outer.error : outer
  return [inner.code, inner.type]
}

function statusOf(error: unknown): number | undefined {
  if (!isObject(error)) return undefined
  const number = Number(error.code ?? error.status)
  return Number.isInteger(number) && number >= 400 && number <= 599 ? number : undefined
}

/** Removes secrets. At a cut may stand part of one: as much as the longest is left out. */
function clean(text: string, { secrets }: Called): string {
  let shown = text.slice(0, longestBody)
  for (const secret of secrets) shown = shown.replaceAll(secret, '[secret]')
  if (text.length >= longestBody) shown = shown.slice(0, -Math.max(1, ...secrets.map(({ length }) => length)))
  shown = shown.replace(/\s+/g, ' ').trim()
  return shown.length > longestDetail ? `${shown.slice(0, longestDetail)}…` : shown
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
