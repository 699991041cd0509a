/** The audit on the wire: who changed what an administrator may change, and when. */
import { z } from 'zod'

/** How a principal was known: an API key, a token, this machine, the code of the program, or an import of a file. */
export const changeVias = ['key', 'token', 'local', 'code', 'import'] as const
export type ChangeVia = (typeof changeVias)[number]

/** What can be changed. A workflow is an agent; a database is what an import fills; a remote key is the one that is kept of a remote. */
export const auditKinds = ['agent', 'protocol', 'knowledge', 'key', 'database', 'signing-key', 'remote-key'] as const
export type AuditKind = (typeof auditKinds)[number]

/** What was done. A key is revoked, a database gets an import. */
export const auditActions = ['create', 'change', 'delete', 'revoke', 'import'] as const
export type AuditAction = (typeof auditActions)[number]

/**
 * One change. `by` is a principal's id. `name` is the id of an agent or a key, the id of a knowledge base, the name of a protocol or a database, the
 * thumbprint of a signing key, or the remote whose key is kept. `before` and `after` are revisions; null where there is none: before a creation, after a deletion, and for what has no revisions.
 */
export const auditEntrySchema = z.object({
  id: z.string(),
  at: z.string(),
  by: z.string(),
  via: z.enum(changeVias),
  kind: z.enum(auditKinds),
  name: z.string(),
  action: z.enum(auditActions),
  before: z.number().int().nullable(),
  after: z.number().int().nullable(),
})
/** One change in the audit. It holds no values: neither of a key nor of a definition. */
export type AuditEntry = z.infer<typeof auditEntrySchema>
