/** The context of one principal's methods. */
import type { DatabaseId } from '@witan/protocol'
import type { Principal } from '../identity/principal.ts'
import type { Parts } from './wiring.ts'

/** The principal and its runtime. `database` is the principal's; `ready` resolves when the runtime has started. */
export interface Scope {
  readonly parts: Parts
  readonly principal: Principal
  readonly database: DatabaseId
  readonly ready: () => Promise<void>
}
