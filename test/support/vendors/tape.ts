/** A loopback server that answers as a vendor does, one step of a tape after the other, and refuses what the vendor refuses. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What the model of a tape says in one step. `sign` stands for whatever the vendor signs or seals its thoughts with. */
export interface Step {
  readonly thought: string
  readonly sign: string
  readonly text: string
  readonly calls: readonly { readonly id: string; readonly city: string }[]
}

export type Json = Record<string, unknown>

/** How a vendor speaks. */
export interface Dialect {
  readonly name: string
  /** The plain answer of a step. */
  plain(step: Step): Json
  /** The same as the lines of an event stream. */
  stream(step: Step): string
  /** The part of a request that holds the conversation. */
  history(body: Json): unknown
  /** Why the vendor would not take this request; null where it does. */
  refusal(body: Json, tape: readonly Step[]): string | null
  /** How it words a refusal. */
  wordsOf(refusal: string): Json
}

/** A running server. */
export interface Vendor {
  readonly baseUrl: string
  readonly bodies: readonly Json[]
  /** What it refused, in words. */
  readonly refusals: readonly string[]
  close(): Promise<void>
}

/** Two calls at once, then one more, then the answer. */
export const loop: readonly Step[] = [
  {
    thought: 'Two cities.',
    sign: 'sign-1',
    text: 'Let me look.',
    calls: [
      { id: 'call-a1', city: 'Oslo' },
      { id: 'call-a2', city: 'Rome' },
    ],
  },
  { thought: 'And Paris.', sign: 'sign-2', text: '', calls: [{ id: 'call-b1', city: 'Paris' }] },
  { thought: 'All rain.', sign: 'sign-3', text: 'Rain everywhere.', calls: [] },
]

/** Starts a server for a tape. */
export async function openVendor(dialect: Dialect, tape: readonly Step[] = loop): Promise<Vendor> {
  const bodies: Json[] = []
  const refusals: string[] = []
  const server = createServer((request, response) => {
    void read(request).then((body) => {
      bodies.push(body)
      const refusal = dialect.refusal(body, tape)
      const step = tape[Math.min(bodies.length, tape.length) - 1] as Step
      if (refusal !== null) {
        refusals.push(refusal)
        json(response, 400, dialect.wordsOf(refusal))
      } else if (body.stream === true || request.url?.includes('stream') === true) {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(dialect.stream(step))
      } else json(response, 200, dialect.plain(step))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    refusals,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function read(request: IncomingMessage): Promise<Json> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return JSON.parse(Buffer.concat(parts).toString('utf8')) as Json
}

function json(response: ServerResponse, status: number, value: Json): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** `data` lines, with the type of each event as its name. */
export function events(documents: readonly Json[]): string {
  return documents
    .map((one) => `${typeof one.type === 'string' ? `event: ${one.type}\n` : ''}data: ${JSON.stringify(one)}\n\n`)
    .join('')
}

/** A text in two pieces. */
export function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== '')
}
