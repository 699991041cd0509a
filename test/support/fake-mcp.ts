/** MCP servers without a wire: what each offers, and what its tools give, are functions of the test. */
import type { RuntimeOptions } from '@witan/core'
import { mcpSettingsOf } from '@witan/core/tooling'

/** The MCP servers of a runtime, as an implementation. */
export type McpServers = Extract<NonNullable<RuntimeOptions['mcpServers']>, { readonly call: unknown }>
type Settings = McpServers['settings'] extends ReadonlyMap<string, infer One> ? One : never
type Listed = Awaited<ReturnType<McpServers['list']>>
type McpList = Extract<Listed, { readonly tools: unknown }>
export type McpTool = McpList['tools'][number]
export type McpCall = Parameters<McpServers['call']>[0]
export type McpAnswer = Awaited<ReturnType<McpServers['call']>>

/** One such server. */
export interface FakeServer {
  readonly settings?: Partial<Settings>
  /** Null: it is away. */
  readonly tools: readonly McpTool[] | null
  /** Whether its tools are known without asking. */
  readonly isKnown?: boolean
  call?(of: McpCall): McpAnswer | Promise<McpAnswer>
  /** Called before it is asked for its tools. */
  asked?(): Promise<void>
}

const defaults = mcpSettingsOf({ one: { command: 'none' } }, {}).get('one') as Settings

/** A tool with these properties, all of them texts. */
export function toolWith(name: string, properties: readonly string[] = ['text'], more: Partial<McpTool> = {}): McpTool {
  const shapes = Object.fromEntries(properties.map((one) => [one, { type: 'string' }]))
  return { name, description: `To ${name}.`, inputSchema: { type: 'object', properties: shapes }, ...more }
}

/** An answer of words. */
export function words(text: string): McpAnswer {
  return { kind: 'result', content: [{ type: 'text', text }], isError: false }
}

/** The servers of one process. Once asked, the tools of one are known. */
export function fakeMcp(servers: Readonly<Record<string, FakeServer>>): McpServers {
  const lists = new Map(
    Object.entries(servers).flatMap(([name, { tools }]): [string, McpList][] =>
      tools === null ? [] : [[name, { tools, protocolVersion: '2026-07-28', serverInfo: null }]],
    ),
  )
  const known = new Set(Object.entries(servers).flatMap(([name, { isKnown }]) => (isKnown === true ? [name] : [])))
  const away = (server: string) =>
    ({ kind: 'failed', reason: 'unavailable', detail: `\`${server}\` cannot be reached.` }) as const
  const listOf = async (server: string): Promise<Listed> => {
    await servers[server]?.asked?.()
    const list = lists.get(server)
    if (list === undefined) return away(server)
    known.add(server)
    return list
  }
  return {
    settings: new Map(
      Object.entries(servers).map(([name, { settings }]) => [name, { ...defaults, name, ...settings }]),
    ),
    known: ({ server }) => (known.has(server) ? (lists.get(server) ?? null) : null),
    list: ({ server }) => listOf(server),
    call: async (of) => (await servers[of.session.server]?.call?.(of)) ?? away(of.session.server),
    standing: (server) => ({
      state: known.has(server) ? 'ready' : 'idle',
      list: lists.get(server) ?? null,
      error: null,
    }),
    refresh: (server) => listOf(server),
    close: async () => {},
  }
}
