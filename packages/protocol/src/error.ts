/** Every error that Witan reports: one closed table from code to HTTP status and retry advice, and the one error class. */

/** The meaning of a code for a transport: its HTTP status, and whether the same request may succeed later. */
interface ErrorMeaning {
  readonly status: number
  readonly retryable?: boolean
  readonly title: string
}

const table = {
  ADDRESS_INVALID: { status: 422, title: 'The address is not valid' },
  AGENT_CHAIN_INVALID: { status: 400, title: 'The chain of calls is not valid' },
  AGENT_DISABLED: { status: 409, title: 'The agent is disabled' },
  AGENT_EXISTS: { status: 409, title: 'The agent exists already' },
  AGENT_INVALID: { status: 422, title: 'The agent is not valid' },
  AGENT_REFERENCED: { status: 409, title: 'Other agents list this agent' },
  AGENT_REF_UNKNOWN: { status: 422, title: 'An agent lists something that does not exist' },
  AGENT_SELF_REFERENCE: { status: 422, title: 'An agent lists itself' },
  ACTIONS_PENDING: { status: 409, title: 'Actions wait for their answer' },
  ACTION_NOT_FOUND: { status: 404, title: 'No such open action' },
  ALREADY_ANSWERED: { status: 409, title: 'Answered already' },
  ANSWER_INVALID: { status: 422, title: 'The answer does not fit the question' },
  APPROVAL_REQUIRED: { status: 409, title: 'The call needs approval' },
  APPROVAL_DENIED: { status: 409, title: 'A person denied the call' },
  ARTIFACT_TOO_LARGE: { status: 413, title: 'The artifact is too large' },
  ATTACHMENT_TOO_LARGE: { status: 413, title: 'A file is too large' },
  BODY_INVALID: { status: 422, title: 'The body does not fit its schema' },
  BODY_TOO_LARGE: { status: 413, title: 'The body is too large' },
  BUDGET_EXCEEDED: { status: 409, title: 'The budget of the run is spent' },
  CHAIN_EXHAUSTED: { status: 409, title: 'The chain of servers is at its end' },
  CHAIN_LOOP: { status: 409, title: 'The chain of calls came here before' },
  CONFIG_INVALID: { status: 500, title: 'The configuration is not valid' },
  CONFIRM_REQUIRED: { status: 409, title: 'The effect needs to be confirmed' },
  CONTENT_TYPE_UNSUPPORTED: { status: 415, title: 'The content type is not supported' },
  CONVERSATION_AGENT_MISMATCH: { status: 409, title: 'The conversation belongs to another agent' },
  CONVERSATION_BUSY: { status: 409, retryable: true, title: 'The conversation is being written elsewhere' },
  DOCUMENT_UNREADABLE: { status: 422, title: 'The document cannot be read' },
  DEPTH_EXCEEDED: { status: 409, title: 'Delegation is too deep' },
  EVENT_ID_AHEAD: { status: 409, title: 'That event does not exist yet' },
  EVENT_ID_INVALID: { status: 400, title: 'The event id is not valid' },
  EVIDENCE_AUDIENCE: { status: 401, title: 'The evidence is for another agent' },
  EVIDENCE_EXPIRED: { status: 401, title: 'The evidence has expired' },
  EVIDENCE_INVALID: { status: 401, title: 'The evidence is not valid' },
  EVIDENCE_REPLAYED: { status: 401, title: 'The evidence was used with another message' },
  FENCED: { status: 409, retryable: true, title: 'Another worker owns this job' },
  FORK_OPEN_CALLS: { status: 409, title: 'A call is open at that event' },
  HOST_NOT_ALLOWED: { status: 403, title: 'The host or origin is not allowed' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, title: 'The idempotency key was used with another body' },
  ID_INVALID: { status: 422, title: 'The id is not valid' },
  INTERNAL: { status: 500, title: 'Something broke inside' },
  IN_PROGRESS: { status: 409, retryable: true, title: 'The first request with this key is under way' },
  ISSUER_UNAVAILABLE: { status: 503, retryable: true, title: 'The issuer of tokens cannot be reached' },
  JSON_INVALID: { status: 400, title: 'The body is not JSON' },
  KNOWLEDGE_FILTER_MISSING: { status: 422, title: 'A filter of the knowledge base is missing' },
  KNOWLEDGE_FILTER_UNBOUND: { status: 422, title: 'A filter of the knowledge base is not bound' },
  KNOWLEDGE_INVALID: { status: 422, title: 'The knowledge base is not valid' },
  KNOWLEDGE_NOT_OURS: { status: 409, title: 'The documents of the base are kept elsewhere' },
  KNOWLEDGE_REFERENCED: { status: 409, title: 'Agents list this knowledge base' },
  KNOWLEDGE_UNAVAILABLE: { status: 409, title: 'No knowledge base can be searched' },
  KNOWLEDGE_UNKNOWN: { status: 422, title: 'An agent lists a knowledge base that does not exist' },
  JSON_TOO_DEEP: { status: 400, title: 'The JSON is nested too deeply' },
  LIMIT_INVALID: { status: 422, title: 'A limit is not valid' },
  MCP_PARAM_UNKNOWN: { status: 422, title: 'A binding names a parameter that the agent does not declare' },
  MCP_PROTOCOL_ERROR: { status: 502, title: 'The MCP server broke the protocol or its bounds' },
  MCP_REQUEST_REFUSED: { status: 409, title: 'The MCP server asked for something that is refused' },
  MCP_SERVER_UNAVAILABLE: { status: 503, retryable: true, title: 'The MCP server cannot be reached' },
  MCP_SERVER_UNKNOWN: { status: 422, title: 'No such MCP server' },
  MCP_TOOL_COLLISION: { status: 422, title: 'Two tools of MCP servers share a name' },
  MCP_TOOL_FAILED: { status: 502, title: 'The tool of the MCP server failed' },
  MEDIA_TYPE_UNSUPPORTED: { status: 422, title: 'Files of this type are not taken' },
  MEMORY_CONFLICT: { status: 409, title: 'Somebody else wrote this block' },
  MEMORY_FULL: { status: 409, title: 'The memory is full' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'The method is not allowed here' },
  MISSING_AGENT_PARAMETER: { status: 422, title: 'A trusted parameter is missing' },
  MODEL_CALL_FAILED: { status: 502, retryable: true, title: 'The model could not be called' },
  MODEL_CONTEXT_EXCEEDED: { status: 422, title: 'The request is longer than the model can read' },
  MODEL_OUTPUT_LIMIT: { status: 502, title: 'The reply ended at its limit before it said anything' },
  MODEL_REFUSED: { status: 502, title: 'The model refused to answer' },
  MODEL_REPLY_INVALID: { status: 502, title: 'The model gave no usable reply' },
  MODEL_UNKNOWN: { status: 422, title: 'No such model' },
  NAME_TAKEN: { status: 422, title: 'Two things share a name' },
  NOT_ALLOWED: { status: 409, title: 'The tool is denied to the principal of the run' },
  NOT_FOUND: { status: 404, title: 'Not found' },
  OUTCOME_UNKNOWN: { status: 500, title: 'It is unknown whether the effect happened' },
  PARAM_FIXED: { status: 422, title: 'The parameters of a conversation are fixed at its start' },
  PARAM_MISSING: { status: 422, title: 'A parameter is missing' },
  PARAM_NAME_RESERVED: { status: 422, title: 'The parameter name is reserved' },
  PARAM_TYPE: { status: 422, title: 'A parameter has the wrong type' },
  PARAM_TYPE_CLASH: { status: 422, title: 'Two agents give one parameter different types' },
  PARAM_UNKNOWN: { status: 422, title: 'No agent declares this parameter' },
  PLAN_LIMIT: { status: 409, title: 'The plan was revised too often' },
  PARENT_NOT_ALLOWED: { status: 422, title: 'The agent may not be listed by this parent' },
  PROTOCOL_ENDS_MISMATCH: { status: 422, title: 'The two ends of a protocol do not fit' },
  PROTOCOL_INVALID: { status: 422, title: 'The protocol is not valid' },
  PROTOCOL_REFERENCED: { status: 409, title: 'Agents speak this protocol' },
  PROTOCOL_UNKNOWN: { status: 422, title: 'No such protocol' },
  PROTOCOL_VIOLATION: { status: 409, title: 'The message is out of order' },
  QUERY_FAILED: { status: 422, title: 'The query failed' },
  QUERY_NOT_READ_ONLY: { status: 422, title: 'The query is not a single SELECT' },
  QUERY_PARAM_UNCOVERED: { status: 422, title: 'A placeholder of the query has no value' },
  QUERY_TIMEOUT: { status: 422, title: 'The query took too long' },
  QUESTION_EXPIRED: { status: 410, title: 'The question has expired' },
  REMOTE_CARD_INVALID: { status: 502, title: 'The card of the remote cannot be used' },
  REMOTE_FAILED: { status: 502, title: 'The remote failed' },
  REMOTE_KEY_CHANGED: { status: 409, title: 'Another key signed the card of the remote' },
  REMOTE_UNREACHABLE: { status: 502, retryable: true, title: 'The remote cannot be reached' },
  GUARDRAIL_INVALID: { status: 422, title: 'A guardrail cannot be used' },
  GUARDRAIL_REFUSED: { status: 409, title: 'A guardrail refused it' },
  HOOK_MISSING: { status: 409, title: 'This process lacks a hook of the agent' },
  HOOK_REFUSED: { status: 409, title: 'A hook refused it' },
  REFLECTION_FAILED: { status: 409, title: 'The answer could not be criticised or revised' },
  REVISION_MISMATCH: { status: 412, title: 'Somebody changed it meanwhile' },
  RUN_ACTIVE: { status: 409, title: 'A run is active' },
  RUN_CANCELLED: { status: 409, title: 'The run was cancelled' },
  RUN_FINISHED: { status: 409, title: 'The run has ended' },
  RUN_INPUT_INVALID: { status: 400, title: 'The input of the run is not valid' },
  RUNTIME_CLOSED: { status: 503, retryable: true, title: 'The runtime is closed' },
  RUN_QUARANTINED: { status: 500, title: 'The run broke its worker too often' },
  SCHEMA_TOO_NEW: { status: 503, retryable: true, title: 'The store was written by a newer version' },
  SOURCE_UNKNOWN: { status: 422, title: 'No such source' },
  STORE_LOCKED: { status: 503, title: 'Another process uses the store' },
  STORE_UNAVAILABLE: { status: 503, retryable: true, title: 'The store cannot be written' },
  STORE_UNREACHABLE: { status: 503, retryable: true, title: 'The store cannot be reached' },
  TASK_FINISHED: { status: 409, title: 'The task has ended' },
  TOOL_ARGS_INVALID: { status: 422, title: 'The arguments of the tool are not valid' },
  TOOL_FAILED: { status: 500, title: 'The tool failed' },
  TOOL_NAME_TOO_LONG: { status: 422, title: 'The name of a tool is too long' },
  TOOL_NOT_TRIABLE: { status: 422, title: 'A tool of this kind does not run alone' },
  TOOL_TIMEOUT: { status: 504, title: 'The tool took too long' },
  TOO_MANY_TASKS: { status: 429, title: 'The caller has too many open tasks' },
  TOOL_UNKNOWN: { status: 422, title: 'No such tool' },
  UNAUTHENTICATED: { status: 401, title: 'No valid token' },
  TRANSFER_REFUSED: { status: 409, title: 'The hand-over was refused' },
  UNKNOWN_KEY: { status: 422, title: 'Unknown key' },
  URL_NOT_PUBLIC: { status: 422, title: 'The URL does not lead to a public address over HTTPS' },
  USER_UNAVAILABLE: { status: 409, title: 'The person cannot be asked now' },
  USER_LEFT: { status: 409, title: 'The person has left' },
  USER_UNKNOWN: { status: 422, title: 'No such person' },
  WORKFLOW_PARAM_UNBOUND: { status: 422, title: 'Nobody supplies a parameter of a workflow step' },
} as const satisfies Record<string, ErrorMeaning>

