/** The options of the HTTP application. */
import type { Principal, Runtime } from '@witan/core'
import type { Hono } from 'hono'
import type { Auth } from './auth.ts'
import type { Federation } from './federation-config.ts'
import type { RequestOrigin, HostPolicy } from './host.ts'
import type { Log } from './log.ts'

/** The runtime, the checks and the files that the application uses. */
export interface AppOptions {
  readonly runtime: Runtime
  readonly auth: Auth
  readonly hosts: HostPolicy
  readonly log: Log
  readonly stop: StopSignals
  /** Our names and limits towards other servers; without them nothing is published. */
  readonly federation?: Federation
  /** Reads JSON of another server within the limits of outgoing requests; absent: none can be reached. */
  readonly fetchJson?: (url: string) => Promise<unknown>
  /** The folder of the built Studio. */
  readonly studio: URL
}

/** How a server ends: `streams` end first, so that their readers reconnect elsewhere; requests that wait go on until `waits`. */
export interface StopSignals {
  readonly streams: AbortSignal
  readonly waits: AbortSignal
}

/** The environment of one request. `outgoing` exists only behind a socket; `principal` only behind the check of who asks. */
export interface AppEnv {
  Bindings: { readonly outgoing?: { destroy(): void } }
  Variables: { requestId: string; principal?: Principal; requestOrigin?: RequestOrigin }
}

export type App = Hono<AppEnv>
