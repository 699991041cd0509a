/** The audit: one record for each change of an agent, a protocol, a knowledge base or a key, stored in the transaction of the change. */
import type { AuditAction, AuditKind } from '@witan/protocol/keys'
import { type AgentChange, baseOfRowId, nameOfProtocol } from '../agent/records.ts'
import type { Changed } from '../identity/changed.ts'
import { randomId } from '../identity/ids.ts'
import { type Addition, addition, defineRecord } from './record.ts'

/** The declaration. `before` and `after` are revisions. */
export const auditTable = defineRecord({
  name: 'audit',
  since: 14,
  columns: {
    at: 'integer',
    by: 'text',
    via: 'text',
    kind: 'text',
    name: 'text',
    action: 'text',
    before: 'integer?',
    after: 'integer?',
  },
  filters: ['kind', 'name', 'by'],
})

/** What was done to one object. */
interface Deed {
  readonly kind: AuditKind
  readonly name: string
  readonly action: AuditAction
  readonly before?: number | null
  readonly after?: number | null
}

/** The record of one change. */
export function auditOf({ at, by, via }: Changed, { before = null, after = null, ...deed }: Deed): Addition {
  return addition(auditTable, { id: randomId(), at, by, via, ...deed, before, after })
}

/** The records of changes of definitions. */
export function auditOfDefinitions(changed: Changed, changes: readonly AgentChange[]): Addition[] {
  return changes.map(({ id, ifRevision, row }) => {
    return auditOf(changed, {
      ...namedIn(id),
      action: row === null ? 'delete' : ifRevision === 0 ? 'create' : 'change',
      before: ifRevision === 0 ? null : ifRevision,
      after: row?.revision ?? null,
    })
  })
}

function namedIn(id: string): Pick<Deed, 'kind' | 'name'> {
  const protocol = nameOfProtocol(id)
  if (protocol !== null) return { kind: 'protocol', name: protocol }
  const base = baseOfRowId(id)
  return base === null ? { kind: 'agent', name: id } : { kind: 'knowledge', name: base }
}
