/** The schemas that validate what crosses the wire, and from which the OpenAPI document is made. */

// JSON that somebody else wrote
export type { ReadJson } from './json.ts'
export { isTooDeep, readingJson, readJson } from './json.ts'
export { jsonDepth, jsonExcess, jsonSize, maxJsonDepth, maxJsonSize } from './json-size.ts'

// what has passed a schema
export { isChecked, isParsed, markChecked, markParsed } from './checked.ts'

// agents
export { demandShape } from './demand-shape.ts'
export type { ErrorFinding, RefusalCode, WarningFinding } from './finding.ts'
export { findingSchema, warningCodes } from './finding.ts'
export type { SubAgentEdgeInput } from './edge-schema.ts'
export { cardSchema, namelessEdgeSchema, subAgentEdgeSchema } from './edge-schema.ts'
export {
  actionSchema,
  agentSchema,
  agentViewSchema,
  maxOutputTokensSchema,
  providerOptionsSchema,
  limitsSchema,
  querySchema,
  storedAgentSchema,
  userSchema,
} from './agent.ts'
export { callerRowSchema, checkReportSchema, matrixRowSchema } from './check-report.ts'
export {
  exchangesSchema,
  protocolMessageSchema,
  protocolOrderSchema,
  protocolSchema,
  storedProtocolSchema,
} from './peer-protocol.ts'
export type { StoredField } from './stored.ts'
export { withoutStored } from './stored.ts'
export { givenParameterSchema, parameterSchema } from './parameter.ts'
export { fitsType, reservedParameterNames, typeToJsonSchema } from './parameter-type.ts'

// who asks, and who changed what
export { auditEntrySchema } from './audit.ts'
export { apiKeySchema, createdKeySchema, keyRequestSchema, principalSchema } from './key.ts'

// conversations, runs, documents
export type {
  ConversationInput,
  ConversationParticipant,
  DirectRunInput,
  ParticipantRequest,
  RunInput,
} from './conversation.ts'
export {
  callNodeSchema,
  conversationLineSchema,
  conversationRequestSchema,
  conversationSchema,
  detailLevels,
  directRunBodySchema,
  directRunRequestSchema,
  documentSchema,
  forkRequestSchema,
  participantRequestSchema,
  participantSchema,
  runRequestSchema,
  runResultSchema,
  runLineSchema,
  runStateSchema,
  startedConversationSchema,
} from './conversation.ts'
export { artifactSchema } from './artifact.ts'
export { filePartSchema, fileReferenceSchema } from './file-schema.ts'
export type { OutsideCaller } from './caller.ts'
export type { InterruptionAnswer } from './interruption.ts'
export { interruptionSchema, interruptionStates, questionSchema } from './interruption.ts'
export { problemSchema } from './problem.ts'
export type { TaskMessageInput, TaskQuestion } from './task.ts'
export {
  taskMessageSchema,
  taskProgressSchema,
  taskQuestionSchema,
  taskReplySchema,
  taskSchema,
  taskStatuses,
} from './task.ts'

// events, model calls and usage
export { eventPageSchema, eventSchema } from './event.ts'
export type { EntryReaders, ModelCall, ModelCallLine } from './model-call.ts'
export { entryReadersSchema, modelCallLineSchema, modelCallSchema } from './model-call.ts'
export { usageCountersSchema, usageSchema } from './usage.ts'
export type { UsageDimension, UsageItem } from './usage.ts'
export { usageDimensions, usageItemSchema } from './usage.ts'
