/** The audit of one principal's database, as an administrator reads it. */
import { WitanError } from '@witan/protocol'
import type { AuditEntry, AuditKind } from '@witan/protocol/keys'
import { auditEntrySchema } from '@witan/protocol/schemas'
import { auditTable } from '../store/audit.ts'
import type { RecordRow } from '../store/record.ts'
import type { Page, PageOptions } from './page.ts'
import { rowPage } from './page.ts'
import type { Scope } from './scope.ts'

/** Which changes a list wants: of one kind of object, of one object, by one principal; without any, all. */
export interface AuditQuery extends PageOptions {
  readonly kind?: AuditKind
  /** The id of an agent or a key, or the name of a protocol or a database. */
  readonly name?: string
  /** The id of a principal. */
  readonly by?: string
}

/** A page of changes, the latest first. For everybody but an admin there are none. */
export async function listAudit({ parts, principal, database }: Scope, query: AuditQuery): Promise<Page<AuditEntry>> {
  if (!principal.roles.includes('admin'))
    throw new WitanError('NOT_FOUND', 'There is no audit here.', { hint: 'It is for the role `admin`.' })
  const { kind, name, by, ...options } = query
  const where = {
    ...(kind === undefined ? {} : { kind }),
    ...(name === undefined ? {} : { name }),
    ...(by === undefined ? {} : { by }),
  }
  const read = (page: Parameters<Parameters<typeof rowPage>[1]>[0]) =>
    parts.store.listRecords(database, auditTable, { ...page, where })
  return rowPage(options, read, { item: entryOf, id: ({ id }) => id })
}

function entryOf({ at, ...row }: RecordRow<typeof auditTable>): AuditEntry {
  return auditEntrySchema.parse({ ...row, at: new Date(at).toISOString() })
}