/** The closed set of codes. */
export type ErrorCode = keyof typeof table

/** The codes whose HTTP status is this one. */
export type CodeOfStatus<Status extends number> = {
  [Code in ErrorCode]: (typeof table)[Code]['status'] extends Status ? Code : never
}[ErrorCode]

/** The meaning of each code; no other place knows an HTTP status. */
export const errorTable: Readonly<Record<ErrorCode, ErrorMeaning>> = table

/** The shape of an error over HTTP (RFC 9457) and inside results; `path` points into the input, `hint` says what to do next. */
export interface Problem {
  readonly type: string
  readonly code: ErrorCode
  readonly title: string
  readonly detail: string
  readonly path: string | null
  readonly hint: string | null
  readonly requestId?: string
}

/** Everything about an error but its code and detail. */
export interface ErrorOptions {
  /** Where in the input, such as `limits.maxIterations`. */
  readonly path?: string
  /** What the reader of the error should do next. */
  readonly hint?: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

const mark = Symbol.for('witan.error')

/**
 * The one public error. It is thrown for refused input and broken infrastructure; expected trouble is data. Never contains
 * a hidden value.
 */
export class WitanError extends Error {
  readonly code: ErrorCode
  readonly path: string | null
  readonly hint: string | null
  readonly details: Readonly<Record<string, unknown>>
  readonly [mark] = true

