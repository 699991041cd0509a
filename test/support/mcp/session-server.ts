/** An MCP server of 2025 over HTTP with sessions, made with the official library 1.x. Its port is the first line of its output. */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'

const sessions = new Map<string, StreamableHTTPServerTransport>()
let calls = 0
let token = 1

/** One server for each session. */
function make(): McpServer {
  const server = new McpServer({ name: 'sessions', version: '1.0.0' })
  server.registerTool('count', { inputSchema: {} }, async () => ({
    content: [{ type: 'text', text: String(++calls) }],
  }))
  server.registerTool('who', { inputSchema: {} }, async (_, { requestInfo, sessionId }) => ({
    content: [{ type: 'text', text: JSON.stringify({ headers: requestInfo?.headers, sessionId }) }],
  }))
  server.registerTool('ask', { inputSchema: {} }, async () => {
    const answer = await server.server
      .elicitInput({ message: 'Who?', requestedSchema: { type: 'object', properties: {} } })
      .catch((error: Error) => ({ action: error.message }))
    return { content: [{ type: 'text', text: String(answer.action) }] }
  })
  server.registerTool('slow', { inputSchema: {} }, async (_, { signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    process.stderr.write('slow: stopped\n')
    return { content: [] }
  })
  server.registerTool('die', { inputSchema: {} }, async () => process.exit(1))
  server.registerTool('change', { inputSchema: {} }, async () => {
    server.registerTool(`new-${++calls}`, { inputSchema: {} }, async () => ({ content: [] }))
    return { content: [] }
  })
  return server
}

const http = createServer(async (request, response) => {
  const path = request.url ?? ''
  if (path === '/forget') {
    sessions.clear()
    response.end()
    return
  }
  if (path === '/token') {
    let body = ''
    for await (const part of request) body += part
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ access_token: `token-${token++}-abcdef`, expires_in: 3600, asked: body }))
    return
  }
  if (path === '/guarded' && request.headers.authorization !== 'Bearer token-2-abcdef') {
    response.writeHead(401).end('Not this token')
    return
  }
  const id = request.headers['mcp-session-id']
  const known = typeof id === 'string' ? sessions.get(id) : undefined
  if (known !== undefined) {
    await known.handleRequest(request, response)
    return
  }
  if (id !== undefined) {
    response.writeHead(404, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32001, message: 'Session not found' }, id: null }))
    return
  }
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (session) => {
      sessions.set(session, transport)
    },
  })
  await make().connect(transport as never)
  await transport.handleRequest(request, response)
})
http.listen(0, '127.0.0.1', () => console.log((http.address() as { port: number }).port))
process.stdin.resume().on('end', () => process.exit(0))
