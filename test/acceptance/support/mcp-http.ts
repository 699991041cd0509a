/** A played MCP server of the 2025 era over HTTP, in the process of the test: sessions by id, plain JSON answers, and tokens at `/token`. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerOf, callLines, doingOf, errorLine, type Files, type Message } from './mcp-script.ts'

export interface HttpPlayed {
  readonly url: string
  close(): Promise<void>
}

/** Starts a server that does what the script of these files says. */
export async function createHttpPlayed(files: Files): Promise<HttpPlayed> {
  const sessions = new Set<string>()
  const server = createServer((request, response) => {
    answer({ files, sessions }, request, response).catch(() => response.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

interface Served {
  readonly files: Files
  readonly sessions: Set<string>
}

async function answer({ files, sessions }: Served, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  if (request.method !== 'POST') return void response.writeHead(request.method === 'DELETE' ? 200 : 405).end()
  if (request.url === '/token') {
    const nth = files.heard().filter(({ message: one }) => one.method === 'token').length + 1
    files.note({
      message: { method: 'token', params: { body: Buffer.concat(parts).toString() } },
      headers: request.headers,
    })
    const token = JSON.stringify({ access_token: `access-${nth}-of-many`, token_type: 'Bearer', expires_in: 3600 })
    return void response.writeHead(200, { 'content-type': 'application/json' }).end(token)
  }
  const message = JSON.parse(Buffer.concat(parts).toString('utf8')) as Message
  files.note({ message, headers: request.headers })
  const script = files.read()
  if (script.forgets === true) {
    sessions.clear()
    files.write({ ...script, forgets: false })
  }
  const reply = (status: number, text: string, headers: Record<string, string> = {}) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
  if (script.refuses !== undefined) return reply(script.refuses, JSON.stringify(request.headers))
  const { authorization } = request.headers
  if (script.needs !== undefined && authorization !== script.needs) return reply(401, `not ${authorization}`)
  const session = request.headers['mcp-session-id']
  if (message.method === 'initialize') {
    const made = randomUUID()
    sessions.add(made)
    return reply(200, answerOf(message, script) ?? '', { 'mcp-session-id': made })
  }
  if (session === undefined) return reply(400, errorLine(message.id ?? null, -32000, 'Server not initialized'))
  if (!sessions.has(String(session))) return reply(404, errorLine(message.id ?? null, -32001, 'Session not found'))
  if (message.id === undefined) return void response.writeHead(202).end()
  const known = answerOf(message, script)
  if (known === null) return
  if (known !== undefined) return reply(200, known)
  const doing = doingOf(String(message.params?.['name']), script, files.heard())
  if (doing.hangs === true) return
  if (doing.dies === true) return void response.destroy()
  return reply(200, callLines(message, doing)[0] ?? '')
}
