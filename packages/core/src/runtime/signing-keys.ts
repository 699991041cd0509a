/** The keys that this server signs with, once the runtime is ready. */
import { createOwnKeys, type OwnKeys } from '../federation/own-keys.ts'
import type { Parts } from './wiring.ts'

/** The keys of the store. Every method waits until the runtime is ready. */
export function signingKeys({ store }: Parts, ready: () => Promise<void>): OwnKeys {
  const keys = createOwnKeys(store)
  return {
    list: () => ready().then(() => keys.list()),
    rotate: () => ready().then(() => keys.rotate()),
  }
}
