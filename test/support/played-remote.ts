/** An A2A server that is played in this process: it keeps its tasks while the processes that call it die. */
import assert from 'node:assert/strict'
import { createRemoteCaller, type RemoteServices } from '@witan/core/tooling'

type Fetch = RemoteServices['fetch']

/** A part as A2A writes it. */
export interface Part {
  readonly text?: string
  readonly data?: unknown
}

/** What the agent there does with a message of a task; the parts of its answer end the task, unless it asks. */
export type Turn = (said: {
  readonly parts: readonly Part[]
  readonly turn: number
  readonly metadata: Metadata
  readonly task: string
}) => {
  readonly state: 'COMPLETED' | 'INPUT_REQUIRED' | 'AUTH_REQUIRED' | 'FAILED' | 'REJECTED' | 'WORKING'
  readonly parts: readonly Part[]
  /** What the task has cost so far, as it says itself. */
  readonly usage?: unknown
}

/** What a message says of itself, as far as tests look. */
export interface Metadata {
  readonly mentionable?: { readonly policy_resolution?: Readonly<Record<string, unknown>> }
  readonly witan?: { readonly budget?: Readonly<Record<string, number | null>> }
}

/** A task there. */
export interface PlayedTask {
  readonly id: string
  readonly contextId: string
  readonly messages: { readonly messageId: string; readonly parts: readonly Part[]; readonly metadata?: Metadata }[]
  state: string
  said: { readonly id: string; readonly parts: readonly Part[] }
  answer: readonly Part[]
  usage: unknown
}

/** The other server. */
export interface PlayedRemote {
  readonly tasks: PlayedTask[]
  readonly fetch: Fetch
}

/** `isIdempotent`: a message that comes again gives the task that it began. */
export function playedRemote(turn: Turn, { isIdempotent = false } = {}): PlayedRemote {
  const tasks: PlayedTask[] = []
  const take = (params: { message: PlayedTask['messages'][number] & { taskId?: string; contextId?: string } }) => {
    const { message } = params
    const known = tasks.find(({ messages }) => messages.some(({ messageId }) => messageId === message.messageId))
    if (known !== undefined && isIdempotent) return known
    const id = `task-${tasks.length + 1}`
    const task = tasks.find((one) => one.id === message.taskId) ?? {
      ...{ id, contextId: message.contextId ?? `context-${id}`, messages: [], state: 'TASK_STATE_WORKING' },
      ...{ said: { id: '', parts: [] }, answer: [], usage: undefined },
    }
    if (message.taskId === undefined) tasks.push(task)
    task.messages.push(message)
    const { metadata = {} } = message
    const { state, parts, usage } = turn({
      parts: message.parts,
      turn: task.messages.length - 1,
      metadata,
      task: task.id,
    })
    if (usage !== undefined) task.usage = usage
    task.state = `TASK_STATE_${state}`
    if (state === 'COMPLETED') task.answer = parts
    task.said = { id: `${task.id}.${task.messages.length}`, parts: state === 'COMPLETED' ? [] : parts }
    return task
  }
  const methods: Readonly<Record<string, (params: never) => PlayedTask | undefined>> = {
    SendMessage: take,
    SendStreamingMessage: take,
    GetTask: ({ id }: { id: string }) => tasks.find((one) => one.id === id),
    SubscribeToTask: ({ id }: { id: string }) => tasks.find((one) => one.id === id),
    CancelTask: ({ id }: { id: string }) => {
      const task = tasks.find((one) => one.id === id)
      if (task !== undefined) task.state = 'TASK_STATE_CANCELED'
      return task
    },
  }
  const fetch: Fetch = async (_url, { body = '', signal }) => {
    signal.throwIfAborted()
    const { method, params } = JSON.parse(body)
    const task = methods[method]?.(params as never)
    const whole = task === undefined ? null : wireOf(task)
    const isBare = method === 'GetTask' || method === 'CancelTask'
    const reply =
      whole === null
        ? { error: { code: -32001, message: 'no such task' } }
        : { result: isBare ? whole : { task: whole } }
    const text = JSON.stringify({ jsonrpc: '2.0', id: 1, ...reply })
    const isStream = method === 'SendStreamingMessage' || method === 'SubscribeToTask'
    return {
      status: 200,
      header: (name) => (name === 'content-type' ? (isStream ? 'text/event-stream' : 'application/json') : null),
      body: bytesOf(isStream ? `data: ${text}\n\n` : text),
    }
  }
  return { tasks, fetch }
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}

function wireOf({ id, contextId, state, said, answer, usage }: PlayedTask): object {
  const message = { messageId: said.id, taskId: id, contextId, role: 'ROLE_AGENT', parts: said.parts }
  const status = said.parts.length === 0 ? { state } : { state, message }
  const metadata = usage === undefined ? {} : { metadata: { witan: { usage } } }
  const artifacts = answer.length === 0 ? [] : [{ artifactId: 'answer', parts: answer }]
  return { id, contextId, status, artifacts, ...metadata }
}

/** What calls the agents of a played server, at any address. A fault of the caller's own fails the test. */
export function callerOf(
  { fetch }: Pick<PlayedRemote, 'fetch'>,
  {
    clock,
    isIdempotent,
    sign = async () => ({ bearer: null, metadata: {}, extensions: [] }),
  }: {
    readonly clock: RemoteServices['clock']
    readonly isIdempotent: boolean
    readonly sign?: RemoteServices['sign']
  },
): ReturnType<typeof createRemoteCaller> {
  const endpoint = { url: 'http://b.test/', binding: 'JSONRPC', tenant: null, isStreaming: true, isIdempotent } as const
  const services: Parameters<typeof createRemoteCaller>[0] = {
    find: async () => ({ ok: true, endpoint, notice: null }),
    sign,
    sharesBudget: () => false,
    passesIssuers: () => false,
    newId: () => 'read',
    clock,
    fetch,
  }
  return createRemoteCaller(services, (error) => assert.fail(String(error)))
}
