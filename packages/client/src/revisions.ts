/** The revisions of agents and of protocols over HTTP. */
import type { RevisionLine } from '@witan/protocol/tools'
import { eachItem, type Page, type PageQuery } from './page.ts'
import type { Transport } from './transport.ts'

/** The revisions of one kind of definition, the newest first. */
export interface Revisions<Stored> {
  /** One page: who made each, when, and which keys it changed. */
  list(id: string, query?: PageQuery): Promise<Page<RevisionLine>>
  /** Every revision, page after page. */
  all(id: string, query?: PageQuery): AsyncGenerator<RevisionLine, void, undefined>
  /** One of them, whole. */
  get(id: string, revision: number): Promise<Stored>
}

/** The revisions of the definition whose address `at` gives. */
export function revisionCalls<Stored>(transport: Transport, at: (id: string) => string): Revisions<Stored> {
  const list = (id: string, query: PageQuery = {}): Promise<Page<RevisionLine>> =>
    transport.json('GET', `${at(id)}/revisions`, { query: { ...query } })
  return {
    list,
    all: (id, query) => eachItem((page) => list(id, page), query),
    get: (id, revision) => transport.json('GET', `${at(id)}/revisions/${revision}`),
  }
}
