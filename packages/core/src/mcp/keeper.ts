/** Keeps one open connection to an MCP server: makes it when it is needed, and waits longer after each try that fails. */
import { isWitanError } from '@witan/protocol'
import { type Connection, type ConnectOf, connect } from './connect.ts'
import { McpError, seconds } from './trouble.ts'

/** An open connection, and the calls on it. */
export interface Open {
  readonly connection: Connection
  calls: number
  /** Whether it ends after its last call. */
  isLeft: boolean
}

/** What keeps the connection of a link. */
export interface Keeper {
  /** The connection, if there is one that works. */
  current(): Open | null
  /** The connection; made if there is none. Rejects with an `McpError`, at once if it is too early for the next try. */
  connected(deadline: AbortSignal): Promise<Open>
  /** Gives a connection up; it ends after its calls, or at once. */
  drop(which: Open, options?: { readonly now: boolean }): void
  /** Counts a call as under way, until the returned function is called. */
  enter(which: Open): () => void
  /** Notes that a try failed, and why. */
  failed(cause: unknown): McpError
  succeeded(): void
  /** Why the last try failed. */
  error(): McpError | null
  /** The next try is made at once, over a new connection. */
  renew(): void
  close(options: { readonly now: boolean }): Promise<void>
}

/** What a keeper needs: how to connect, and what to tell. */
export type KeeperOf = Omit<ConnectOf, 'listChanged'> & {
  listChanged(): void
  report(error: unknown): void
}

const longestPauseMs = 60_000

/** Creates a keeper, which connects to nothing yet. */
export function createKeeper(of: KeeperOf): Keeper {
  let open: Open | null = null
  let opening: Promise<Open> | null = null
  const tries = createTries(of)
  const closing = new AbortController()
  const ending = new Set<Promise<void>>()

  const end = ({ connection }: Open): void => {
    const ended: Promise<void> = connection.wire
      .close()
      .catch(of.report)
      .finally(() => ending.delete(ended))
    ending.add(ended)
  }
  const drop = (which: Open, { now } = { now: false }): void => {
    if (open === which) open = null
    if (!which.isLeft && (now || which.calls === 0)) end(which)
    which.isLeft = true
  }
  const current = (): Open | null => {
    if (open !== null && open.connection.wire.ended !== null) drop(open)
    return open
  }
  const begin = async (deadline: AbortSignal): Promise<Open> => {
    const made: Open = {
      connection: await connect(of, AbortSignal.any([deadline, closing.signal])),
      calls: 0,
      isLeft: false,
    }
    if (closing.signal.aborted) {
      drop(made)
      throw closed()
    }
    open = made
    return made
  }
  return {
    current,
    drop,
    failed: tries.failed,
    succeeded: tries.succeeded,
    error: tries.error,
    enter(which) {
      which.calls += 1
      return () => {
        which.calls -= 1
        if (which.isLeft && which.calls === 0) end(which)
      }
    },
    connected(deadline) {
      const found = current()
      if (found !== null) return Promise.resolve(found)
      if (closing.signal.aborted) return Promise.reject(closed())
      if (opening !== null) return opening
      const early = tries.early()
      if (early !== null) return Promise.reject(early)
      const made: Promise<Open> = begin(deadline)
        .catch((cause: unknown) => {
          throw tries.failed(cause)
        })
        .finally(() => {
          if (opening === made) opening = null
        })
      opening = made
      return made
    },
    renew() {
      if (open !== null) drop(open)
      opening = null
      tries.succeeded()
    },
    async close({ now }) {
      closing.abort(closed())
      if (open !== null) drop(open, { now })
      await opening?.catch(() => {})
      while (ending.size > 0) await Promise.all(ending)
    },
  }
}

/** The tries to connect: after each that fails, the next must wait longer. */
function createTries({ clock, report }: KeeperOf) {
  let error: McpError | null = null
  let failures = 0
  let retryAt = 0
  return {
    error: () => error,
    early: () => (error !== null && clock.now() < retryAt ? new McpError('unavailable', error.message) : null),
    failed(cause: unknown): McpError {
      if (!(cause instanceof McpError) && !isWitanError(cause)) report(cause)
      error = asMcpError(cause)
      failures += 1
      retryAt = clock.now() + Math.min(longestPauseMs, 1000 * 2 ** Math.min(failures - 1, 10))
      return error
    },
    succeeded(): void {
      error = null
      failures = 0
      retryAt = 0
    },
  }
}

function closed(): McpError {
  return new McpError('unavailable', 'is closed.')
}

/** An error in words for a caller. What is none of the protocol's is reported elsewhere. */
export function asMcpError(cause: unknown): McpError {
  if (cause instanceof McpError) return cause
  const why = isWitanError(cause) ? ` ${cause.message} ${cause.hint ?? ''}` : ''
  return new McpError('unavailable', `cannot be connected to.${why}`.trim())
}

/** A limit of time, and what ends it before. */
interface Deadline {
  readonly signal: AbortSignal
  cancel(): void
}

/** A limit for connecting and the first list together. */
export function startDeadline({ settings, clock }: Pick<ConnectOf, 'settings' | 'clock'>): Deadline {
  const limit = new AbortController()
  const { connectTimeoutMs: ms } = settings
  const late = () => limit.abort(new McpError('unavailable', `was not ready within ${seconds(ms)}.`))
  return { signal: limit.signal, cancel: clock.after(ms, late, { background: true }) }
}
