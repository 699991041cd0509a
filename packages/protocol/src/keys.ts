/** The vocabulary of API keys, principals, databases, and changes of them. */

export type { AuditAction, AuditEntry, AuditKind, ChangeVia } from './audit.ts'
export { auditActions, auditKinds, changeVias } from './audit.ts'
export type { ApiKey, CreatedKey, KeyRequest, KeyRequestData, PrincipalView } from './key.ts'
export { databaseNamePattern } from './id.ts'
