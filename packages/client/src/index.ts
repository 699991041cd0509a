/** The client of a Witan server, for browsers and Node. */

// client
export type { Client, ClientOptions } from './client.ts'
export { createClient } from './client.ts'
export type { Timing } from './timing.ts'

// conversation
export type { Chat, ChatOptions, ChatResult, ChatRunOptions } from './chat.ts'
export type { ActionHandler, ActionReceiver, ActionRequest, HandlerErrors } from './handlers.ts'
export type { RunStream } from './stream.ts'

// a view of its events
export type { ConversationFold } from './conversation-fold.ts'
export { createConversationFold } from './conversation-fold.ts'
export { speakersOf } from './speakers.ts'
export type {
  Asked,
  CallNotice,
  CallState,
  CallView,
  ChatMessage,
  ConversationView,
  Tokens,
  Reasoned,
  TaskMessage,
} from './conversation-view.ts'

// files of a prompt
export type { AttachOptions } from './attach.ts'
export { attach } from './attach.ts'
export type { FilePart } from '@witan/protocol/files'

// resources
export type { AgentGraph, Agents, AgentToSave } from './agents.ts'
export type {
  ConversationQuery,
  Conversations,
  DocumentQuery,
  Documents,
  EventQuery,
  InterruptionQuery,
  Interruptions,
  QuestionAnswers,
  Questions,
  Runs,
  StartOptions,
  StartRequest,
} from './conversations.ts'
export type { InterruptionAnswer } from '@witan/protocol/schemas'
export type { Page, PageQuery } from './page.ts'
export type { Tasks, TaskWords } from './tasks.ts'
export type {
  DirectRunRequest,
  Edge,
  IfMatch,
  NewSubAgent,
  SubAgents,
} from './sub-agents.ts'
export type { Knowledge } from './knowledge.ts'
export type { Revisions } from './revisions.ts'
export type { Tools } from './tools.ts'

// errors
export type { ClientErrorCode } from './error.ts'
export { ClientError } from './error.ts'
export { isWitanError, WitanError } from '@witan/protocol'
