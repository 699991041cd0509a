/** Connects to an MCP server: starts or reaches it, and finds out which version of the protocol it speaks. */
import { pathToFileURL } from 'node:url'
import type { Client } from '@modelcontextprotocol/client'
import type { Clock } from '../identity/clock.ts'
import type { McpList, McpSession, McpSettings } from '../tool/mcp/mcp.ts'
import { createHttpWire } from './http.ts'
import type { HttpPools } from './http-request.ts'
import type { Ledger } from './ledger.ts'
import type { ServerLog } from './lines-log.ts'
import { loadSdk, type Sdk } from './sdk.ts'
import { createStdioWire } from './stdio.ts'
import type { Tokens } from './token.ts'
import { errorOf, type Hide, McpError } from './trouble.ts'
import { disconnected, type Wire } from './wire.ts'

/** An open connection. */
export interface Connection {
  readonly client: Client
  readonly wire: Wire
  /** Whether it speaks 2026-07-28 or newer. */
  readonly isModern: boolean
  readonly hasTools: boolean
  readonly about: Omit<McpList, 'tools'>
}

/** What is known of a server beside its settings, for all of its connections. */
export interface Known {
  /** Whether it was seen to speak 2025 only. Some servers end when they are asked for more. */
  isLegacy: boolean
  readonly tokens: Tokens | null
  readonly hide: Hide
  /** Notes values of a call, which it might write for people. */
  learn(values: readonly string[]): void
  readonly log: ServerLog
}

/** What a connection is made of. */
export interface ConnectOf {
  readonly settings: McpSettings
  readonly session: McpSession
  readonly known: Known
  readonly clock: Clock
  readonly ledger: Ledger
  readonly pools: HttpPools
  /** The list of tools is no longer as it was. */
  listChanged(): void
}

const listenMs = 2_000
/** The library's own limits: those of a call are kept here. */
export const noLimitMs = 2_147_483_647

/** Connects. Rejects with an `McpError`, and with that of the deadline when it is over; nothing is left then. */
export async function connect(of: ConnectOf, deadline: AbortSignal): Promise<Connection> {
  const sdk = await loadSdk()
  const isLegacy = of.known.isLegacy
  try {
    return await attempt(sdk, of, { deadline, isLegacy })
  } catch (error) {
    const mayHaveEndedOfIt = of.settings.transport.type === 'stdio' && !isLegacy && !deadline.aborted
    if (!mayHaveEndedOfIt || !(error instanceof McpError) || error.reason !== 'lost') throw unavailable(error)
    const connection = await attempt(sdk, of, { deadline, isLegacy: true }).catch((again: unknown) => {
      throw unavailable(again)
    })
    of.known.isLegacy = true
    return connection
  }
}

/** What is lost before anything was asked for has done nothing. */
function unavailable(error: unknown): unknown {
  if (!(error instanceof McpError) || error.reason !== 'lost') return error
  return new McpError('unavailable', error.message, true)
}

interface Try {
  readonly deadline: AbortSignal
  readonly isLegacy: boolean
}

async function attempt(sdk: Sdk, of: ConnectOf, { deadline, isLegacy }: Try): Promise<Connection> {
  const { settings, known } = of
  const wire = wireFor(sdk, of)
  const client = clientFor(sdk, settings)
  const stop = () => wire.end(deadline.reason as McpError)
  if (deadline.aborted) throw deadline.reason
  deadline.addEventListener('abort', stop, { once: true })
  try {
    const timeout = settings.connectTimeoutMs
    await client.connect(wire, { timeout, ...(isLegacy ? { prior: { kind: 'legacy' } } : {}) })
    if (wire.ended !== null) throw wire.ended
    const isModern = client.getProtocolEra() === 'modern'
    const tools = client.getServerCapabilities()?.tools
    if (!isModern) known.isLegacy = true
    else if (tools?.listChanged === true) await listen(client, of)
    return { client, wire, isModern, hasTools: tools !== undefined, about: aboutOf(client) }
  } catch (error) {
    // The library closes what it could not connect.
    const isOwnEnd = wire.ended === null || wire.ended === disconnected
    const reason = isOwnEnd ? errorOf(error, known.hide) : wire.ended
    // A server that is slow to end holds nobody up.
    wire.close().catch(() => {})
    throw reason
  } finally {
    deadline.removeEventListener('abort', stop)
  }
}

function wireFor(sdk: Sdk, { settings, session, known, clock, ledger, pools, listChanged }: ConnectOf): Wire {
  const shared = { clock, hide: known.hide, log: known.log, listChanged }
  const { transport } = settings
  if (transport.type === 'stdio') return createStdioWire(transport, { ...shared, ledger })
  const headers = { ...lowered(transport.headers), ...lowered(session.headers) }
  return createHttpWire({ ...shared, sdk, pools, tokens: known.tokens, url: new URL(transport.url), headers })
}

function lowered(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function clientFor(sdk: Sdk, { roots, ask, connectTimeoutMs }: McpSettings): Client {
  const capabilities = {
    ...(roots.length > 0 ? { roots: {} } : {}),
    ...(ask ? { elicitation: { form: {}, url: {} } } : {}),
  }
  const client = new sdk.Client(
    { name: 'witan', version: '0.1.0' },
    {
      capabilities,
      // Half of the time is left for a server that answers nothing before it is greeted.
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.ceil(connectTimeoutMs / 2) } },
      inputRequired: { autoFulfill: false },
      // Schemas of a server are checked elsewhere, within bounds.
      jsonSchemaValidator: {
        getValidator: () => (input: unknown) => ({ valid: true, data: input as never, errorMessage: undefined }),
      },
    },
  )
  client.onerror = () => {}
  if (roots.length > 0) client.setRequestHandler('roots/list', () => ({ roots: rootsOf(roots) }))
  return client
}

/** Folders as the protocol names them. */
export function rootsOf(roots: readonly string[]): { uri: string }[] {
  return roots.map((root) => ({ uri: root.startsWith('file://') ? root : pathToFileURL(root).href }))
}

/** Asks to be told of changes. Without that, a list holds for as long as it says. */
async function listen(client: Client, { listChanged }: ConnectOf): Promise<void> {
  try {
    const { closed } = await client.listen({ toolsListChanged: true }, { timeout: listenMs })
    closed.then(listChanged).catch(() => {})
  } catch {
    // It refuses, or does not answer.
  }
}

function aboutOf(client: Client): Omit<McpList, 'tools'> {
  const info = client.getServerVersion()
  return {
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    serverInfo: info === undefined ? null : { name: info.name.slice(0, 256), version: info.version.slice(0, 256) },
  }
}
