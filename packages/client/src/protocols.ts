/** Protocols over HTTP: list, read, save, delete. */
import type { ProtocolInput, StoredProtocol } from '@witan/protocol/protocols'
import { eachItem, type Page, type PageQuery } from './page.ts'
import { type Revisions, revisionCalls } from './revisions.ts'
import { revisionHeader, segment, type Transport } from './transport.ts'

/** A protocol to save. A stored one may be sent back as it is: what the store adds, such as its `revision`, is ignored. */
export type ProtocolToSave = ProtocolInput & Partial<Omit<StoredProtocol, keyof ProtocolInput>>

/** The protocols of the database that the token picks. */
export interface Protocols {
  /** One page. */
  list(query?: PageQuery): Promise<Page<StoredProtocol>>
  /** Every protocol, page after page. */
  all(query?: PageQuery): AsyncGenerator<StoredProtocol, void, undefined>
  get(name: string): Promise<StoredProtocol>
  /** Creates or replaces. With `ifMatch` only if the stored revision is that one, else `REVISION_MISMATCH`. Never sent twice. */
  save(protocol: ProtocolToSave, options?: { readonly ifMatch?: number }): Promise<StoredProtocol>
  /** Deletes; `PROTOCOL_REFERENCED` while an agent speaks it. */
  delete(name: string): Promise<void>
  readonly revisions: Revisions<StoredProtocol>
}

/** The protocol calls over one transport. */
export function protocolCalls(transport: Transport): Protocols {
  const list = (query: PageQuery = {}): Promise<Page<StoredProtocol>> =>
    transport.json('GET', '/api/v1/protocols', { query: { ...query } })
  const at = (name: string) => `/api/v1/protocols/${segment(name)}`
  return {
    list,
    all: (query) => eachItem(list, query),
    get: (name) => transport.json('GET', at(name)),
    save: (protocol, { ifMatch } = {}) =>
      transport.json('PUT', at(protocol.name), { body: protocol, headers: revisionHeader(ifMatch) }),
    delete: (name) => transport.json('DELETE', at(name)),
    revisions: revisionCalls(transport, at),
  }
}
