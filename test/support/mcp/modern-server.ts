/** An MCP server of 2026-07-28, made with the official library: on stdio, or over HTTP with its port as the first line of its output. */
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })
/** Headers of the last request over HTTP. */
let headers: Record<string, unknown> = {}
let count = 0

/** Everything that the tests need of a server. */
function make(): McpServer {
  const server = new McpServer({ name: 'modern', version: '1.2.3' }, {
    cacheHints: { 'tools/list': { ttlMs: 3_600_000, cacheScope: 'private' } },
  } as never)
  server.registerTool('add', { inputSchema: z.object({ a: z.number(), b: z.number() }) }, async ({ a, b }) => ({
    ...text(String(a + b)),
    structuredContent: { sum: a + b },
  }))
  server.registerTool('meta', { inputSchema: z.object({}) }, async (_, ctx) =>
    text(JSON.stringify(ctx.mcpReq._meta ?? {})),
  )
  server.registerTool('headers', { inputSchema: z.object({}) }, async () => text(JSON.stringify(headers)))
  server.registerTool('ask', { inputSchema: z.object({}) }, async (_, ctx) => {
    const answers = ctx.mcpReq.inputResponses
    if (answers !== undefined) return text(JSON.stringify({ answers, state: ctx.mcpReq.requestState() }))
    const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } } }
    const name = inputRequired.elicit({ mode: 'form', message: 'Who?', requestedSchema })
    return inputRequired({ inputRequests: { name }, requestState: 'state-7' })
  })
  server.registerTool('sample', { inputSchema: z.object({}) }, async () =>
    inputRequired({ inputRequests: { model: inputRequired.createMessage({ messages: [], maxTokens: 5 }) } }),
  )
  server.registerTool('folders', { inputSchema: z.object({}) }, async (_, ctx) => {
    const answers = ctx.mcpReq.inputResponses
    if (answers !== undefined) return text(JSON.stringify(answers))
    return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } })
  })
  server.registerTool('slow', { inputSchema: z.object({}) }, async (_, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken
    for (let at = 1; !ctx.mcpReq.signal.aborted && at < 500; at++) {
      if (progressToken !== undefined)
        await ctx.mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress: at, message: 'working' },
        })
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    process.stderr.write('slow: stopped\n')
    return text('done')
  })
  server.registerTool('change', { inputSchema: z.object({}) }, async () => {
    count += 1
    server.registerTool(`new-${count}`, { inputSchema: z.object({}) }, async () => text('new'))
    handler?.notify.toolsChanged()
    return text('changed')
  })
  for (let at = 1; at <= count; at++)
    server.registerTool(`new-${at}`, { inputSchema: z.object({}) }, async () => text('new'))
  return server
}

const handler = process.argv[2] === 'http' ? createMcpHandler(make) : null
if (handler === null) serveStdio(make)
else {
  const http = createServer(async (request, response) => {
    headers = request.headers
    const hasBody = request.method === 'POST'
    const abort = new AbortController()
    response.on('close', () => abort.abort())
    const answer = await handler.fetch(
      new Request(`http://localhost${request.url}`, {
        method: request.method ?? 'GET',
        headers: request.headers as Record<string, string>,
        signal: abort.signal,
        ...(hasBody ? { body: Readable.toWeb(request) as ReadableStream, duplex: 'half' } : {}),
      } as RequestInit),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    if (answer.body === null) response.end()
    else
      Readable.fromWeb(answer.body as never)
        .on('error', () => response.destroy())
        .pipe(response)
  })
  http.listen(0, '127.0.0.1', () => console.log((http.address() as { port: number }).port))
  process.stdin.resume().on('end', () => process.exit(0))
}
