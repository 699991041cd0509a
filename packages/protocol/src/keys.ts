/** The vocabulary of API keys, principals and databases. */

export type { ApiKey, CreatedKey, KeyRequest, KeyRequestData, PrincipalView } from './key.ts'
export { databaseNamePattern } from './id.ts'
