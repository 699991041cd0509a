/** One caller of one agent over A2A, in either binding: each method by its name, with what it gives in the same words. */
import assert from 'node:assert/strict'
import type { StreamFrame } from './a2a.ts'
import type { Stage } from './stage.ts'

export const bindingNames = ['JSONRPC', 'HTTP+JSON'] as const
export type BindingName = (typeof bindingNames)[number]

/** What a method gave. `reason` is that of its error, `problem` the code of an error of HTTP itself. */
export interface Outcome {
  readonly http: number
  readonly headers: Headers
  readonly text: string
  readonly value: unknown
  readonly reason: string | null
  readonly problem: string | null
  /** What the error says in words. */
  readonly says: string
}

export interface BoundClient {
  readonly binding: BindingName
  ask(method: string, params?: object, headers?: Record<string, string>): Promise<Outcome>
  /** The frames of a stream, as they come. */
  open(method: string, params: object): AsyncGenerator<StreamFrame, void, void>
}

/** How each error is written in each binding [A2A 5.4, 9.5, 11.6]. */
const errors: Readonly<Record<string, readonly [code: number, http: number, status: string]>> = {
  TASK_NOT_FOUND: [-32001, 404, 'NOT_FOUND'],
  TASK_NOT_CANCELABLE: [-32002, 400, 'FAILED_PRECONDITION'],
  PUSH_NOTIFICATION_NOT_SUPPORTED: [-32003, 400, 'FAILED_PRECONDITION'],
  UNSUPPORTED_OPERATION: [-32004, 400, 'FAILED_PRECONDITION'],
  CONTENT_TYPE_NOT_SUPPORTED: [-32005, 400, 'INVALID_ARGUMENT'],
  VERSION_NOT_SUPPORTED: [-32009, 400, 'FAILED_PRECONDITION'],
  INVALID_PARAMS: [-32602, 400, 'INVALID_ARGUMENT'],
  METHOD_NOT_FOUND: [-32601, 404, 'NOT_FOUND'],
}

const errorInfo = 'type.googleapis.com/google.rpc.ErrorInfo'

interface Details {
  readonly '@type': string
  readonly reason: string
  readonly domain: string
}

interface Request {
  readonly verb: string
  readonly path: string
  readonly body?: object
}

type Params = Readonly<Record<string, unknown>>

/** The verb and the path of each method [A2A 11.3]. Parameters of `GET` stand in the query, in camel case [11.5]. */
function restOf(method: string, { id, taskId, ...params }: Params): Request {
  const query = new URLSearchParams(
    Object.entries(params).map(([name, value]): [string, string] => [name, String(value)]),
  )
  const asked = query.size === 0 ? '' : `?${query}`
  const task = `/tasks/${encodeURIComponent(String(id ?? taskId))}`
  const of: Readonly<Record<string, Request>> = {
    SendMessage: { verb: 'POST', path: '/message:send', body: params },
    SendStreamingMessage: { verb: 'POST', path: '/message:stream', body: params },
    GetTask: { verb: 'GET', path: `${task}${asked}` },
    ListTasks: { verb: 'GET', path: `/tasks${asked}` },
    CancelTask: { verb: 'POST', path: `${task}:cancel`, body: params },
    SubscribeToTask: { verb: 'POST', path: `${task}:subscribe`, body: {} },
    CreateTaskPushNotificationConfig: { verb: 'POST', path: `${task}/pushNotificationConfigs`, body: params },
    GetTaskPushNotificationConfig: { verb: 'GET', path: `${task}/pushNotificationConfigs/one` },
    ListTaskPushNotificationConfigs: { verb: 'GET', path: `${task}/pushNotificationConfigs` },
    DeleteTaskPushNotificationConfig: { verb: 'DELETE', path: `${task}/pushNotificationConfigs/one` },
    GetExtendedAgentCard: { verb: 'GET', path: '/extendedAgentCard' },
  }
  return of[method] ?? { verb: 'POST', path: `/${method}`, body: params }
}

/** A client of the agent at this path. Every error is held to the mapping of its binding. */
export function boundClient(
  stage: Pick<Stage, 'witan'>,
  { binding, path, token }: { readonly binding: BindingName; readonly path: string; readonly token: string | null },
): BoundClient {
  const isRpc = binding === 'JSONRPC'
  const always = { 'a2a-version': '1.0', ...(token === null ? {} : { authorization: `Bearer ${token}` }) }
  const request = (method: string, params: object): Request => {
    if (isRpc) return { verb: 'POST', path, body: { jsonrpc: '2.0', id: `of ${method}`, method, params } }
    const { path: rest, ...sent } = restOf(method, params as Params)
    return { ...sent, path: `${path}/v1${rest}` }
  }
  return {
    binding,
    async ask(method, params = {}, headers = {}) {
      const { verb, path: at, body } = request(method, params)
      const type = isRpc || body === undefined ? {} : { 'content-type': 'application/a2a+json' }
      const answer = await stage.witan.call<Params>(verb, at, { body, headers: { ...always, ...type, ...headers } })
      return outcomeOf(binding, method, answer)
    },
    async *open(method, params) {
      const { verb, path: at, body } = request(method, params)
      const { status, headers, frames } = await stage.witan.stream(verb, at, { body, headers: always })
      assert.equal(status, 200)
      assert.match(headers.get('content-type') ?? '', /^text\/event-stream/)
      for await (const { data } of frames) {
        const read = JSON.parse(data)
        if (isRpc) assert.deepEqual([read.jsonrpc, read.id], ['2.0', `of ${method}`])
        yield (isRpc ? read.result : read) as StreamFrame
      }
    },
  }
}

function outcomeOf(
  binding: BindingName,
  method: string,
  { status: http, headers, text, body }: { status: number; headers: Headers; text: string; body: Params | undefined },
): Outcome {
  const type = headers.get('content-type') ?? ''
  const read = body ?? (text === '' ? {} : JSON.parse(text))
  const none = { value: undefined, reason: null, problem: null, says: '' }
  if (type.startsWith('application/problem+json'))
    return { ...none, http, headers, text, problem: String(read['code']), says: String(read['detail']) }
  const isRpc = binding === 'JSONRPC'
  assert.match(type, isRpc ? /^application\/json/ : /^application\/a2a\+json/)
  if (isRpc) assert.deepEqual([http, read['jsonrpc'], read['id']], [200, '2.0', `of ${method}`], text)
  const error = read['error'] as Params | undefined
  if (error === undefined) return { ...none, http, headers, text, value: isRpc ? read['result'] : read }
  const [details] = (isRpc ? error['data'] : error['details']) as readonly Details[]
  const reason = details?.reason ?? ''
  const [code, status, rpc] = errors[reason] ?? assert.fail(`${reason} is no error of A2A: ${text}`)
  assert.deepEqual([details?.['@type'], details?.domain], [errorInfo, 'a2a-protocol.org'], text)
  if (isRpc) assert.equal(error['code'], code, text)
  else assert.deepEqual([http, error['code'], error['status']], [status, status, rpc], text)
  return { ...none, http, headers, text, reason, says: String(error['message']) }
}
