/**
 * The server that the kit tests, behind a front for what the kit expects of a test subject alone: it sends no credential, it steers the agent
 * by the id of a message, and it gives several messages one id.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request as forward, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { createClient } from '@witan/client'
import { loadConfig, startServer } from '@witan/server'

const file = fileURLToPath(new URL('witan.config.ts', import.meta.url))

/** The subject of the kit: `url` is that of its agent. */
export interface KitSubject {
  readonly url: string
  close(): Promise<void>
}

/** Starts the server and its front. */
export async function startSubject(): Promise<KitSubject> {
  const to = { port: 0, key: '' }
  const front = createServer((request, response) => void pass(request, response, to))
  await once(front.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
  process.env['WITAN_A2A_KIT_URL'] = url
  const server = await startServer(await loadConfig({ file, env: { WITAN_LOG_LEVEL: 'warn' } }))
  const client = createClient({ url: server.url, ...(server.token === null ? {} : { token: server.token }) })
  const { key } = await client.keys.create({ id: 'user:kit', roles: ['run'] })
  client.close()
  Object.assign(to, { port: server.port, key })
  return {
    url: `${url}/a2a/tck`,
    async close() {
      front.close()
      front.closeAllConnections()
      await server.close()
    },
  }
}

async function pass(
  request: IncomingMessage,
  response: ServerResponse,
  { port, key }: { readonly port: number; readonly key: string },
): Promise<void> {
  const body = marked(await buffer(request))
  const { method = 'GET', url: path = '/' } = request
  const headers = { authorization: `Bearer ${key}`, ...request.headers, 'content-length': body.length }
  const sent = forward({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  sent.on('error', () => response.destroy())
  response.on('close', () => sent.destroy())
  sent.end(body)
}

/** The body, where it is a message with its id before the first text, and under an id of its own. */
function marked(body: Buffer): Buffer {
  try {
    const whole = JSON.parse(body.toString())
    const message = whole.params?.message ?? whole.message
    const [first] = message.parts
    if (typeof first.text === 'string') first.text = `${message.messageId} ${first.text}`
    message.messageId = `${message.messageId}-${randomUUID()}`
    return Buffer.from(JSON.stringify(whole))
  } catch {
    return body
  }
}
