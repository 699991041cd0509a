/** What one session has at an MCP server: its list of tools, and its calls. */
import type { McpAnswer, McpCall, McpFailure, McpList, McpStanding } from '../tool/mcp/mcp.ts'
import { callTool } from './call.ts'
import { asMcpError, createKeeper, type Keeper, type KeeperOf, type Open, startDeadline } from './keeper.ts'
import { listTools } from './list.ts'
import { failureOf, McpError } from './trouble.ts'

/** A session at its server. */
export interface Link {
  known(): McpList | null
  /** Rejects with the reason of the signal alone. */
  list(signal: AbortSignal): Promise<McpList | McpFailure>
  call(call: McpCall): Promise<McpAnswer>
  standing(): McpStanding
  /** The tools must be asked for again. With `reconnect`, over a new connection, which is tried at once. */
  forget(options: { readonly reconnect: boolean }): void
  /** Whether nothing is under way. */
  isIdle(): boolean
  /** Ends the connection, once nothing is under way; with `now`, at once. */
  close(options: { readonly now: boolean }): Promise<void>
}

type LinkOf = Omit<KeeperOf, 'listChanged'> & {
  /** Called whenever something begins or ends on the link. */
  used(): void
}

/** Creates a link. */
export function createLink(of: LinkOf): Link {
  const { name } = of.settings
  const lists = createLists(of.clock)
  const keeper = createKeeper({ ...of, listChanged: lists.changed })
  let listing: Promise<McpList> | null = null
  let waiting = 0
  const busy = async <Made>(work: () => Promise<Made>): Promise<Made> => {
    waiting += 1
    of.used()
    try {
      return await work()
    } finally {
      waiting -= 1
      of.used()
    }
  }
  const failure = (cause: unknown): McpFailure => failureOf(name, asMcpError(cause))
  const known = (): McpList | null => lists.get(keeper.current())
  const list = async (signal: AbortSignal): Promise<McpList | McpFailure> => {
    const found = known()
    if (found !== null) return found
    if (listing === null) {
      const made: Promise<McpList> = askList(of, keeper, lists).finally(() => {
        if (listing === made) listing = null
      })
      listing = made
    }
    return unlessAborted(listing.catch(failure), signal, () => signal.reason)
  }
  return {
    known,
    list: (signal) => busy(() => list(signal)),
    call: (call) => busy(() => answer(of, { keeper, known }, call).catch(failure)),
    standing() {
      const open = keeper.current()
      const error = keeper.error()
      const list = lists.last()
      if (error !== null) return { state: 'failed', list, error: failureOf(name, error).detail }
      return { state: open === null ? 'idle' : 'ready', list, error: null }
    },
    forget({ reconnect }) {
      lists.changed()
      listing = null
      if (reconnect) keeper.renew()
    },
    isIdle: () => waiting === 0,
    close: (options) => keeper.close(options),
  }
}

/** The list of the tools, while it holds. */
interface Lists {
  /** Of a connection. */
  get(open: Open | null): McpList | null
  /** Keeps one, unless there was a change since it was asked for. `ttlMs`: for how long; null for no limit. */
  keep(list: McpList, options: { readonly by: Open; readonly since: number; readonly ttlMs: number | null }): void
  /** The list that it had last, whether it holds or not. */
  last(): McpList | null
  /** Raised by each change. */
  version(): number
  changed(): void
}

function createLists(clock: LinkOf['clock']): Lists {
  let kept: { readonly list: McpList; readonly until: number; readonly by: Open } | null = null
  let last: McpList | null = null
  let version = 0
  return {
    last: () => last,
    get: (open) => (kept !== null && kept.by === open && clock.now() < kept.until ? kept.list : null),
    keep(list, { by, since, ttlMs }) {
      const until = ttlMs === null ? Number.POSITIVE_INFINITY : clock.now() + ttlMs
      last = list
      if (since === version) kept = { list, until, by }
    },
    version: () => version,
    changed() {
      version += 1
      kept = null
    },
  }
}

/** Asks for the list. A server that does not list in time is connected to anew, later. */
async function askList(of: LinkOf, keeper: Keeper, lists: Lists): Promise<McpList> {
  const { signal, cancel } = startDeadline(of)
  try {
    for (let round = 0; ; round++) {
      const by = await keeper.connected(signal)
      const since = lists.version()
      const leave = keeper.enter(by)
      try {
        const { list, ttlMs } = await listTools(by.connection, of.known, signal)
        keeper.succeeded()
        lists.keep(list, { by, since, ttlMs })
        return list
      } catch (cause) {
        keeper.drop(by)
        if (round === 0 && cause instanceof McpError && cause.isUnsent) continue
        throw keeper.failed(cause)
      } finally {
        leave()
      }
    }
  } finally {
    cancel()
  }
}

/** Calls a tool. What cannot have been done is tried once more, over a new connection. */
async function answer(
  of: LinkOf,
  { keeper, known }: { readonly keeper: Keeper; known(): McpList | null },
  call: McpCall,
): Promise<McpAnswer> {
  for (let round = 0; ; round++) {
    const { signal, cancel } = startDeadline(of)
    const cancelled = () => new McpError('failed', 'was not asked: the call is cancelled.')
    const open = await unlessAborted(keeper.connected(signal), call.signal, cancelled).finally(cancel)
    const leave = keeper.enter(open)
    of.known.learn(call.hidden)
    try {
      const definition = known()?.tools.find(({ name }) => name === call.tool) ?? null
      const {
        settings,
        clock,
        known: { hide },
      } = of
      const made = await callTool(open.connection, call, { settings, clock, hide, definition })
      keeper.succeeded()
      return made
    } catch (cause) {
      const isUnsent = cause instanceof McpError && cause.isUnsent
      if (isUnsent) keeper.drop(open)
      if (!isUnsent || round > 0) throw cause
    } finally {
      leave()
    }
  }
}

/** What somebody waits for, or an error as soon as his signal says so. */
function unlessAborted<Made>(work: Promise<Made>, signal: AbortSignal, reason: () => unknown): Promise<Made> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(reason())
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    const done = () => signal.removeEventListener('abort', abort)
    work.then(resolve, reject).then(done, done)
  })
}
