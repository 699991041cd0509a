/** Plays a strict OpenAI-compatible model over HTTP: scripts answer by model name, and every request is kept byte for byte. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { strictRefusal } from '../../support/strict-order.ts'
import { completion, completionChunks } from './completion.ts'
import type { ChatRequest, Gate, Reply, Seen } from './exchange.ts'

type Rule = (seen: Seen) => Reply

export function createGate(): Gate {
  const entered = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  return { entered: entered.promise, opened: opened.promise, enter: entered.resolve, open: opened.resolve }
}

export interface ModelServer {
  /** The base URL for a connection, `/v1` included. */
  url: string
  seen: Seen[]
  /** What was asked beyond a script's end, or of a model that nobody registered. Empty in a good test. */
  unexpected: string[]
  of(model: string): Seen[]
  /** Answers the first, second, … request of a model; a reply that fails or is cut uses up its place. */
  script(model: string, ...replies: Reply[]): void
  on(model: string, rule: Rule): void
  close(): Promise<void>
}

interface Stage {
  rules: Map<string, Rule>
  seen: Seen[]
  unexpected: string[]
}

/** Starts the played model on a free loopback port. */
export async function createModelServer(): Promise<ModelServer> {
  const stage: Stage = { rules: new Map(), seen: [], unexpected: [] }
  const server = createServer((request, response) => {
    answer(stage, request, response).catch((error: unknown) => {
      stage.unexpected.push(String(error))
      response.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    seen: stage.seen,
    unexpected: stage.unexpected,
    of: (model) => stage.seen.filter((seen) => seen.model === model),
    script: (model, ...replies) => {
      stage.rules.set(
        model,
        (seen) =>
          replies[seen.nth - 1] ?? dry(stage, `${model} was asked ${seen.nth} times, ${replies.length} planned`),
      )
    },
    on: (model, rule) => {
      stage.rules.set(model, rule)
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function dry(stage: Stage, what: string): Reply {
  stage.unexpected.push(what)
  return { status: 400, text: what }
}

async function answer(stage: Stage, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const raw = Buffer.concat(parts).toString('utf8')
  if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
    stage.unexpected.push(`${request.method} ${request.url}`)
    response.writeHead(404).end()
    return
  }
  const body = JSON.parse(raw) as ChatRequest
  const nth = stage.seen.filter((earlier) => earlier.model === body.model).length + 1
  const seen: Seen = { model: body.model, nth, raw, body, headers: request.headers, aborted: false }
  stage.seen.push(seen)
  response.on('close', () => {
    seen.aborted = !response.writableFinished
  })
  const refusal = strictRefusal(body.messages)
  if (refusal !== null) {
    const text = `${refusal}: ${body.messages.map(({ role }) => role).join(' ')}`
    return play(dry(stage, text), seen, response)
  }
  const rule = stage.rules.get(body.model)
  await play(rule ? rule(seen) : dry(stage, `unknown model ${body.model}`), seen, response)
}

async function play(reply: Reply, seen: Seen, response: ServerResponse): Promise<void> {
  if (reply.delayMs !== undefined) await delay(reply.delayMs)
  if (reply.holdAfter === undefined) await wait(reply.hold)
  if (response.destroyed) return
  if (reply.status !== undefined) {
    response.writeHead(reply.status, { 'content-type': 'application/json', 'retry-after': '0' })
    response.end(
      JSON.stringify({ error: { message: reply.text ?? `played ${reply.status}`, type: 'played', code: null } }),
    )
    return
  }
  if (reply.plain || seen.body.stream !== true) {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(completion(seen, reply)))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
  for (const [index, chunk] of completionChunks(seen, reply).entries()) {
    if (index === reply.cutAfter) {
      await delay(20)
      response.destroy()
      return
    }
    if (index === reply.holdAfter) await wait(reply.hold)
    if (response.destroyed) return
    response.write(`data: ${JSON.stringify(chunk)}\n\n`)
  }
  response.end('data: [DONE]\n\n')
}

async function wait(gate: Gate | undefined): Promise<void> {
  if (!gate) return
  gate.enter()
  await gate.opened
}
