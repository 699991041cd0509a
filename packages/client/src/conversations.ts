/** Conversations, documents, runs and interruptions over HTTP, as plain calls. */
import type {
  Conversation,
  ConversationRequest,
  DetailLevel,
  Document,
  EventPage,
  GivenParameter,
  Interruption,
  InterruptionState,
  RunState,
  StartedConversation,
} from '@witan/protocol'
import { eachItem, type Page, type PageQuery } from './page.ts'
import { conversationSegment, segment, type Transport } from './transport.ts'

/** One line of the list of conversations. */
export type ConversationLine = Omit<Conversation, 'interruptions' | 'tasks' | 'runs'>

/** What starts a conversation, or goes on with the one of that `id`. */
export type StartRequest = Partial<Omit<ConversationRequest, 'agent' | 'parameters'>> & {
  readonly agent: string
  readonly parameters?: Readonly<Record<string, GivenParameter>>
}

/** Which events: those after the seq `from`; all with `verbose`, only one call's subtree with `call`. */
export interface EventQuery {
  readonly from?: number
  readonly verbose?: boolean
  readonly call?: string
}

/** Conversations as rows; `client.conversation()` talks in one. */
export interface Conversations {
  list(query?: PageQuery & { readonly agent?: string }): Promise<Page<ConversationLine>>
  all(query?: PageQuery & { readonly agent?: string }): AsyncGenerator<ConversationLine, void, undefined>
  get(id: string): Promise<Conversation>
  /** Deletes it with all its documents; its event streams end. */
  delete(id: string): Promise<void>
  /** A new one with the same log up to `seq`, over all documents; `FORK_OPEN_CALLS` where a call is open there [Rb55]. */
  fork(id: string, request: { readonly seq: number; readonly id?: string }): Promise<Conversation>
  /** Starts one; with a `prompt` it waits for the run. */
  start(request: StartRequest, options?: { readonly signal?: AbortSignal }): Promise<StartedConversation>
  /** One page of stored events, without waiting for new ones. */
  events(id: string, query?: EventQuery & { readonly limit?: number }): Promise<EventPage>
}

/** A part of a document's messages. `before` and `after` are exclusive dates and exclude each other. */
export interface DocumentQuery {
  readonly before?: string
  readonly after?: string
  readonly limit?: number
  readonly detail?: DetailLevel
}

/** Conversation documents: what one agent on one path has said and seen. */
export interface Documents {
  get(path: string, query?: DocumentQuery): Promise<Document>
}

/** Runs by id. */
export interface Runs {
  get(runId: string): Promise<RunState>
  /** Asks the run to stop; `RUN_FINISHED` if it has ended. With `tasks`, its background tasks stop too. */
  cancel(runId: string, options?: { readonly tasks?: boolean }): Promise<void>
}

/** An answer to an interruption; for an action also the reason why there is none. */
export type AnswerBody = { readonly answer: unknown } | { readonly error: string }

/** Calls that wait for somebody. */
export interface Interruptions {
  list(query?: InterruptionQuery): Promise<Page<Interruption>>
  all(query?: InterruptionQuery): AsyncGenerator<Interruption, void, undefined>
  /** Answers one; the run goes on by itself. An identical repeat is accepted, any other gives `ALREADY_ANSWERED`. */
  answer(id: string, body: AnswerBody): Promise<Interruption>
}

/** What is chosen and written, by the ids of the questions. */
export type QuestionAnswers = Readonly<Record<string, { readonly options?: readonly string[]; readonly text?: string }>>

/** Questions that agents ask [F29]. */
export interface Questions {
  /** Answers one by its interruption's id; `ANSWER_INVALID` names the allowed ids. Anything but a question is `NOT_FOUND`. */
  respond(id: string, answer: QuestionAnswers): Promise<Interruption>
}

/** Which interruptions: by state (the server's default is `open`) and by who must answer. */
export type InterruptionQuery = PageQuery & { readonly state?: InterruptionState; readonly addressee?: string }

/** The conversation calls over one transport. */
export function conversationCalls(transport: Transport): Conversations {
  const list = (query: PageQuery & { readonly agent?: string } = {}): Promise<Page<ConversationLine>> =>
    transport.json('GET', '/api/v1/conversations', { query: { ...query } })
  const at = (id: string) => `/api/v1/conversations/${conversationSegment(id)}`
  return {
    list,
    all: (query = {}) => eachItem((page) => list({ ...query, ...page }), query),
    get: (id) => transport.json('GET', at(id)),
    delete: (id) => transport.json('DELETE', at(id)),
    fork: (id, request) => transport.json('POST', `${at(id)}/fork`, { body: request }),
    start: (request, options = {}) => transport.json('POST', '/api/v1/conversations', { ...options, body: request }),
    events: (id, query = {}) => transport.json('GET', `${at(id)}/events`, { query: { ...query } }),
  }
}

/** The document call over one transport. */
export function documentCalls(transport: Transport): Documents {
  return {
    get: (path, query = {}) => {
      const raw = path.split('/').map(segment).join('/')
      return transport.json('GET', `/api/v1/documents/${raw}`, { query: { ...query } })
    },
  }
}

/** The run calls over one transport. */
export function runCalls(transport: Transport): Runs {
  return {
    get: (runId) => transport.json('GET', `/api/v1/runs/${segment(runId)}`),
    cancel: (runId, { tasks = false } = {}) =>
      transport.json('POST', `/api/v1/runs/${segment(runId)}/cancel`, { body: { tasks } }),
  }
}

/** The question call over one transport. */
export function questionCalls(transport: Transport): Questions {
  return {
    respond: (id, answer) => transport.json('POST', `/api/v1/questions/${segment(id)}/respond`, { body: { answer } }),
  }
}

/** The interruption calls over one transport. */
export function interruptionCalls(transport: Transport): Interruptions {
  const list = (query: InterruptionQuery = {}): Promise<Page<Interruption>> =>
    transport.json('GET', '/api/v1/interruptions', { query: { ...query } })
  return {
    list,
    all: (query = {}) => eachItem((page) => list({ ...query, ...page }), query),
    answer: (id, body) => transport.json('POST', `/api/v1/interruptions/${segment(id)}/answer`, { body }),
  }
}
