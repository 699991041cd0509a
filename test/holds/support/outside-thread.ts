/** The thread of `outside.ts`: hostile servers, and clients in great number. */
import { once } from 'node:events'
import { Agent, createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort } from 'node:worker_threads'
import type { Asked, Requests, Script, Told } from './outside.ts'

async function serve(scripts: Readonly<Record<string, Script>>): Promise<string> {
  const bodies = new Map(Object.entries(scripts).map(([path, script]) => [path, bodyOf(script)]))
  const server = createServer((incoming, response) => {
    incoming.resume()
    incoming.on('end', () => {
      const path = (incoming.url ?? '').split('?')[0] ?? ''
      const script = scripts[path] ?? scripts['*']
      if (script === undefined) return void response.writeHead(404).end()
      answer(response, script, bodies.get(path) ?? (bodies.get('*') as Buffer))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function bodyOf({ head = '', piece = '', times = 0, tail = '' }: Script): Buffer {
  return Buffer.from(head + piece.repeat(times) + tail)
}

function answer(response: ServerResponse, { status = 200, type = 'application/json' }: Script, body: Buffer): void {
  response.writeHead(status, { 'content-type': type, 'content-length': body.length })
  response.end(body)
}

async function send({ times = 1, status, ...one }: Requests): Promise<void> {
  const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY })
  const statuses = await Promise.all(Array.from({ length: times }, () => sendOne(one, agent)))
  const other = statuses.find((answered) => answered !== status)
  if (other !== undefined) throw new Error(`${one.url} answered ${other} instead of ${status}`)
}

function sendOne(
  { url, method = 'GET', headers = {}, body, until }: Omit<Requests, 'times' | 'status'>,
  agent: Agent,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const typed =
      body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const sent = request(url, { method, agent, headers: { ...typed, ...headers } }, (response) => {
      const done = () => resolve(response.statusCode ?? 0)
      let end = ''
      response.on('data', (part: Buffer) => {
        if (until === undefined) return
        end = (end + part.toString('latin1')).slice(-(part.length + until.length))
        if (!end.includes(until)) return
        done()
        response.destroy()
      })
      response.on('end', done)
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

parentPort?.on('message', (asked: Asked) => {
  const work = 'serve' in asked ? serve(asked.serve) : send(asked.send)
  work.then(
    (value) => parentPort?.postMessage({ id: asked.id, value } satisfies Told),
    (error: unknown) => parentPort?.postMessage({ id: asked.id, error: String(error) } satisfies Told),
  )
})
