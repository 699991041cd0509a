/** Tools of MCP servers pass the kit of tools. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { ListedTool } from '@witan/protocol/entries'
import { nodeServer, settingsOf } from '../../mcp/testing/settings.ts'
import { mcpTools } from '../../tool/kinds/mcp.ts'
import type { McpAnswer, McpCall, McpServers } from '../../tool/mcp/mcp.ts'
import { testTool } from './tool.ts'
import { secretOf } from './tool-fixtures.ts'
import type { ToolHarness } from './tool-harness.ts'

const settings = settingsOf('box', nodeServer('none.js'), { trusted: true })

const tool: ListedTool = {
  name: 'do',
  offeredAs: 'box_do',
  description: 'Does it.',
  inputSchema: {
    type: 'object',
    properties: { what: { type: 'string', minLength: 1 }, tenant: { type: 'string' } },
    required: ['what', 'tenant'],
    additionalProperties: false,
  },
  effect: 'keyed',
  readOnly: false,
}

const text = (words: string): McpAnswer => ({
  kind: 'result',
  content: [{ type: 'text', text: words }],
  isError: false,
})

/** A server that gets the bound value with each call, and does each call once. */
function serverOf(effects: string[]): McpServers {
  const answer = ({ arguments: args, meta, given, signal }: McpCall): McpAnswer | Promise<McpAnswer> => {
    assert.equal(args['tenant'], secretOf('tenant'))
    const { what } = args
    if (what === 'ask' && given === null) {
      const params = { message: 'Which?', requestedSchema: { type: 'object', properties: { q: { type: 'string' } } } }
      return { kind: 'inputRequired', requests: { one: { method: 'elicitation/create', params } }, state: 's' }
    }
    if (what === 'fail') return { kind: 'failed', reason: 'unavailable', detail: '`box` cannot be reached.' }
    if (what === 'wait')
      return new Promise((resolve) => {
        const end = () => resolve({ kind: 'failed', reason: 'failed', detail: '`box` was stopped.' })
        if (signal.aborted) end()
        else signal.addEventListener('abort', end, { once: true })
      })
    const id = String(meta['io.witan/callId'])
    if (!effects.includes(id)) effects.push(id)
    return text(what === 'all' ? 'It is so. '.repeat(40_000) : 'done')
  }
  return {
    settings: new Map([['box', settings]]),
    known: () => null,
    list: () => Promise.reject(new Error('not asked')),
    call: async (of) => answer(of),
    standing: () => ({ state: 'idle', list: null, error: null }),
    refresh: () => Promise.reject(new Error('not asked')),
    close: async () => {},
  }
}

const harness: ToolHarness = {
  name: 'a tool of an MCP server',
  tool: 'box_do',
  agent: {
    id: 'clerk',
    parameters: [{ name: 'tenant', type: 'string', description: '', policy: 'forbidModelGeneration' }],
    mcp: [{ server: 'box', bind: { tenant: 'tenant' } }],
  },
  open: () => {
    const effects: string[] = []
    const source = mcpTools({ servers: serverOf(effects), lock: null })
    const offered = { server: 'box', trusted: true, digest: 'd', names: ['box_do'], tools: [tool] }
    return { source: (caller) => source({ ...caller, mcp: [offered] }), effects: () => effects }
  },
  fitting: [
    { arguments: { what: 'it' }, comesTo: 'result' },
    { arguments: { what: 'ask' }, comesTo: 'interruption' },
    { arguments: { what: 'fail' }, comesTo: 'failure' },
  ],
  unfitting: [{}, { what: '' }, { what: 3 }],
  endless: { what: 'wait' },
  noted: { what: 'ask' },
  oversize: { what: 'all' },
}

describe('a tool of an MCP server', () => testTool(harness))
