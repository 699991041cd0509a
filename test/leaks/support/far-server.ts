/** A server of another domain with one agent, `@docs@b.test`, that keeps all that reaches it: addresses, headers and bodies. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A status of its task. */
export interface FarStatus {
  readonly state: string
  readonly parts?: readonly object[]
  readonly artifacts?: readonly object[]
}

export interface FarServer {
  readonly url: string
  /** What it says to the messages that come from now on, one after the other. */
  play(...turns: readonly FarStatus[]): void
  /** All that came since `play`. */
  seen(): string
  close(): Promise<void>
}

const address = '@docs@b.test'
const base = 'https://b.test'

/** What discovery finds; undefined for any other path. */
function found(path: string): object | undefined {
  const links = [{ rel: 'https://mentionable.dev/ns/rel/agent-card', href: `${base}/card` }]
  if (path.startsWith('/.well-known/webfinger')) return { subject: 'acct:docs@b.test', links }
  if (path === '/card') return { address, name: 'Docs', a2a: { endpoint: `${base}/a2a` } }
  if (path !== '/a2a/.well-known/agent-card.json') return undefined
  const supportedInterfaces = [{ url: `${base}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]
  return { name: 'Docs', supportedInterfaces, capabilities: { streaming: true } }
}

/** Starts it on loopback. */
export async function createFarServer(): Promise<FarServer> {
  let turns: FarStatus[] = []
  let kept: string[] = []
  let said = 0
  const answer = async (request: IncomingMessage): Promise<{ readonly type: string; readonly body: string }> => {
    const body = await text(request)
    kept.push(JSON.stringify([request.url, request.rawHeaders]), body)
    const document = found(request.url ?? '')
    if (document !== undefined) return { type: 'application/json', body: JSON.stringify(document) }
    const { state, parts, artifacts = [] } = turns.shift() ?? { state: 'COMPLETED' }
    said += 1
    const message = parts === undefined ? {} : { message: { messageId: `m${said}`, role: 'ROLE_AGENT', parts } }
    const task = { id: 't', contextId: 'c', status: { state: `TASK_STATE_${state}`, ...message }, artifacts }
    const frame = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { task } })
    return { type: 'text/event-stream', body: `data: ${frame}\n\n` }
  }
  const server = createServer((request, response) => {
    answer(request).then(
      ({ type, body }) => response.setHeader('content-type', type).end(body),
      () => response.destroy(),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    play(...next) {
      turns = [...next]
      kept = []
    },
    seen: () => kept.join('\n'),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
