/** What the HTTP application is given. */
import type { Runtime } from '@witan/core'
import type { Hono } from 'hono'
import type { Auth } from './auth.ts'
import type { HostPolicy } from './host.ts'
import type { Log } from './log.ts'

/** What the application stands on. */
export interface AppOptions {
  readonly runtime: Runtime
  readonly auth: Auth
  readonly hosts: HostPolicy
  readonly log: Log
  readonly stop: StopSignals
  /** Where the built Studio lies. */
  readonly studio: URL
}

/** How a server ends: `streams` end first, so that their readers reconnect elsewhere; requests that wait go on until `waits`. */
export interface StopSignals {
  readonly streams: AbortSignal
  readonly waits: AbortSignal
}

/** What the application knows of one request beside it. `outgoing` is there only behind a socket. */
export interface AppEnv {
  Bindings: { readonly outgoing?: { destroy(): void } }
  Variables: { requestId: string }
}

export type App = Hono<AppEnv>
