/** Conversations, documents, runs and interruptions over HTTP, as plain calls. */
import type {
  Conversation,
  ConversationLine,
  ConversationRequest,
  DetailLevel,
  Document,
  EventPage,
  GivenParameter,
  Interruption,
  InterruptionState,
  RunLine,
  RunState,
  StartedConversation,
} from '@witan/protocol'
import type { Exchange } from '@witan/protocol/protocols'
import type { InterruptionAnswer } from '@witan/protocol/schemas'
import { eachItem, type Page, type PageQuery } from './page.ts'
import { type ModelCalls, modelCallCalls } from './model-calls.ts'
import { type Participants, participantCalls } from './participants.ts'
import { conversationSegment, keyHeader, segment, type Transport } from './transport.ts'

/** Which conversations: of one agent, or those that a search finds. A page of a search may be short and still have a cursor. */
export type ConversationQuery = PageQuery & { readonly agent?: string; readonly search?: string }

/** Starts a conversation, or continues the one with that `id`. */
export type StartRequest = Partial<Omit<ConversationRequest, 'agent' | 'parameters'>> & {
  readonly agent: string
  readonly parameters?: Readonly<Record<string, GivenParameter>>
}

/** How a start is sent. */
export interface StartOptions {
  readonly signal?: AbortSignal
  /** 1 to 255 characters; default: a new key for each call. */
  readonly idempotencyKey?: string
}

/** Which events: those after the seq `from`; all with `verbose`, only one call's subtree with `call`; only one branch with `branch`, such as `panel.0`. */
export interface EventQuery {
  readonly from?: number
  readonly verbose?: boolean
  readonly call?: string
  readonly branch?: string
}

/** Conversations as rows; `client.conversation()` talks in one. */
export interface Conversations {
  list(query?: ConversationQuery): Promise<Page<ConversationLine>>
  all(query?: ConversationQuery): AsyncGenerator<ConversationLine, void, undefined>
  get(id: string): Promise<Conversation>
  /** Deletes it with all its documents; its event streams end. */
  delete(id: string): Promise<void>
  /** A new one with the same log up to `seq`, over all documents; `FORK_OPEN_CALLS` where a call is open there [Rb55]. */
  fork(id: string, request: { readonly seq: number; readonly id?: string }): Promise<Conversation>
  /** The content of a file that a message has, by its digest. */
  file(id: string, digest: string): Promise<Blob>
  /** Starts one; with a `prompt` it waits for the run. A repeat under the same `idempotencyKey` starts no second one. */
  start(request: StartRequest, options?: StartOptions): Promise<StartedConversation>
  /**
   * Everything that a replay of it needs, as JSON lines, without hidden values: for admins. Its bytes can be read as they come: `body`,
   * or `text()`.
   */
  export(id: string, options?: { readonly signal?: AbortSignal }): Promise<Response>
  /** Who takes part. */
  readonly participants: Participants
  /** What its models were asked. */
  readonly modelCalls: ModelCalls
  /** One page of stored events, without waiting for new ones. */
  events(id: string, query?: EventQuery & { readonly limit?: number }): Promise<EventPage>
}

/** A page of a document's messages. At most one of `before`, `after` and `cursor` says where it begins; without one, it has the newest messages. */
export interface DocumentQuery {
  /** Exclusive dates. */
  readonly before?: string
  readonly after?: string
  /** `olderCursor` or `newerCursor` of another page of the document. */
  readonly cursor?: string
  readonly limit?: number
  readonly detail?: DetailLevel
}

/** Conversation documents: what one agent on one path has said and seen. */
export interface Documents {
  get(path: string, query?: DocumentQuery): Promise<Document>
  /**
   * Every message once, page after page: oldest first, from `after` or the beginning; or with `before` newest first,
   * back to the beginning. Oldest first, messages that are added meanwhile come at the end.
   */
  messages(
    path: string,
    query?: Omit<DocumentQuery, 'cursor'>,
  ): AsyncGenerator<Document['messages'][number], void, undefined>
}

/** Runs: those of a conversation, and each by its id. */
export interface Runs {
  /** One page of the runs of a conversation, the newest first. */
  list(conversationId: string, query?: PageQuery): Promise<Page<RunLine>>
  /** Every run of a conversation, page after page. */
  all(conversationId: string, query?: PageQuery): AsyncGenerator<RunLine, void, undefined>
  get(runId: string): Promise<RunState>
  /** What its peers said to each other by their protocols, and what broke one. */
  exchanges(runId: string): Promise<readonly Exchange[]>
  /** Who said what to whom, as lines of text or in the notation of Mermaid; default `mermaid`. */
  diagram(runId: string, options?: { readonly format?: 'text' | 'mermaid' }): Promise<string>
  /** Asks the run to stop; `RUN_FINISHED` if it has ended. With `tasks`, its background tasks stop too. */
  cancel(runId: string, options?: { readonly tasks?: boolean }): Promise<void>
}

