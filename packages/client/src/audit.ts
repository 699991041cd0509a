/** Who changed what in a server's database, over HTTP. */
import type { AuditEntry, AuditKind } from '@witan/protocol/keys'
import type { Page, PageQuery } from './page.ts'
import type { Transport } from './transport.ts'

/** Which changes: of one kind of object, of one object, by one principal; without any, all. */
export interface AuditQuery extends PageQuery {
  readonly kind?: AuditKind
  /** The id of an agent or a key, or the name of a protocol or a database. */
  readonly name?: string
  /** The id of a principal, such as `user:anna`. */
  readonly by?: string
}

/** A page of changes, the latest first. */
export function listAudit(transport: Transport, query: AuditQuery): Promise<Page<AuditEntry>> {
  return transport.json('GET', '/api/v1/audit', { query: { ...query } })
}
