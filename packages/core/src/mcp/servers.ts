/** The MCP servers of a configuration, and their connections: one for each session, made when it is first needed. */
import { type Clock, systemClock } from '../identity/clock.ts'
import type { McpFailure, McpServers, McpSession, McpSettings } from '../tool/mcp/mcp.ts'
import type { Known } from './connect.ts'
import { closePools, createPools, type HttpPools } from './http-request.ts'
import { createLedger, type Ledger, ledgerFolder } from './ledger.ts'
import { knownOf, withHeaders } from './known.ts'
import { createLink, type Link } from './link.ts'
import { failureOf, McpError } from './trouble.ts'

/** What connections take from the runtime. */
interface McpServersOptions {
  readonly clock?: Clock
  /** Takes trouble that no caller is told of, such as a folder that cannot be written to. */
  report(error: unknown): void
  /** Takes what servers write for people: short lines that begin with the server's name, at most 20 a second each. */
  log?(line: string): void
  /** The folder of the record of processes. Default: one of this user's own in the folder for temporary files. */
  readonly folder?: string
}

/** How long a connection is kept that only one conversation, or one caller's headers, can use. */
const restMs = 300_000
/** The most connections to one server. */
const mostLinks = 256

interface Kept {
  readonly session: McpSession
  readonly link: Link
  /** When it was used last. */
  usedAt: number
  cancel(): void
}

interface Server {
  readonly settings: McpSettings
  readonly known: Known
  readonly links: Map<string, Kept>
}

/** Creates the servers. Nothing is loaded, read or started before the first `list` or `call`. */
export function mcpServers(settings: ReadonlyMap<string, McpSettings>, options: McpServersOptions): McpServers {
  const links = createLinks(settings, options)
  const base = (name: string): McpSession => ({ server: name, headers: {}, conversation: null })
  return {
    settings,
    known: (session) => links.find(session)?.known() ?? null,
    async list(session, signal) {
      signal.throwIfAborted()
      const link = links.get(session)
      return 'kind' in link ? link : link.list(signal)
    },
    async call(of) {
      const link = links.get(of.session)
      return 'kind' in link ? link : link.call(of)
    },
    standing: (name) => links.find(base(name))?.standing() ?? { state: 'idle', list: null, error: null },
    async refresh(name, signal) {
      signal.throwIfAborted()
      const link = links.get(base(name))
      if ('kind' in link) return link
      links.forget(name)
      link.forget({ reconnect: true })
      return link.list(signal)
    },
    close: links.close,
  }
}

/** The links of all servers. */
interface Links {
  find(session: McpSession): Link | null
  /** Made if there is none, unless there are too many. */
  get(session: McpSession): Link | McpFailure
  /** All lists of a server are asked for again, and so is what it speaks. */
  forget(server: string): void
  close(): Promise<void>
}

function createLinks(
  settings: ReadonlyMap<string, McpSettings>,
  { clock = systemClock, report, log = () => {}, folder }: McpServersOptions,
): Links {
  let made: { readonly pools: HttpPools; readonly ledger: Ledger } | null = null
  const shared = () => {
    made ??= { pools: createPools(), ledger: createLedger({ folder: folder ?? ledgerFolder(), clock, report }) }
    return made
  }
  const servers = new Map<string, Server>()
  const leaving = new Set<Promise<void>>()
  let isClosed = false
  const serverOf = (name: string, own: McpSettings): Server => {
    const known = () => knownOf(own, { clock, log, pools: shared().pools })
    const server = servers.get(name) ?? { settings: own, known: known(), links: new Map<string, Kept>() }
    servers.set(name, server)
    return server
  }
  const end = ({ links }: Server, key: string, now = false): void => {
    const kept = links.get(key)
    if (kept === undefined) return
    links.delete(key)
    kept.cancel()
    const ended: Promise<void> = kept.link
      .close({ now })
      .catch(report)
      .finally(() => leaving.delete(ended))
    leaving.add(ended)
  }
  const rest = (server: Server, key: string, kept: Kept): void => {
    kept.usedAt = clock.now()
    kept.cancel()
    kept.cancel = () => {}
    if (isBase(server, kept.session) || !kept.link.isIdle() || server.links.get(key) !== kept) return
    kept.cancel = clock.after(restMs, () => end(server, key), { background: true })
  }
  return {
    find: (session) => servers.get(session.server)?.links.get(keyOf(session))?.link ?? null,
    get(session) {
      const away = (why: string) => failureOf(session.server, new McpError('unavailable', why))
      const own = settings.get(session.server)
      if (own === undefined) return away('is not configured.')
      if (isClosed) return away('is closed.')
      const server = serverOf(session.server, own)
      const key = keyOf(session)
      const found = server.links.get(key)
      if (found !== undefined) return found.link
      if (server.links.size >= mostLinks && !endOldest(server, (old) => end(server, old))) return away(busy)
      const known = withHeaders(server.known, session)
      const used = () => rest(server, key, kept)
      const link = createLink({ settings: own, session, known, clock, report, used, ...shared() })
      const kept: Kept = { session, link, usedAt: clock.now(), cancel: () => {} }
      server.links.set(key, kept)
      return link
    },
    forget(name) {
      const server = servers.get(name)
      if (server === undefined) return
      server.known.isLegacy = false
      for (const { link } of server.links.values()) link.forget({ reconnect: false })
    },
    async close() {
      isClosed = true
      for (const server of servers.values()) for (const key of server.links.keys()) end(server, key, true)
      while (leaving.size > 0) await Promise.all(leaving)
      if (made !== null) closePools(made.pools)
    },
  }
}

const busy = `has ${mostLinks} connections in use.`

/** Whether a connection is everybody's, and kept. */
function isBase({ settings }: Server, { headers, conversation }: McpSession): boolean {
  return settings.scope === 'process' && conversation === null && Object.keys(headers).length === 0
}

/** Sessions that differ in anything differ in this. */
function keyOf({ server, headers, conversation }: McpSession): string {
  const sorted = Object.entries(headers).sort(([one], [other]) => (one < other ? -1 : 1))
  return JSON.stringify([server, sorted, conversation])
}

/** Ends the connection that has rested longest. Returns false if all are in use. */
function endOldest({ links }: Server, end: (key: string) => void): boolean {
  let oldest: { readonly key: string; readonly usedAt: number } | null = null
  for (const [key, { link, usedAt }] of links)
    if (link.isIdle() && (oldest === null || usedAt < oldest.usedAt)) oldest = { key, usedAt }
  if (oldest === null) return false
  end(oldest.key)
  return true
}
