/** A connection to an MCP server as the protocol's library sees it, and as the rest of this folder does. */
import type { Transport } from '@modelcontextprotocol/client'
import type { Clock } from '../identity/clock.ts'
import type { Inbox } from './inbox.ts'
import type { ServerLog } from './lines-log.ts'
import { type Hide, McpError } from './trouble.ts'

/** A transport that says why it ended. */
export interface Wire extends Transport {
  readonly inbox: Inbox
  /** Why it ended; null while it works. */
  readonly ended: McpError | null
  /** Ends it with a reason. What waits for an answer fails with it. */
  end(reason: McpError): void
  /** Ends it, and resolves when everything behind it has ended. */
  close(): Promise<void>
}

/** What every kind of wire needs. */
export interface WireOf {
  readonly clock: Clock
  readonly hide: Hide
  readonly log: ServerLog
  listChanged(): void
}

/** The end of a wire that this side has closed. */
export const disconnected = new McpError('lost', 'was disconnected.')

/** Resolves after a time, without keeping the process alive. */
export function later(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve, { background: true }))
}

/** Resolves when something has settled, or after a time, for which the process stays alive. */
export function within(clock: Clock, ms: number, done: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, resolve)
    const end = () => {
      cancel()
      resolve()
    }
    done.then(end, end)
  })
}
