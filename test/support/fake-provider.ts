/** A loopback server that plays `POST /chat/completions`, well or badly, on demand. */
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One answer of the server. */
export interface FakeAnswer {
  /** Default 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Written one after the other, each in its own turn; text is sent as UTF-8. */
  readonly chunks: readonly (string | Uint8Array)[]
  /** How it ends after the chunks: properly (the default), by breaking the connection, or not at all. */
  readonly end?: 'proper' | 'break' | 'hang'
  /** Written after the chunks, again and again, until the caller goes. */
  readonly endless?: readonly string[]
  /** Milliseconds before each chunk. Default 0. */
  readonly paceMs?: number
}

/** What the server was asked. */
export interface FakeRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly body: Readonly<Record<string, unknown>>
}

/** A running server. `answers` are given in order, the last one again and again. */
export interface FakeProvider {
  readonly baseUrl: string
  readonly requests: readonly FakeRequest[]
  /** Connections that were opened, to see whether they are used again. */
  readonly connections: () => number
  /** Resolves when no answer is under way any more. */
  idle(): Promise<void>
  close(): Promise<void>
}

/** Starts a server on a free port of the loopback interface. It must be closed. */
export async function createFakeProvider(answers: readonly FakeAnswer[]): Promise<FakeProvider> {
  const requests: FakeRequest[] = []
  const underWay = new Set<Promise<unknown>>()
  let connections = 0
  const server = createServer((request, response) => {
    const closed = once(response, 'close').finally(() => underWay.delete(closed))
    underWay.add(closed)
    void read(request).then(async (seen) => {
      requests.push(seen)
      const answer = answers[Math.min(requests.length, answers.length) - 1]
      if (answer === undefined || request.url !== '/v1/chat/completions') response.writeHead(404).end()
      else await give(answer, response)
    })
  })
  server.on('connection', () => {
    connections += 1
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    connections: () => connections,
    idle: async () => void (await Promise.all(underWay)),
    close: () => stop(server),
  }
}

/** An event stream of these documents, closed by `[DONE]`. */
export function eventStream(documents: readonly unknown[], more: Partial<FakeAnswer> = {}): FakeAnswer {
  const chunks = [...documents.map((document) => `data: ${JSON.stringify(document)}\n\n`), 'data: [DONE]\n\n']
  return { headers: { 'content-type': 'text/event-stream' }, chunks, ...more }
}

/** A plain JSON answer. */
export function jsonAnswer(value: unknown, more: Partial<FakeAnswer> = {}): FakeAnswer {
  return { headers: { 'content-type': 'application/json' }, chunks: [JSON.stringify(value)], ...more }
}

/** A chunk of a stream with this delta; a finish reason and usage where they are given. */
export function chunk(delta: unknown, finish: string | null = null, usage?: unknown): Record<string, unknown> {
  const choices = [{ index: 0, delta, finish_reason: finish }]
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'fake-1' }
  return usage === undefined ? { ...head, choices } : { ...head, choices, usage }
}

async function read(request: IncomingMessage): Promise<FakeRequest> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const text = Buffer.concat(parts).toString('utf8')
  return { headers: request.headers, text, body: text === '' ? {} : JSON.parse(text) }
}

async function give(answer: FakeAnswer, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status ?? 200, { ...answer.headers })
  response.flushHeaders()
  for (const part of partsOf(answer)) {
    await new Promise((resolve) => setTimeout(resolve, answer.paceMs ?? 0))
    if (response.destroyed) return
    response.write(part)
  }
  if (answer.end === 'break') setTimeout(() => response.destroy(), 5)
  else if (answer.end !== 'hang') response.end()
}

function* partsOf({ chunks, endless = [] }: FakeAnswer): Generator<string | Uint8Array> {
  yield* chunks
  while (endless.length > 0) yield* endless
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
}
