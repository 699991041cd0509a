/** The words of log and wire: types, ids, errors. The schemas that validate them are in `@witan/protocol/schemas`. */

// ids
export type { CallId, ConversationId, DatabaseId, InterruptionId } from './id.ts'
export {
  agentIdPattern,
  conversationIdPattern,
  conversationPrefixPattern,
  parameterNamePattern,
  toolNamePattern,
} from './id.ts'

// errors
export type { ErrorCode, ErrorMeaning, ErrorOptions, Problem } from './error.ts'
export {
  errorTable,
  isWitanError,
  MaxSubAgentDepthError,
  MissingAgentParameterError,
  problem,
  toProblem,
  WitanError,
} from './error.ts'

// agents and parameters
export type {
  Action,
  AgentData,
  AgentInput,
  CheckReport,
  Finding,
  Limits,
  MatrixRow,
  Query,
  ReasoningEffort,
  StoredAgent,
  SubAgentEdge,
  ToolMode,
} from './agent.ts'
export type { Trim } from './trim.ts'
export type { GivenParameter, Parameter } from './parameter.ts'
export type { ParameterType, ParameterValue } from './parameter-type.ts'

// conversations, runs, documents
export type {
  ArtificialAction,
  CallNode,
  Conversation,
  ConversationRequest,
  DetailLevel,
  Document,
  DocumentMessage,
  ForkRequest,
  Prompt,
  RunLine,
  RunRequest,
  RunResult,
  RunState,
  StartedConversation,
} from './conversation.ts'
export type { Interruption, InterruptionState } from './interruption.ts'
export type { Task } from './task.ts'

// events and usage
export type { Event, EventPage, FinishReason } from './event.ts'
export type { Usage, UsageCounters } from './usage.ts'
