/** What users need to test their own agents: a scripted model, counted ids, and a clock that the test advances. */
export type {
  FinishedCall,
  Rule,
  ScriptedAnswer,
  ScriptedCall,
  ScriptedModel,
  ScriptedModelOptions,
  ScriptedReply,
} from './testing/scripted-model.ts'
export {
  call,
  finishedCalls,
  lastUserMessage,
  scriptedModel,
  systemText,
  toolResults,
  turns,
  when,
} from './testing/scripted-model.ts'
export { messageOrderProblem } from './testing/message-order.ts'
export { recordModel, replayModel } from './testing/recorded-model.ts'
export type { Ids } from './identity/ids.ts'
export { countedIds } from './identity/ids.ts'
export type { Clock } from './identity/clock.ts'
export type {
  FaultKind,
  FaultRates,
  FaultyMethod,
  FaultyStore,
  FaultyStoreOptions,
  FiredFault,
} from './testing/faulty-store.ts'
export { faultyStore } from './testing/faulty-store.ts'
export type { Fault, FaultHandler, FaultPoint } from './identity/fault-point.ts'
export { armFaults, faultPointNames, readFaults } from './identity/fault-point.ts'
export type { LaterSchema } from './testing/later-schema.ts'
export { learnLaterSchema, schemaVersions } from './testing/later-schema.ts'
