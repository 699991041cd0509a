/** Turns what an AI SDK model threw or sent into a `ModelCallError`, without the request that its errors carry along. */
import { readJson } from '@witan/protocol/schemas'
import { ModelCallError } from '../model.ts'
import { isRetryableStatus, readRetryAfter, readRetryWish } from '../retry.ts'
import { isUnreachable, neverArrived, troubleOf } from '../trouble.ts'

type Loose = Readonly<Record<string, unknown>>

/** Codes of a connection that was not made or broke. */
const networkCodes = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|UND_ERR_)/

/** Translates the error of a call. The original is not kept as its `cause`: it holds the whole conversation, which a log would then print. */
export function toCallError(error: unknown): ModelCallError {
  if (error instanceof ModelCallError) return error
  const loose = isObject(error) ? error : {}
  const status = toStatus(loose.statusCode ?? loose.status ?? loose.code)
  const inHeaders = isObject(loose.responseHeaders) ? retryAfter(loose.responseHeaders) : null
  const retryAfterMs = inHeaders ?? readRetryWish(bodyOf(loose), describe(error))
  const isNetwork = networkCodes.test(codeOf(loose))
  const said = troubleOf({ status, codes: codesOf(loose), text: describe(error) })
  const trouble = isUnreachable(codeOf(loose)) || isUnset(error) ? 'access' : said
  return new ModelCallError(`The model call failed: ${describe(error)}`, {
    ...(status === undefined ? {} : { status }),
    retryable: (isNetwork || trouble === null) && isRetryable(error, loose, status),
    trouble,
    ...(neverSent(error, loose) ? { mayHaveCost: false } : {}),
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
  })
}

function isRetryable(error: unknown, loose: Loose, status: number | undefined): boolean {
  if (typeof loose.isRetryable === 'boolean') return loose.isRetryable
  if (status !== undefined) return isRetryableStatus(status)
  if (networkCodes.test(codeOf(loose))) return true
  // An error object of the provider in the middle of a stream passes in general; an exception is a bug or a wrong setting.
  return !(error instanceof Error) && loose.type !== 'invalid_request_error'
}

/** Errors that a provider's package throws before it sends the request. */
const beforeSending =
  /^AI_(LoadAPIKey|LoadSetting|UnsupportedFunctionality|InvalidArgument|InvalidPrompt|NoSuchModel|NoSuchProviderReference)Error$/

/** Whether a key or a name is missing here. */
function isUnset(error: unknown): boolean {
  return error instanceof Error && /^AI_(LoadAPIKey|NoSuchModel)Error$/.test(error.name)
}

/** Whether the request did not arrive, or was refused. */
function neverSent(error: unknown, loose: Loose): boolean {
  if (error instanceof Error && beforeSending.test(error.name)) return true
  return neverArrived(codeOf(loose)) || loose.type === 'invalid_request_error'
}

/** The code of a connection's trouble, or ''. */
function codeOf(loose: Loose): string {
  const inner = isObject(loose.cause) ? loose.cause : loose
  return typeof inner.code === 'string' ? inner.code : ''
}

/** What the provider called it, as its package read it, or in an error object of a stream. */
function codesOf(loose: Loose): readonly unknown[] {
  const data = isObject(loose.data) ? loose.data : loose
  const inner = isObject(data.error) ? data.error : data
  return [inner.code, inner.type]
}

/** An answer that is longer is read only as far as its package has read it. */
const longestBody = 64 * 1024

/** What the provider answered. Its package has read only what it knows of it. */
function bodyOf({ responseBody, data, error, ...loose }: Loose): unknown {
  if (typeof responseBody === 'string' && responseBody.length <= longestBody) {
    const read = readJson(responseBody)
    if (read.ok) return read.value
  }
  return data ?? error ?? loose
}

function retryAfter(headers: Loose): number | null {
  return readRetryAfter((name) => (typeof headers[name] === 'string' ? headers[name] : null))
}

function toStatus(value: unknown): number | undefined {
  const status = typeof value === 'string' ? Number(value) : value
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599 ? status : undefined
}

function describe(error: unknown): string {
  const message = isObject(error) ? (isObject(error.error) ? error.error.message : error.message) : error
  return typeof message === 'string' && message !== '' ? message.slice(0, 500) : 'no details'
}

function isObject(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null
}
