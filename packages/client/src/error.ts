/** The errors of the client: an error of the server becomes a `WitanError`, an error on this side a `ClientError`. */
import type { ErrorCode, Problem } from '@witan/protocol'
import {
  errorTable,
  isWitanError,
  MaxSubAgentDepthError,
  MissingAgentParameterError,
  WitanError,
} from '@witan/protocol'

/** The closed set of codes of a `ClientError`; none of them ever comes over the wire. */
export type ClientErrorCode =
  | 'ACTION_UNHANDLED'
  | 'CLIENT_CLOSED'
  | 'CONVERSATION_NOT_STARTED'
  | 'HANDLER_EXISTS'
  | 'HANDLER_PATH_INVALID'
  | 'REPLY_INVALID'
  | 'SERVER_UNREACHABLE'
  | 'STREAM_LEFT'
  | 'URL_INVALID'

/** An error that no server reported: a failed connection, a reply that is not Witan's, or a call in the wrong order. */
export class ClientError extends Error {
  readonly code: ClientErrorCode
  readonly hint: string

  constructor(code: ClientErrorCode, detail: string, options: { readonly hint: string; readonly cause?: unknown }) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ClientError'
    this.code = code
    this.hint = options.hint
  }
}

/** A request without a complete reply. Names the URL and the platform's reason. */
export function unreachable(url: string, cause: unknown): ClientError {
  return new ClientError('SERVER_UNREACHABLE', `No reply from ${url}: ${reason(cause)}.`, {
    hint: 'Is the server running there, and is the address right?',
    cause,
  })
}

/** A complete reply that does not match Witan's API. */
export function invalidReply(url: string, what: string): ClientError {
  return new ClientError('REPLY_INVALID', `The reply of ${url} is not Witan's: ${what}.`, {
    hint: 'Check that the address is that of a Witan server, and not of a proxy or another program.',
  })
}

/** The deepest message of a chain of causes: `fetch failed` alone does not help. */
function reason(cause: unknown): string {
  let deepest = cause
  while (deepest instanceof Error && deepest.cause instanceof Error) deepest = deepest.cause
  if (!(deepest instanceof Error)) return String(deepest)
  return deepest.message || ('code' in deepest ? String(deepest.code) : deepest.name)
}

/** Whether the server said that the thing does not exist, or not for this principal. */
export function isNotFound(error: unknown): boolean {
  return isWitanError(error) && error.details.status === 404
}

/**
 * Makes the error of a refused request. `details` has `status`, `requestId`, `retryAfterSeconds`, what is there instead as `current`, and for a
 * code this version does not know, the `code` as sent. A proxy's own reply counts as no reply.
 */
export function refusal(url: string, response: Response, body: string): WitanError | ClientError {
  const sent = parseProblem(body)
  if (!sent && proxyStatuses.has(response.status)) return unreachable(url, new Error(`a proxy said ${response.status}`))
  if (!sent) {
    const type = response.headers.get('content-type') ?? 'no content type'
    return invalidReply(url, `status ${response.status}, ${type}`)
  }
  const code = knownCode(sent.code, response.status)
  const details: Record<string, unknown> = { status: response.status }
  if (sent.requestId !== undefined) details.requestId = sent.requestId
  if (code !== sent.code) details.code = sent.code
  if (sent.current !== undefined) details.current = sent.current
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  if (Number.isFinite(retryAfter)) details.retryAfterSeconds = retryAfter
  const options = { details, ...(sent.path ? { path: sent.path } : {}), ...(sent.hint ? { hint: sent.hint } : {}) }
  const detail = sent.detail ?? sent.title ?? sent.code
  if (code === 'MISSING_AGENT_PARAMETER') return new MissingAgentParameterError(detail, options)
  if (code === 'DEPTH_EXCEEDED') return new MaxSubAgentDepthError(detail, options)
  return new WitanError(code, detail, options)
}

const proxyStatuses: ReadonlySet<number> = new Set([502, 503, 504])

type SentProblem = Partial<Omit<Problem, 'code'>> & { readonly code: string; readonly current?: unknown }

function parseProblem(body: string): SentProblem | null {
  try {
    const value: unknown = JSON.parse(body)
    const isProblem = typeof value === 'object' && value !== null && 'code' in value && typeof value.code === 'string'
    return isProblem ? (value as SentProblem) : null
  } catch {
    return null
  }
}

/** A newer server may send a code that this version does not know; its status still says whose fault it is. */
function knownCode(code: string, status: number): ErrorCode {
  if (Object.hasOwn(errorTable, code)) return code as ErrorCode
  if (status === 401) return 'UNAUTHENTICATED'
  if (status === 404) return 'NOT_FOUND'
  if (status === 503) return 'STORE_UNAVAILABLE'
  return status >= 500 ? 'INTERNAL' : 'BODY_INVALID'
}
