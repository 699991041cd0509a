/** Model calls over HTTP, as plain calls: what each model was asked, and who read an entry. */
import type { EntryReaders, ModelCall, ModelCallLine } from '@witan/protocol/schemas'
import { eachItem, type Page, type PageQuery } from './page.ts'
import { conversationSegment, segment, type Transport } from './transport.ts'

/** Which model calls of a conversation: of one run, of one agent's call, of one document, or all. */
interface ModelCallQuery extends PageQuery {
  readonly run?: string
  readonly call?: string
  readonly document?: string
}

/** The model calls of conversations. For the roles `admin` and `read`; others get `NOT_FOUND`. */
export interface ModelCalls {
  /** In the order of the log, without what was asked and replied; those under way come last. */
  list(conversationId: string, query?: ModelCallQuery): Promise<Page<ModelCallLine>>
  all(conversationId: string, query?: ModelCallQuery): AsyncGenerator<ModelCallLine, void, undefined>
  /** What the model got and what it replied. Of one longer than 4 MiB the oldest messages are left out, and `leftOut` counts them. */
  get(conversationId: string, id: string): Promise<ModelCall>
  /** Which models read the entry with that seq. */
  readers(conversationId: string, seq: number): Promise<EntryReaders['items']>
}

/** The calls about model calls over one transport. */
export function modelCallCalls(transport: Transport): ModelCalls {
  const at = (id: string) => `/api/v1/conversations/${conversationSegment(id)}`
  const list = (id: string, query: ModelCallQuery = {}): Promise<Page<ModelCallLine>> =>
    transport.json('GET', `${at(id)}/model-calls`, { query: { ...query } })
  return {
    list,
    all: (id, query) => eachItem((page) => list(id, { ...query, ...page }), query),
    get: (id, call) => transport.json('GET', `${at(id)}/model-calls/${segment(call)}`),
    readers: async (id, seq) =>
      (await transport.json<EntryReaders>('GET', `${at(id)}/readers`, { query: { seq } })).items,
  }
}
