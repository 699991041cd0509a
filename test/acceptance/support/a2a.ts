/** A2A as an outside client speaks it: JSON-RPC and HTTP+JSON by hand, from the contract alone. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Stage } from './stage.ts'
import type { Answer, CallOptions, Frame } from './witan.ts'

export interface A2aPart {
  text?: string
  raw?: string
  url?: string
  data?: unknown
  mediaType?: string
  filename?: string
}

export interface A2aMessage {
  messageId: string
  role: string
  parts: A2aPart[]
  contextId?: string
  taskId?: string
  metadata?: Record<string, unknown>
}

export interface A2aTask {
  id: string
  contextId: string
  status: { state: string; timestamp: string; message?: A2aMessage }
  artifacts?: { artifactId: string; parts: A2aPart[] }[]
  history?: A2aMessage[]
}

export interface RpcReply<Result> {
  jsonrpc: string
  id: unknown
  result?: Result
  error?: { code: number; message: string; data?: { '@type': string; reason: string; domain: string }[] }
}

export interface StreamFrame {
  task?: A2aTask
  statusUpdate?: { taskId: string; contextId: string; status: A2aTask['status'] }
  artifactUpdate?: {
    taskId: string
    contextId: string
    artifact: { artifactId: string; parts: A2aPart[] }
    append: boolean
    lastChunk: boolean
  }
}

/** A message of the caller; its parts may be a text alone. */
export function message(parts: string | A2aPart[], more: Partial<A2aMessage> = {}): A2aMessage {
  const list = typeof parts === 'string' ? [{ text: parts }] : parts
  return { messageId: randomUUID(), role: 'ROLE_USER', parts: list, ...more }
}

export interface A2aClient {
  rpc<Result>(method: string, params?: unknown, options?: CallOptions): Promise<Answer<RpcReply<Result>>>
  /** Sends a message and gives its task. */
  send(sent: A2aMessage, configuration?: Record<string, unknown>): Promise<A2aTask>
  task(id: string): Promise<A2aTask>
  cancel(id: string): Promise<A2aTask>
  stream(method: string, params: unknown): Promise<{ status: number; headers: Headers; frames: AsyncGenerator<Frame> }>
  /** All frames of a stream. */
  frames(method: string, params: unknown): Promise<StreamFrame[]>
  rest<Body>(verb: string, path: string, options?: CallOptions): Promise<Answer<Body>>
}

const rpcBody = (method: string, params: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params })

/** A client of the agent at this path, with a bearer token for each request. */
export function a2aClient(
  witan: () => Pick<Stage['witan'], 'call' | 'stream'>,
  path: string,
  token: string | ((params: unknown) => string | null) | null,
): A2aClient {
  const headersFor = (params: unknown, more: Record<string, string> = {}): Record<string, string> => {
    const shown = typeof token === 'function' ? token(params) : token
    return { 'a2a-version': '1.0', ...(shown === null ? {} : { authorization: `Bearer ${shown}` }), ...more }
  }
  const rpc = <Result>(method: string, params: unknown = {}, options: CallOptions = {}) =>
    witan().call<RpcReply<Result>>('POST', path, {
      body: rpcBody(method, params),
      ...options,
      headers: headersFor(params, options.headers),
    })
  const result = async <Result>(method: string, params: unknown): Promise<Result> => {
    const answer = await rpc<Result>(method, params)
    assert.equal(answer.status, 200, answer.text)
    assert.ok(answer.body.result !== undefined, answer.text)
    return answer.body.result
  }
  const stream = (method: string, params: unknown) =>
    witan().stream('POST', path, { body: rpcBody(method, params), headers: headersFor(params) })
  return {
    rpc,
    stream,
    send: async (sent, configuration) => {
      const params = configuration === undefined ? { message: sent } : { message: sent, configuration }
      return (await result<{ task: A2aTask }>('SendMessage', params)).task
    },
    task: (id) => result('GetTask', { id }),
    cancel: (id) => result('CancelTask', { id }),
    frames: async (method, params) => {
      const { status, headers, frames } = await stream(method, params)
      assert.equal(status, 200)
      assert.match(headers.get('content-type') ?? '', /^text\/event-stream/)
      const found: StreamFrame[] = []
      for await (const { data } of frames) found.push((JSON.parse(data) as RpcReply<StreamFrame>).result as StreamFrame)
      return found
    },
    rest: (verb, rest, options = {}) =>
      witan().call(verb, `${path}/v1${rest}`, { ...options, headers: headersFor(options.body, options.headers) }),
  }
}

/** The text of the one artifact of a task. */
export function answerOf(task: A2aTask): string {
  const texts = task.artifacts?.flatMap(({ parts }) => parts.flatMap(({ text }) => (text === undefined ? [] : [text])))
  return (texts ?? []).join('')
}

/** The code and the reason of an error. */
export function errorOf(answer: Answer<RpcReply<unknown>>): string {
  const { error } = answer.body
  return `${error?.code} ${error?.data?.[0]?.reason} ${error?.data?.[0]?.domain}`
}

/** A key of the server for a person or a program, made by an admin. */
export async function keyOf(
  witan: Stage['witan'],
  body: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<string> {
  const answer = await witan.call<{ key: string }>('POST', '/api/v1/keys', { body, headers })
  assert.equal(answer.status, 201, answer.text)
  return answer.body.key
}
