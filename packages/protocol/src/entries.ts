/** The words of the log: what entries carry, and the table that says which reader sees what of them. */

export type {
  AgentEndBody,
  AgentStartBody,
  AnsweredCall,
  AnswerTerms,
  CallOverrides,
  CallPlace,
  Entry,
  EntryContent,
  ErrorBody,
  LoggedToolCall,
  MessageBody,
  ModelEndBody,
  NoticeBody,
  RequiredBody,
  ResolvedBody,
  SummaryBody,
  TaskBody,
  TaskGrant,
  ToolStartBody,
} from './entry.ts'
export { readersOf } from './entry.ts'
export type { EntryKind, EntryType, NoticeCode } from './event.ts'
export type { ModelUsage } from './counters.ts'
export { addCounters, addModelCall, emptyCounters, roundCost } from './counters.ts'
