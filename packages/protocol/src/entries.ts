/** The log's vocabulary: what entries contain, and the table that says what each reader sees of them. */

export type {
  AgentEndBody,
  AgentStartBody,
  AnsweredMessage,
  AnsweredCall,
  AnswerTerms,
  CallOverrides,
  CallPlace,
  CheckpointBody,
  Entry,
  EntryView,
  EntryContent,
  ErrorBody,
  ExchangeEnds,
  ExchangeMessage,
  ExchangeStanding,
  MemoryBody,
  MessageBody,
  QuotedPassage,
  RememberedBlock,
  RetrievalBody,
  ParticipantBody,
  RequiredBody,
  ResolvedBody,
  RunPrincipal,
  SummaryBody,
  TaskBody,
  TaskGrant,
  ToolEndBody,
  ToolStartBody,
  TransferBody,
} from './entry.ts'
export type { CritiqueBody, GuardDecision, GuardedPart, HookBody } from './entry-checks.ts'
export type { KeptParts, LoggedToolCall, ModelEndBody, ModelErrorBody } from './entry-model.ts'
export type { AgentChain, CallBudget, IncomingCall, ProvenEvidence, RemoteAnswer } from './entry-elsewhere.ts'
export type {
  EntryKind,
  EntryType,
  GuardEffect,
  GuardPoint,
  HookEffect,
  HookPoint,
  ModelPurpose,
  NoticeCode,
  Verdict,
} from './entry-sets.ts'
export type { Guardrail, GuardrailAction, GuardrailSide } from './guardrail-schema.ts'
export { hookPoints, verdicts } from './entry-sets.ts'
export { hookNamePattern } from './id.ts'
export type { PlanBody } from './plan.ts'
export type { ListedServer, ListedTool, ToolsBody } from './mcp.ts'
export type { NoticeBody, NoticeFacts, NoticeOf } from './notice.ts'
export type { Artifact, ArtifactBody, ShownPlace } from './artifact.ts'
export { artifactIdPattern, artifactLimits, artifactOf, artifactProblem } from './artifact.ts'
export type { ToolMode, Workflow } from './agent.ts'
export { cardBytes, mostCardBytes, type RemoteAgent, type Speaks, type TransferEdge } from './edge-schema.ts'
export type { Writable } from './entry.ts'
export { callerOf } from './caller.ts'
export { authorKindOf } from './event.ts'
export { entryProblem } from './entry-schema.ts'
export { plainDetail, quotesProvider, withoutProviderWords } from './provider-words.ts'
export { readersOf } from './readers.ts'
export { definitionsIn } from './definitions-in.ts'
export type { EmbeddingUse, ModelUsage } from './counters.ts'
export { embeddingsIn } from './embeddings-in.ts'
export {
  addCounters,
  addEmbeddings,
  addModelCall,
  addRemoteUsage,
  addSpentElsewhere,
  emptyCounters,
  roundCost,
} from './counters.ts'
