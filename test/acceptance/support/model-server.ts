/** Plays an OpenAI-compatible model over HTTP: scripts answer by model name, and every request is kept byte for byte. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { completion, completionChunks } from './completion.ts'

export interface WireToolCall {
  id: string
  type: string
  function: { name: string; arguments: string }
}

export interface WireMessage {
  role: string
  content?: string | { type: string; text?: string }[] | null
  tool_calls?: WireToolCall[]
  tool_call_id?: string
}

export interface WireTool {
  type: string
  function: { name: string; description?: string; parameters?: JsonSchema }
}

export interface JsonSchema {
  type?: string
  properties?: Record<string, unknown>
  required?: string[]
}

export interface ChatRequest {
  model: string
  messages: WireMessage[]
  tools?: WireTool[]
  tool_choice?: unknown
  response_format?: { type: string; json_schema?: { schema?: unknown } }
  stream?: boolean
  stream_options?: { include_usage?: boolean }
}

/** One request as it arrived: `raw` is the body's text exactly, `aborted` says that the caller hung up first. */
export interface Seen {
  model: string
  nth: number
  raw: string
  body: ChatRequest
  headers: IncomingHttpHeaders
  aborted: boolean
}

export interface CallOut {
  name: string
  args?: unknown
  rawArgs?: string
}

/** What the played model answers, and how it misbehaves. Tokens: 10 in and 5 out unless said; `usage: null` sends none. */
export interface Reply {
  text?: string
  calls?: CallOut[]
  usage?: { input: number; output: number; cached?: number; reasoning?: number } | null
  plain?: boolean
  pieces?: number
  status?: number
  cutAfter?: number
  holdAfter?: number
  hold?: Gate
  delayMs?: number
}

export type Rule = (seen: Seen) => Reply

/** A door that a reply waits at: `entered` settles when a request stands before it, `open` lets everything through. */
export interface Gate {
  entered: Promise<void>
  opened: Promise<void>
  enter(): void
  open(): void
}

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
