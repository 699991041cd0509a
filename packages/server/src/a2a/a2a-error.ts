/** Errors as A2A reports them, in both bindings. */
import { errorTable, isWitanError, type WitanError } from '@witan/protocol'

/** Each kind of error: its code in JSON-RPC, its HTTP status, and the status of google.rpc [A2A §5.4]. */
const kinds = {
  JSON_PARSE: { code: -32700, status: 400, rpc: 'INVALID_ARGUMENT' },
  INVALID_REQUEST: { code: -32600, status: 400, rpc: 'INVALID_ARGUMENT' },
  METHOD_NOT_FOUND: { code: -32601, status: 404, rpc: 'NOT_FOUND' },
  INVALID_PARAMS: { code: -32602, status: 400, rpc: 'INVALID_ARGUMENT' },
  INTERNAL: { code: -32603, status: 500, rpc: 'INTERNAL' },
  TASK_NOT_FOUND: { code: -32001, status: 404, rpc: 'NOT_FOUND' },
  TASK_NOT_CANCELABLE: { code: -32002, status: 400, rpc: 'FAILED_PRECONDITION' },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { code: -32003, status: 400, rpc: 'FAILED_PRECONDITION' },
  UNSUPPORTED_OPERATION: { code: -32004, status: 400, rpc: 'FAILED_PRECONDITION' },
  CONTENT_TYPE_NOT_SUPPORTED: { code: -32005, status: 400, rpc: 'INVALID_ARGUMENT' },
  VERSION_NOT_SUPPORTED: { code: -32009, status: 400, rpc: 'FAILED_PRECONDITION' },
} as const

/** The reasons of A2A's own errors. */
type A2aReason = keyof typeof kinds

/** An error with one of A2A's reasons. Its message says nothing that its caller may not read. */
export class A2aError extends Error {
  readonly reason: A2aReason

  constructor(reason: A2aReason, message: string) {
    super(message)
    this.name = 'A2aError'
    this.reason = reason
  }
}

/** An error as it is sent: in both bindings it has the same message and the same details. */
export interface SentError {
  readonly code: number
  readonly status: number
  readonly rpc: string
  readonly message: string
  readonly details: readonly [{ readonly '@type': typeof errorInfo; readonly reason: string; readonly domain: string }]
}

const errorInfo = 'type.googleapis.com/google.rpc.ErrorInfo'

/** What a request is answered with; null for an error that is no answer of the protocol: it is a problem of HTTP. */
export function sentError(error: unknown): SentError | null {
  if (error instanceof A2aError) {
    const { reason, message } = error
    return { ...kinds[reason], message, details: detailsOf(reason, 'a2a-protocol.org') }
  }
  if (!isWitanError(error) || isProblem(error)) return null
  const known = sameIn[error.code]
  const message = spoken.includes(error.code) ? error.message : `${errorTable[error.code].title}.`
  if (known !== undefined) return sentError(new A2aError(known, message))
  const { status } = errorTable[error.code]
  const rpc = rpcOf[status] ?? 'INVALID_ARGUMENT'
  const details = detailsOf(error.code, 'witan.dev')
  return { code: kinds.INVALID_PARAMS.code, status, rpc, message, details }
}

/** Errors about what the caller itself sent. The words of all others may name what only the people of this server know. */
const spoken: readonly WitanError['code'][] = [
  'AGENT_CHAIN_INVALID',
  'ANSWER_INVALID',
  'ATTACHMENT_TOO_LARGE',
  'CHAIN_LOOP',
  'JSON_INVALID',
  'JSON_TOO_DEEP',
]

/** The error of something that broke here. Its cause stands in the log alone. */
export function internalError(): SentError {
  const { code, status, rpc } = kinds.INTERNAL
  const message = 'Something broke inside.'
  return { code, status, rpc, message, details: detailsOf('INTERNAL', 'a2a-protocol.org') }
}

function detailsOf(reason: string, domain: string): SentError['details'] {
  return [{ '@type': errorInfo, reason, domain }]
}

/** Errors of ours that A2A has a name for. */
const sameIn: Partial<Record<WitanError['code'], A2aReason>> = {
  JSON_INVALID: 'JSON_PARSE',
  JSON_TOO_DEEP: 'JSON_PARSE',
  MEDIA_TYPE_UNSUPPORTED: 'CONTENT_TYPE_NOT_SUPPORTED',
  RUN_FINISHED: 'UNSUPPORTED_OPERATION',
}

const rpcOf: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  409: 'FAILED_PRECONDITION',
  410: 'FAILED_PRECONDITION',
  412: 'FAILED_PRECONDITION',
  413: 'INVALID_ARGUMENT',
}

const problems: readonly WitanError['code'][] = [
  'BODY_TOO_LARGE',
  'CONTENT_TYPE_UNSUPPORTED',
  'EVIDENCE_AUDIENCE',
  'EVIDENCE_EXPIRED',
  'EVIDENCE_INVALID',
  'EVIDENCE_REPLAYED',
  'METHOD_NOT_ALLOWED',
  'NOT_FOUND',
  'TOO_MANY_TASKS',
  'UNAUTHENTICATED',
]

/** Whether HTTP itself answers: who asks, what is there, and what may be tried again. */
function isProblem({ code, retryable }: WitanError): boolean {
  return problems.includes(code) || retryable || errorTable[code].status >= 500
}
