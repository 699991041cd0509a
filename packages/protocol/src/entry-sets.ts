/** The closed sets that entries draw from: their types and kinds, the codes of notices, and how a run or a call may end. */

/** The closed set of entry types. `delta` is not in it: a delta is live only and has no seq [D8]. */
export const entryTypes = [
  'start',
  'end',
  'error',
  'message',
  'action_required',
  'question_required',
  'approval_required',
  'message_required',
  'policy_required',
  'resolved',
  'task',
  'notice',
  'summary',
  'cancel',
  'checkpoint',
  'transfer',
  'participant',
  'artifact',
  'retrieval',
  'memory',
  'plan',
  'critique',
  'hook',
  'tools',
] as const
export type EntryType = (typeof entryTypes)[number]
/** What a `start`, `end` or `error` is about. */
export type EntryKind = 'agent' | 'tool' | 'model' | null

/** What a model is asked for beside an answer. */
export const modelPurposes = ['summary', 'progress', 'output', 'critique'] as const
export type ModelPurpose = (typeof modelPurposes)[number]

/** What a critique says of an answer. */
export const verdicts = ['pass', 'revise'] as const
export type Verdict = (typeof verdicts)[number]

/** Where hooks are asked, in the order of a call. */
export const hookPoints = [
  'beforeRun',
  'beforeModel',
  'afterModel',
  'beforeTool',
  'onInterruption',
  'afterTool',
  'afterRun',
] as const
export type HookPoint = (typeof hookPoints)[number]

/** Where guardrails decide: as a call begins, as a message joins its work, once its model has replied, once that is its answer. */
export const guardPoints = ['beforeRun', 'joined', 'afterModel', 'answered'] as const
export type GuardPoint = (typeof guardPoints)[number]

/** What a guardrail did. `failed`: it could not decide, which refuses. */
export const guardEffects = ['refused', 'rewritten', 'flagged', 'failed'] as const
export type GuardEffect = (typeof guardEffects)[number]

/** What a hook did. `failed`: it threw, gave something else than an answer, or took too long. */
export const hookEffects = ['refused', 'rewritten', 'failed'] as const
export type HookEffect = (typeof hookEffects)[number]

/** Codes of `notice` entries: information for a person. `USAGE_INCOMPLETE` also marks the usage of its call, and no other changes any. */
export const noticeCodes = [
  'ARGUMENT_OVERRIDE_IGNORED',
  'ARGUMENT_UNKNOWN_DROPPED',
  'CHAIN_LOWERED',
  'CHAIN_MISSING',
  'DELEGATE_UNAVAILABLE',
  'EMBEDDING_FAILED',
  'EVIDENCE_DROPPED',
  'GUARDRAIL_HIT',
  'HIDDEN_VALUE_IN_TEXT',
  'HISTORY_NOT_TRIMMED',
  'KNOWLEDGE_FAILED',
  'KNOWLEDGE_UNAVAILABLE',
  'MCP_OUTPUT_MISMATCH',
  'MCP_PARAM_NOT_BOUND',
  'MCP_REQUEST_REFUSED',
  'MCP_SERVER_UNAVAILABLE',
  'MCP_TOOLS_LEFT_OUT',
  'MCP_TOOL_CHANGED',
  'MCP_TOOL_COLLISION',
  'MCP_TOOL_REFUSED',
  'MEMORY_WITHHELD',
  'MODEL_FALLBACK',
  'MODEL_RETRIED',
  'MODEL_WARNING',
  'PARAMETERS_HIDDEN',
  'PLAN_UNFINISHED',
  'PROTOCOL_UNFINISHED',
  'PROTOCOL_VIOLATION',
  'REFLECTION_SKIPPED',
  'REMOTE_FIELD_DROPPED',
  'REMOTE_UNSIGNED',
  'REPLY_PARTS_DROPPED',
  'RUN_RECOVERED',
  'TOOL_CALLS_REFUSED',
  'TOOL_CALL_MISSING',
  'TOOL_MODE_ENDED',
  'TOOL_UNAVAILABLE',
  'TRANSFER_IGNORED',
  'USAGE_INCOMPLETE',
] as const
export type NoticeCode = (typeof noticeCodes)[number]

/**
 * Codes of the `error` of a model call, which ended without a reply. `BUDGET_EXCEEDED` and `MODEL_UNKNOWN`: it was not made. `MODEL_CALL_LOST`: it was
 * cut off by a cancel, a failure, a time limit or the end of its process.
 */
export const modelErrorCodes = [
  'BUDGET_EXCEEDED',
  'MEDIA_TYPE_UNSUPPORTED',
  'MODEL_CALL_FAILED',
  'MODEL_CALL_LOST',
  'MODEL_CONTEXT_EXCEEDED',
  'MODEL_UNKNOWN',
] as const
export type ModelErrorCode = (typeof modelErrorCodes)[number]

/** How a run or an agent call ended. */
export const finishReasons = [
  'stop',
  'iteration_limit',
  'length',
  'content_filter',
  'cancelled',
  'error',
  'waiting',
] as const
export type FinishReason = (typeof finishReasons)[number]
