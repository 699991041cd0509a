/** Stands before MLflow, and lets the figures of two processes meet: each has sent its own before those of the other arrive. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { url } from './server.ts'

/** A way to MLflow for two processes. */
interface Crossing {
  readonly url: string
  /** From now on the next two requests with figures wait for each other; the later one arrives first. */
  cross(): void
  close(): void
}

/** Opens one on this machine. */
export async function openCrossing(): Promise<Crossing> {
  let waiting: (() => Promise<void>)[] | null = null
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(request)
    const pass = () => forward(request, response, body)
    if (waiting === null || !request.url?.endsWith('/log-batch')) return pass()
    waiting.push(pass)
    if (waiting.length < 2) return
    const both = waiting.reverse()
    waiting = null
    for (const one of both) await one()
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cross() {
      waiting = []
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const own = ['host', 'connection', 'content-length', 'transfer-encoding']

async function forward(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
  const { method = 'GET', headers } = request
  const sent = Object.entries(headers).filter(([name]) => !own.includes(name)) as [string, string][]
  const reply = await fetch(`${url}${request.url}`, {
    method,
    headers: sent,
    ...(method === 'GET' ? {} : { body: new Uint8Array(body) }),
  })
  response.writeHead(reply.status).end(Buffer.from(await reply.arrayBuffer()))
}
