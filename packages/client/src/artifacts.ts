/** Artifacts over HTTP, as plain calls: the files that agents made, and what each was made from. */
import type { Artifact } from '@witan/protocol/entries'
import { eachItem, type Page, type PageQuery } from './page.ts'
import { segment, type Transport } from './transport.ts'

/** Which artifacts of a conversation: of one run, of one agent, or all. */
interface ArtifactQuery extends PageQuery {
  readonly run?: string
  readonly agent?: string
}

/** Artifacts by id. */
export interface Artifacts {
  /** Those of one conversation, in the order in which they were made. */
  list(conversationId: string, query?: ArtifactQuery): Promise<Page<Artifact>>
  all(conversationId: string, query?: ArtifactQuery): AsyncGenerator<Artifact, void, undefined>
  get(artifactId: string): Promise<Artifact>
  /** The content. Its bytes can be read as they come: `body`, `arrayBuffer()` or `text()`. */
  content(artifactId: string, options?: { readonly signal?: AbortSignal }): Promise<Response>
}

/** The artifact calls over one transport. */
export function artifactCalls(transport: Transport): Artifacts {
  const at = (artifactId: string) => `/api/v1/artifacts/${segment(artifactId)}`
  const list = (conversationId: string, query: ArtifactQuery = {}): Promise<Page<Artifact>> =>
    transport.json('GET', `/api/v1/conversations/${segment(conversationId)}/artifacts`, { query: { ...query } })
  return {
    list,
    all: (conversationId, query) => eachItem((page) => list(conversationId, { ...query, ...page }), query),
    get: (artifactId) => transport.json('GET', at(artifactId)),
    content: (artifactId, options = {}) =>
      transport.open('GET', `${at(artifactId)}/content`, { headers: { accept: '*/*' }, signal: options.signal }),
  }
}
