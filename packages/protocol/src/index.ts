/** The words of log and wire: types, ids, errors. The schemas that validate them are in `@witan/protocol/schemas`. */

// ids
export type { DatabaseId } from './id.ts'
export {
  agentIdPattern,
  conversationIdPattern,
  conversationPrefixPattern,
  toolNamePattern,
} from './id.ts'

// errors
export type { ErrorCode, ErrorOptions, Problem } from './error.ts'
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
  Query,
  ReasoningEffort,
  StoredAgent,
  User,
  ProviderOptions,
} from './agent.ts'
export type { CheckReport, MatrixRow } from './check-report.ts'
export type { SubAgentEdge } from './edge-schema.ts'
export type { Finding } from './finding.ts'
export type { Trim } from './trim.ts'
export type { GivenParameter, Parameter } from './parameter.ts'
export type { ParameterType, ParameterValue } from './parameter-type.ts'

// conversations, runs, documents
export type {
  ArtificialAction,
  CallNode,
  Conversation,
  ConversationLine,
  ConversationRequest,
  DetailLevel,
  Document,
  Prompt,
  RunLine,
  RunRequest,
  RunResult,
  RunState,
  StartedConversation,
} from './conversation.ts'
export type { Interruption, InterruptionKind, InterruptionState, Question } from './interruption.ts'
export type { Task, TaskProgress, TaskReply, TaskStatus } from './task.ts'

// events and usage
export type { FinishReason } from './entry-sets.ts'
export type { AnyEvent, Event, EventOf, EventPage } from './event.ts'
export type { Usage, UsageCounters } from './usage.ts'
