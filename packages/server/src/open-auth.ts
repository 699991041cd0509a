/** The authentication that a configuration asks for. */
import type { Runtime } from '@witan/core'
import { type Auth, createAuth } from './auth.ts'
import { createKeyAuth } from './auth-keys.ts'
import type { Config } from './config.ts'
import { jwtOf } from './auth-config.ts'
import type { Log } from './log.ts'

/** What an authentication works with. `token` is for mode `local`. */
export interface OpenAuthOptions {
  readonly runtime: Runtime
  readonly port: () => number
  readonly token?: string | undefined
  readonly log: Log
}

/** Creates the authentication of a server. In mode `keys` it logs if there is no key yet. Throws `STORE_UNAVAILABLE`. */
export async function openAuth({ auth }: Pick<Config, 'auth'>, options: OpenAuthOptions): Promise<Auth> {
  const { runtime, port, token, log } = options
  const { keyLookup } = runtime
  const jwt = jwtOf(auth)
  if (jwt !== null) {
    const { createJwtAuth } = await import('./auth-jwt.ts')
    return createJwtAuth({ ...jwt, now: () => keyLookup.now(), port })
  }
  if (auth.mode === 'none' || auth.mode === 'local') return createAuth(auth.mode, port, token)
  if (await keyLookup.isEmpty()) {
    const next = 'witan keys create --db default --role admin'
    log('warn', 'there is no API key yet, so nobody is let in: create one on the store', { next })
  }
  return createKeyAuth({ lookup: keyLookup, port, log })
}
