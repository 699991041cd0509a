/** What MCP servers offer and answer: many tools, large schemas, long results, many files, long forms. */
import { fakeMcp, type McpAnswer, toolWith, words } from '../../support/fake-mcp.ts'
import type { Row } from '../support/row.ts'
import { run } from '../support/said.ts'

const wide = (at: number) =>
  toolWith(`tool-${at}`, [], {
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 200 }, (_, one) => [`p${one}`, { type: 'string', description: 'word '.repeat(16) }]),
      ),
    },
  })

function offering(name: string, count: number, maxTools: number): Row {
  return {
    name: `an MCP server with ${name}`,
    setUp: async (play) => {
      const tools = Array.from({ length: count }, (_, at) => wide(at))
      return run(play, {
        script: () => ({ text: 'Done.' }),
        agent: { mcp: [{ server: 'box' }] },
        options: { mcpServers: fakeMcp({ box: { tools, settings: { maxTools } } }) },
      })
    },
  }
}

function answering(name: string, answer: () => McpAnswer, calls = 1): Row {
  return {
    name: `an MCP server that answers ${calls === 1 ? '' : `${calls} calls `}with ${name}`,
    setUp: async (play) => {
      const made = answer()
      const asked = Array.from({ length: calls }, () => ({ name: 'box_go', arguments: '{"text":"it"}' }))
      return run(play, {
        script: (step) => (step === 0 ? { calls: asked } : { text: 'Done.' }),
        agent: { mcp: [{ server: 'box', approval: 'none' }] },
        options: { mcpServers: fakeMcp({ box: { tools: [toolWith('go')], call: () => made } }) },
      })
    },
  }
}

const png = Buffer.alloc(700_000, 7).toString('base64')

export const mcpRows: readonly Row[] = [
  offering('500 tools of 20 KB each, 64 of them offered', 500, 64),
  offering('200 tools of 20 KB each, all of them offered', 200, 200),
  answering('a text of 15 million characters', () => words('word '.repeat(3_000_000))),
  answering('100,000 texts', () => ({
    kind: 'result',
    content: Array.from({ length: 100_000 }, () => ({ type: 'text', text: 'word' })),
    isError: false,
  })),
  answering('20 pictures of 700 KB', () => ({
    kind: 'result',
    content: Array.from({ length: 20 }, () => ({ type: 'image', mimeType: 'image/png', data: png })),
    isError: false,
  })),
  answering('structured content of 90,000 values', () => ({
    kind: 'result',
    content: [],
    structuredContent: { rows: Array.from({ length: 90_000 }, (_, at) => at) },
    isError: false,
  })),
  answering('a text of 100,000 characters', () => words('word '.repeat(20_000)), 128),
]