/** Interruptions: calls that wait for an answer. */
export interface Interruptions {
  list(query?: InterruptionQuery): Promise<Page<Interruption>>
  all(query?: InterruptionQuery): AsyncGenerator<Interruption, void, undefined>
  /** Answers one; the run goes on by itself. An identical repeat is accepted, any other gives `ALREADY_ANSWERED`. */
  answer(id: string, body: InterruptionAnswer): Promise<Interruption>
}

/** Chosen options and texts, by question id. */
export type QuestionAnswers = Readonly<Record<string, { readonly options?: readonly string[]; readonly text?: string }>>

/** Questions that agents ask [F29]. */
export interface Questions {
  /** Answers one by its interruption's id; `ANSWER_INVALID` names the allowed ids. Anything but a question is `NOT_FOUND`. */
  respond(id: string, answer: QuestionAnswers): Promise<Interruption>
}

/** Which interruptions: by state (the server's default is `open`) and by who must answer. */
export type InterruptionQuery = PageQuery & { readonly state?: InterruptionState; readonly addressee?: string }

/** Not only JSON. */
const any = { headers: { accept: '*/*' } }

/** The conversation calls over one transport. */
export function conversationCalls(transport: Transport): Conversations {
  const list = (query: ConversationQuery = {}): Promise<Page<ConversationLine>> =>
    transport.json('GET', '/api/v1/conversations', { query: { ...query } })
  const at = (id: string) => `/api/v1/conversations/${conversationSegment(id)}`
  return {
    list,
    all: (query = {}) => eachItem((page) => list({ ...query, ...page }), query),
    get: (id) => transport.json('GET', at(id)),
    delete: (id) => transport.json('DELETE', at(id)),
    file: async (id, digest) => (await transport.open('GET', `${at(id)}/files/${segment(digest)}`, any)).blob(),
    fork: (id, request) => transport.json('POST', `${at(id)}/fork`, { body: request }),
    start: (request, { signal, idempotencyKey } = {}) =>
      transport.json('POST', '/api/v1/conversations', { body: request, signal, headers: keyHeader(idempotencyKey) }),
    export: (id, { signal } = {}) => transport.open('GET', `${at(id)}/export`, { ...any, signal }),
    participants: participantCalls(transport),
    modelCalls: modelCallCalls(transport),
    events: (id, query = {}) => transport.json('GET', `${at(id)}/events`, { query: { ...query } }),
  }
}

/** The document calls over one transport. */
export function documentCalls(transport: Transport): Documents {
  const get = (path: string, query: DocumentQuery = {}): Promise<Document> => {
    const raw = path.split('/').map(segment).join('/')
    return transport.json('GET', `/api/v1/documents/${raw}`, { query: { ...query } })
  }
  return { get, messages: (path, query = {}) => eachMessage((page) => get(path, page), query) }
}

/** Older than any message, whatever clock has dated it. */
const firstDate = '0001-01-01'

async function* eachMessage(
  read: (query: DocumentQuery) => Promise<Document>,
  { before, after, ...page }: Omit<DocumentQuery, 'cursor'>,
): AsyncGenerator<Document['messages'][number], void, undefined> {
  const isBack = before !== undefined
  const start = isBack ? { before, ...(after === undefined ? {} : { after }) } : { after: after ?? firstDate }
  for (let query: DocumentQuery | null = start; query !== null; ) {
    const { messages, olderCursor, newerCursor }: Document = await read({ ...page, ...query })
    yield* isBack ? messages.toReversed() : messages
    const cursor: string | null = isBack ? olderCursor : newerCursor
    query = cursor === null ? null : { cursor }
  }
}

/** The run calls over one transport. */
export function runCalls(transport: Transport): Runs {
  const list = (id: string, query: PageQuery = {}): Promise<Page<RunLine>> =>
    transport.json('GET', `/api/v1/conversations/${conversationSegment(id)}/runs`, { query: { ...query } })
  const at = (runId: string) => `/api/v1/runs/${segment(runId)}`
  return {
    list,
    all: (id, query) => eachItem((page) => list(id, page), query),
    get: (runId) => transport.json('GET', at(runId)),
    exchanges: async (runId) =>
      (await transport.json<{ exchanges: Exchange[] }>('GET', `${at(runId)}/exchanges`)).exchanges,
    diagram: async (runId, query = {}) =>
      (await transport.open('GET', `${at(runId)}/diagram`, { ...any, query: { ...query } })).text(),
    cancel: (runId, { tasks = false } = {}) => transport.json('POST', `${at(runId)}/cancel`, { body: { tasks } }),
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
