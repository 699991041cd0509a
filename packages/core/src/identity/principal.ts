/** The caller of a request. */
import type { DatabaseId } from '@witan/protocol'

/** What a principal may do: change agents, run, answer, or only read. */
export type Role = 'admin' | 'run' | 'answer' | 'read'

/**
 * A caller within one database. `id` is for example `user:anna` or `key:ab12`. Role names other than `Role` matter only for
 * access lists.
 */
export interface Principal {
  readonly database: DatabaseId
  readonly id: string
  readonly roles: readonly (Role | (string & {}))[]
  /** Where the caller is reached, such as `@anna@example.com`, as the key or the token says; null without one. It grants nothing. */
  readonly address: string | null
}

/** The one principal of local and unauthenticated use: it has every role on the database `default`. */
export const localPrincipal: Principal = Object.freeze({
  database: 'default' as DatabaseId,
  id: 'user:local',
  roles: Object.freeze(['admin', 'run', 'answer', 'read'] as const),
  address: null,
})
