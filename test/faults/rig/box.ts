/** An MCP server over standard input and output whose tools change after each list, so that every activation asks for them anew. */
import { createInterface } from 'node:readline'

const say = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const inputSchema = { type: 'object', properties: { text: { type: 'string' } } }

const answers: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'box', version: '1.0.0' },
  },
  'tools/list': { tools: [{ name: 'open', description: 'Opens it.', inputSchema }] },
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line) as { readonly id?: number; readonly method: string }
  if (id === undefined) return
  const result = answers[method]
  if (result === undefined) say({ id, error: { code: -32_601, message: 'There is no such method.' } })
  else say({ id, result })
  if (method === 'tools/list') say({ method: 'notifications/tools/list_changed' })
})
