/** Asks an MCP server for its tools, page by page and within bounds. */
import type { McpList, McpToolDefinition } from '../tool/mcp/mcp.ts'
import { type Connection, noLimitMs } from './connect.ts'
import { isFields } from './inbox.ts'
import { errorOf, type Hide, McpError } from './trouble.ts'

const mostTools = 500
const mostPages = 20
const longestTtlMs = 86_400_000

/** The tools of a server, and for how long the list holds; null: until the server says that it has changed. */
interface Listed {
  readonly list: McpList
  readonly ttlMs: number | null
}

/** Lists the tools. Rejects with an `McpError`; one for too long a list or a page that comes again ends the connection. */
export async function listTools(
  connection: Connection,
  { hide, log }: { readonly hide: Hide; log(line: string): void },
  signal: AbortSignal,
): Promise<Listed> {
  const { client, wire, about, hasTools } = connection
  const tools: McpToolDefinition[] = []
  const seen = new Set<string>()
  let ttlMs: number | null = null
  let cursor: string | undefined
  try {
    for (let pages = 0; hasTools; pages++) {
      if (pages === mostPages) throw new McpError('protocol', `has more than ${mostPages} pages of tools.`)
      const page = await pageOf(connection, cursor, signal)
      for (const each of page.tools) {
        const tool = definitionOf(each)
        if (tool !== null) tools.push(tool)
        else log('A tool without a name or a schema was left out.')
      }
      if (tools.length > mostTools) throw new McpError('protocol', `has more than ${mostTools} tools.`)
      if (page.ttlMs !== null) ttlMs = Math.min(ttlMs ?? longestTtlMs, page.ttlMs)
      cursor = page.next
      if (cursor === undefined) break
      if (seen.has(cursor)) throw new McpError('protocol', 'lists the same page of tools again.')
      seen.add(cursor)
    }
    return { list: { ...about, tools }, ttlMs }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const reason = wire.ended ?? errorOf(error, hide, wire.sessionId !== undefined)
    if (reason.reason === 'protocol') wire.end(reason)
    throw reason
  }

  async function pageOf(of: Connection, from: string | undefined, until: AbortSignal) {
    const params = from === undefined ? {} : { cursor: from }
    const options = { signal: until, timeout: noLimitMs }
    const page = of.wire.inbox.take(await client.request({ method: 'tools/list', params }, options))
    const { tools: items, nextCursor, ttlMs: ttl } = page ?? {}
    if (!Array.isArray(items)) throw new McpError('protocol', 'listed its tools in no list.')
    const holds = typeof ttl === 'number' && ttl >= 0 ? ttl : null
    return { tools: items as unknown[], next: typeof nextCursor === 'string' ? nextCursor : undefined, ttlMs: holds }
  }
}

/** What is used of a tool; null if it lacks what it needs. */
function definitionOf(value: unknown): McpToolDefinition | null {
  if (!isFields(value)) return null
  const { name, description, inputSchema, outputSchema, annotations } = value
  if (typeof name !== 'string' || name === '' || !isFields(inputSchema)) return null
  return {
    name,
    ...(typeof description === 'string' ? { description } : {}),
    inputSchema,
    ...(isFields(outputSchema) ? { outputSchema } : {}),
    ...(isFields(annotations) ? { annotations } : {}),
  }
}