  constructor(code: ErrorCode, detail: string, options: ErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'WitanError'
    this.code = code
    this.path = options.path ?? null
    this.hint = options.hint ?? null
    this.details = options.details ?? {}
  }

  /** Whether the same request may succeed later without a change. */
  get retryable(): boolean {
    return errorTable[this.code].retryable ?? false
  }
}

/** A trusted parameter has no value from a caller or author [R42]. */
export class MissingAgentParameterError extends WitanError {
  constructor(detail: string, options: ErrorOptions = {}) {
    super('MISSING_AGENT_PARAMETER', detail, options)
    this.name = 'MissingAgentParameterError'
  }
}

/** A delegation went deeper than `maxDepth` allows [F36]. */
export class MaxSubAgentDepthError extends WitanError {
  constructor(detail: string, options: ErrorOptions = {}) {
    super('DEPTH_EXCEEDED', detail, options)
    this.name = 'MaxSubAgentDepthError'
  }
}

/** Recognises a `WitanError` of any copy of this package. */
export function isWitanError(value: unknown): value is WitanError {
  return typeof value === 'object' && value !== null && mark in value
}

/** The error as data. Anything other than a `WitanError` becomes `INTERNAL`, without its text. */
export function toProblem(error: unknown): Problem {
  if (!isWitanError(error)) return problem('INTERNAL', 'An unexpected error happened; the log of the server has it.')
  return problem(error.code, error.message, { path: error.path, hint: error.hint })
}

/** Builds a problem from a code and a detail. */
export function problem(
  code: ErrorCode,
  detail: string,
  at: { path?: string | null; hint?: string | null } = {},
): Problem {
  const type = `https://witan.dev/errors/${code.toLowerCase().replaceAll('_', '-')}`
  return { type, code, title: errorTable[code].title, detail, path: at.path ?? null, hint: at.hint ?? null }
}
