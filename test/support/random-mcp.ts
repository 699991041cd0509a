/** MCP servers that do random things: what a tool of theirs gives depends only on what it is called with, so a run can be repeated. */
import { createHash } from 'node:crypto'
import { fakeMcp, type McpAnswer, type McpServers, toolWith, words } from './fake-mcp.ts'
import { type AgentDraft, settle } from './stage.ts'

/** Some tools of a server that is there, with every approval, or with values that its agent declares and may lack; of one that is away, too; or none. */
export function mcpUsesOf(kind: number, isDeclaring: boolean): NonNullable<AgentDraft['mcp']> {
  if (kind > 3 && kind < 6 && isDeclaring)
    return [{ server: 'box', bind: { text: 'key' }, bindHeaders: { 'X-Made': 'made' } }]
  if (kind === 0) return [{ server: 'box' }]
  if (kind === 1) return [{ server: 'off' }, { server: 'box', approval: 'none' }]
  if (kind === 2) return [{ server: 'box', tools: ['read', 'k*'], approval: 'all' }]
  return kind === 3 ? [{ server: 'needed' }] : []
}

/** The servers of one process: it must ask the one that is there once, unless it knows it. */
export function randomMcp(isKnown = false): McpServers {
  return fakeMcp({
    box: {
      settings: { readOnly: ['read'], effects: { keep: 'keyed' } },
      tools: [toolWith('read'), toolWith('keep'), toolWith('do')],
      isKnown,
      asked: () => settle(1),
      async call({ tool, arguments: args, given }) {
        const dice = createHash('sha256')
          .update(`${tool} ${JSON.stringify(args)}`)
          .digest()
        await settle((dice[0] ?? 0) % 3)
        return answerOf(dice, given)
      },
    },
    off: { tools: null, asked: () => settle(1) },
    needed: { settings: { required: true }, tools: null, asked: () => settle(1) },
  })
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
  return words(given === null ? 'done' : `done with ${JSON.stringify(given)}`)
}
