/** An MCP server of 2026-07-28 on standard input and output, made with the official library. It asks people. Its words: folder, name. */
import { inputRequired, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'
import { filesOf } from './mcp-script.ts'

const [folder = '', name = ''] = process.argv.slice(2)
const files = filesOf(folder, name)
files.note({ message: { method: 'started' } })

const text = (value: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) }] })
const field = { type: 'string' as const }

/** What each tool asks for. */
const asked = {
  book: () => ({
    mode: 'form' as const,
    message: 'Which seat?',
    requestedSchema: {
      type: 'object' as const,
      properties: {
        seat: { type: 'string' as const, title: 'Seat', enum: ['aisle', 'window'] },
        bags: { type: 'integer' as const, description: 'How many bags?', maximum: 3 },
        meal: { type: 'boolean' as const, title: 'A meal?' },
        note: { type: 'string' as const },
      },
      required: ['seat', 'meal'],
    },
  }),
  wide: () => ({
    mode: 'form' as const,
    message: 'All of it?',
    requestedSchema: {
      type: 'object' as const,
      properties: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`f${at}`, field])),
    },
  }),
}

/** One server for the connection. Each call and its answers are written down. */
function make(): McpServer {
  const server = new McpServer({ name: 'modern', version: '1.0.0' })
  const ask = (tool: string, first: () => Parameters<typeof inputRequired>[0]) =>
    server.registerTool(tool, { inputSchema: z.object({ trip: z.string().optional() }) }, async (args, ctx) => {
      const answers = ctx.mcpReq.inputResponses
      const state = ctx.mcpReq.requestState() ?? null
      files.note({ message: { method: tool, params: { args, answers: answers ?? null, state } } })
      return answers === undefined ? inputRequired(first()) : text(answers)
    })
  for (const [tool, form] of Object.entries(asked))
    ask(tool, () => ({ inputRequests: { form: inputRequired.elicit(form()) }, requestState: `state of ${tool}` }))
  const page = (url: string) => ({ inputRequests: { page: inputRequired.elicitUrl({ message: 'Sign in.', url }) } })
  ask('sign', () => page('https://shop.example/sign?x=1'))
  ask('plain', () => page('http://shop.example/sign'))
  ask('sample', () => ({ inputRequests: { said: inputRequired.createMessage({ messages: [], maxTokens: 5 }) } }))
  return server
}

serveStdio(make)
