/** The lock file of MCP servers: the tools that somebody looked at, so that a server cannot change them unnoticed. */
import { createHash } from 'node:crypto'
import { WitanError } from '@witan/protocol'
import { canonicalJson } from '../digest.ts'
import type { McpList, McpToolDefinition } from './mcp.ts'
import { serverNamePattern, shownTool } from './names.ts'

/** A tool as it was pinned. */
interface PinnedTool {
  /** What `digestOf` gives for the definition. */
  readonly digest: string
  readonly definition: McpToolDefinition
}

/** The tools of a pinned server, by name. */
interface PinnedServer {
  readonly tools: Readonly<Record<string, PinnedTool>>
}

/** What the lock file holds, by the name of the server. */
export interface McpLock {
  readonly version: 1
  readonly servers: Readonly<Record<string, PinnedServer>>
}

/** The name of the lock file, beside the configuration. */
export const mcpLockFile = 'witan.mcp.lock.json'

/** The lock file of a configuration without one. */
export const noPins: McpLock = Object.freeze({ version: 1, servers: Object.freeze({}) })

/** How a tool compares with its pin; `none` if its server is not pinned. */
export type Pin = 'same' | 'changed' | 'new' | 'none'

/** The parts of a definition that are pinned. */
const pinned = ['name', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const
type PinnedKey = (typeof pinned)[number]

/** A definition with its pinned parts only. */
function pinnedPart(definition: McpToolDefinition): McpToolDefinition {
  const parts = pinned.flatMap((key) => (definition[key] === undefined ? [] : [[key, definition[key]] as const]))
  return Object.fromEntries(parts) as unknown as McpToolDefinition
}

const digests = new WeakMap<McpToolDefinition, string>()

/** The SHA-256, in hex, of a definition's canonical JSON: its name, description, schemas and annotations. Made once for each object. */
export function digestOf(definition: McpToolDefinition): string {
  const known = digests.get(definition)
  if (known !== undefined) return known
  const made = createHash('sha256')
    .update(canonicalJson(pinnedPart(definition)))
    .digest('hex')
  digests.set(definition, made)
  return made
}

/** How a tool of a server compares with what is pinned. */
export function pinOf(lock: McpLock, server: string, definition: McpToolDefinition): Pin {
  const known = serverIn(lock, server)
  if (known === null) return 'none'
  const pin = own(known.tools, definition.name)
  if (pin === undefined) return 'new'
  return pin.digest === digestOf(definition) ? 'same' : 'changed'
}

/** Whether a server is pinned. */
export function isPinned(lock: McpLock, server: string): boolean {
  return serverIn(lock, server) !== null
}

function serverIn(lock: McpLock, server: string): PinnedServer | null {
  return own(lock.servers, server) ?? null
}

function own<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

/**
 * The tools of a pinned server in order of name, without a connection; null if it is not pinned. The protocol's version is not known then, and empty.
 */
export function listFromLock(lock: McpLock, server: string): McpList | null {
  const known = serverIn(lock, server)
  if (known === null) return null
  const before = lists.get(known)
  if (before !== undefined) return before
  const tools = Object.keys(known.tools)
    .sort()
    .map((name) => (known.tools[name] as PinnedTool).definition)
  const made = { tools, protocolVersion: '', serverInfo: null }
  lists.set(known, made)
  return made
}

/** The same objects each time, so that what was found out about a definition is found out once. */
const lists = new WeakMap<PinnedServer, McpList>()

/**
 * The lock for these lists, by server, which replaces what `before` has of these servers and keeps the others. Of two tools with one name the first is
 * pinned: neither is offered anyway.
 */
export function lockOf(lists: ReadonlyMap<string, Pick<McpList, 'tools'>>, before: McpLock = noPins): McpLock {
  const servers = new Map<string, PinnedServer>(Object.entries(before.servers))
  for (const [server, { tools }] of lists) {
    const pins = new Map<string, PinnedTool>()
    for (const definition of tools)
      if (!pins.has(definition.name))
        pins.set(definition.name, { digest: digestOf(definition), definition: pinnedPart(definition) })
    servers.set(server, { tools: inOrder(pins) })
  }
  return { version: 1, servers: inOrder(servers) }
}

function inOrder<Value>(map: ReadonlyMap<string, Value>): Readonly<Record<string, Value>> {
  return Object.fromEntries([...map].sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** The text of a lock file: the same for the same pins. */
export function lockText(lock: McpLock): string {
  return `${JSON.stringify(lock, null, 2)}\n`
}

/** What differs between the pins of a server and what it offers, each in order of name. */
export interface PinDifferences {
  /** Offered, and not pinned. */
  readonly added: readonly McpToolDefinition[]
  /** Pinned, and not offered. */
  readonly removed: readonly McpToolDefinition[]
  readonly changed: readonly {
    readonly tool: string
    /** The parts of the definition that differ, such as `description`. */
    readonly keys: readonly PinnedKey[]
    readonly before: McpToolDefinition
    readonly now: McpToolDefinition
  }[]
}

/** Compares the pins of a server with its list; all is added for one that is not pinned. */
export function differences(lock: McpLock, server: string, list: Pick<McpList, 'tools'>): PinDifferences {
  const pins = serverIn(lock, server)?.tools ?? {}
  const now = new Map(list.tools.toReversed().map((tool) => [tool.name, tool]))
  const offered = [...now.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
  const removed = Object.keys(pins)
    .filter((name) => !now.has(name))
    .sort()
  return {
    added: offered.filter(({ name }) => own(pins, name) === undefined),
    removed: removed.map((name) => (pins[name] as PinnedTool).definition),
    changed: offered.flatMap((tool) => {
      const pin = own(pins, tool.name)
      if (pin === undefined || pin.digest === digestOf(tool)) return []
      const keys = pinned.filter((key) => canonicalJson(pin.definition[key]) !== canonicalJson(tool[key]))
      return [{ tool: tool.name, keys, before: pin.definition, now: tool }]
    }),
  }
}

/** As many as a configuration and a list may have. */
const mostServers = 1000
const mostTools = 500

/**
 * Reads what a lock file holds. Throws `CONFIG_INVALID` for anything else, also for a digest that is not that of its definition: a lock that was
 * edited by hand would let in what nobody looked at.
 */
export function parseLock(value: unknown): McpLock {
  if (!isRecord(value)) throw broken('', 'must be an object with `version` and `servers`')
  if (value['version'] !== 1) throw broken('version', 'must be 1; another version of Witan may have written the file')
  noOthers(value, ['version', 'servers'], '')
  const servers = value['servers']
  if (!isRecord(servers)) throw broken('servers', 'must be an object with the servers by name')
  if (Object.keys(servers).length > mostServers) throw broken('servers', `must have at most ${mostServers} servers`)
  const made = new Map<string, PinnedServer>()
  for (const [name, server] of Object.entries(servers)) {
    const path = `servers.${shownTool(name)}`
    if (!serverNamePattern.test(name)) throw broken(path, 'must be the name of a server: a-z, 0-9 and `-`')
    if (!isRecord(server) || !isRecord(server['tools'])) throw broken(path, 'must be an object with `tools` by name')
    noOthers(server, ['tools'], path)
    made.set(name, { tools: toolsOf(server['tools'], `${path}.tools`) })
  }
  return { version: 1, servers: inOrder(made) }
}

function toolsOf(tools: Readonly<Record<string, unknown>>, path: string): PinnedServer['tools'] {
  if (Object.keys(tools).length > mostTools) throw broken(path, `must have at most ${mostTools} tools`)
  const made = new Map<string, PinnedTool>()
  for (const [name, tool] of Object.entries(tools)) {
    const place = `${path}.${shownTool(name)}`
    if (!isRecord(tool) || !isDefinition(tool['definition'], name))
      throw broken(place, 'must have `digest` and the `definition` of the tool of this name')
    noOthers(tool, ['digest', 'definition'], place)
    const { digest, definition } = tool
    const right = readableDigest(definition)
    if (right === null) throw broken(place, 'is nested too deep')
    if (digest !== right) throw broken(`${place}.digest`, 'is not the digest of the definition')
    made.set(name, { digest: right, definition })
  }
  return inOrder(made)
}

/** The digest; null for a value that nests deeper than a writer of JSON can follow. */
function readableDigest(definition: McpToolDefinition): string | null {
  try {
    return digestOf(definition)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** Whether a value has the form of a definition with pinned parts only. Whether its schemas can be used is asked where it is offered. */
function isDefinition(value: unknown, tool: string): value is McpToolDefinition {
  if (!isRecord(value) || Object.keys(value).some((key) => !pinned.some((one) => one === key))) return false
  const { name, description, inputSchema, outputSchema, annotations } = value
  const isText = description === undefined || typeof description === 'string'
  return name === tool && isText && isRecord(inputSchema) && [outputSchema, annotations].every(isRecordOrAbsent)
}

function isRecordOrAbsent(value: unknown): boolean {
  return value === undefined || isRecord(value)
}

function noOthers(value: Readonly<Record<string, unknown>>, known: readonly string[], path: string): void {
  const other = Object.keys(value).find((key) => !known.includes(key))
  if (other !== undefined)
    throw broken(path === '' ? shownTool(other) : `${path}.${shownTool(other)}`, 'is not a known key of the file')
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function broken(path: string, what: string): WitanError {
  const subject = path === '' ? mcpLockFile : `${mcpLockFile}: \`${path}\``
  return new WitanError('CONFIG_INVALID', `${subject} ${what}.`, {
    ...(path === '' ? {} : { path }),
    hint: 'Restore the file, or remove it and write it anew with `witan mcp pin`.',
  })
}
