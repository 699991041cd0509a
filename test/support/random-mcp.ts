/** MCP servers that do random things: what a tool of theirs gives depends only on what it is called with, so a run can be repeated. */
import { createHash } from 'node:crypto'
import type { RuntimeOptions } from '@witan/core'
import { type AgentDraft, settle } from './stage.ts'

type McpServers = Extract<NonNullable<RuntimeOptions['mcpServers']>, { readonly call: unknown }>
type Settings = McpServers['settings'] extends ReadonlyMap<string, infer One> ? One : never
type McpList = Extract<Awaited<ReturnType<McpServers['list']>>, { readonly tools: unknown }>
type McpAnswer = Awaited<ReturnType<McpServers['call']>>

/** Some tools of a server that is there, with every approval; of one that is away, too; or none. */
export function mcpUsesOf(kind: number): NonNullable<AgentDraft['mcp']> {
  if (kind === 0) return [{ server: 'box' }]
  if (kind === 1) return [{ server: 'off' }, { server: 'box', approval: 'none' }]
  if (kind === 2) return [{ server: 'box', tools: ['read', 'k*'], approval: 'all' }]
  return kind === 3 ? [{ server: 'needed' }] : []
}

const settingsOf = (name: string, more: Partial<Settings> = {}): Settings => ({
  name,
  transport: { type: 'stdio', command: 'none', args: [], cwd: null, env: {} },
  trusted: false,
  readOnly: ['read'],
  effects: { keep: 'keyed' },
  onChange: 'block',
  roots: [],
  ask: true,
  scope: 'process',
  timeoutMs: 60_000,
  maxTotalMs: 600_000,
  connectTimeoutMs: 10_000,
  maxResultCharacters: 32_000,
  maxTools: 64,
  required: false,
  ...more,
})

const text = { type: 'object', properties: { text: { type: 'string' } } }
const list: McpList = {
  tools: ['read', 'keep', 'do'].map((name) => ({ name, description: `To ${name}.`, inputSchema: text })),
  protocolVersion: '2026-07-28',
  serverInfo: null,
}

/** The servers of one process: it must ask the one that is there once, unless it knows it. */
export function randomMcp(isKnownAtFirst = false): McpServers {
  const settings = new Map(
    [settingsOf('box'), settingsOf('off'), settingsOf('needed', { required: true })].map((one) => [one.name, one]),
  )
  let isKnown = isKnownAtFirst
  const away = (server: string) =>
    ({ kind: 'failed', reason: 'unavailable', detail: `\`${server}\` cannot be reached.` }) as const
  const listOf = async (server: string) => {
    await settle(1)
    if (server !== 'box') return away(server)
    isKnown = true
    return list
  }
  return {
    settings,
    known: ({ server }) => (server === 'box' && isKnown ? list : null),
    list: ({ server }) => listOf(server),
    async call({ tool, arguments: args, given, session }) {
      const dice = createHash('sha256')
        .update(`${tool} ${JSON.stringify(args)}`)
        .digest()
      await settle((dice[0] ?? 0) % 3)
      return session.server === 'box' ? answerOf(dice, given) : away(session.server)
    },
    standing: () => ({ state: 'idle', list: null, error: null }),
    refresh: (server) => listOf(server),
    leave: () => {},
    close: async () => {},
  }
}

const form = { type: 'object', properties: { q: { type: 'string' } } }

function answerOf(dice: Buffer, given: unknown): McpAnswer {
  const kind = (dice[1] ?? 0) % 8
  if (kind === 0) return { kind: 'failed', reason: 'lost', detail: '`box` ended.' }
  if (kind === 1) return { kind: 'result', content: [{ type: 'text', text: 'no' }], isError: true }
  if (kind === 2) return { kind: 'result', content: [], structuredContent: { n: (dice[2] ?? 0) % 3 }, isError: false }
  if (kind === 3)
    return { kind: 'result', content: [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }], isError: false }
  if (kind < 6 && given === null) {
    const params = { message: 'Which?', requestedSchema: form }
    return { kind: 'inputRequired', requests: { one: { method: 'elicitation/create', params } }, state: 'kept' }
  }
  const words = given === null ? 'done' : `done with ${JSON.stringify(given)}`
  return { kind: 'result', content: [{ type: 'text', text: words }], isError: false }
}
