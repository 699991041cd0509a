/** A played model and a real server together, with the few calls that nearly every acceptance test makes. */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { assertAlternates } from './transcript.ts'
import { createModelServer, type ModelServer } from './model-server.ts'
import type { Conversation, ConversationDocument, EventPage, RunResult, Started, WitanEvent } from './wire.ts'
import { createWitan, type Answer, type Witan, type WitanOptions } from './witan.ts'

export type AgentJson = { id: string } & Record<string, unknown>

export interface Stage {
  model: ModelServer
  witan: Witan
  /** Saves the agents in one batch and fails the test if they are refused. */
  save(...agents: AgentJson[]): Promise<void>
  /** Starts a conversation and fails the test if that is refused. */
  begin(agent: string, body?: Record<string, unknown>): Promise<Started>
  /** Starts a conversation with a prompt and gives its first run's result. */
  ask(agent: string, prompt: string, body?: Record<string, unknown>): Promise<RunResult>
  /** One more run in a conversation: 200 and its result. */
  run(conversation: string, body: Record<string, unknown>): Promise<RunResult>
  runAnswer<T = RunResult>(
    conversation: string,
    body: Record<string, unknown>,
    headers?: Record<string, string>,
  ): Promise<Answer<T>>
  conversation(id: string): Promise<Conversation>
  /** Every event of a conversation, or those that the query asks for. */
  events(id: string, query?: string): Promise<WitanEvent[]>
  document(path: string, query?: string): Promise<ConversationDocument>
  close(): Promise<void>
}

/** An agent whose model is the played one of the same name. */
export function agent(id: string, more: Record<string, unknown> = {}): AgentJson {
  return { id, model: `play/${id}`, instructions: `You are ${id}.`, ...more }
}

export function sub(id: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { agent: id, description: `Ask ${id}.`, ...more }
}

/** An id as one segment of a path. */
export function segment(id: string): string {
  return encodeURIComponent(id)
}

/** Reads until the claim holds; fails after forty seconds with the last reading. */
export async function until<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  const deadline = Date.now() + 40_000
  let value = await read()
  while (!holds(value)) {
    if (Date.now() > deadline) assert.fail(`did not come about; last reading: ${JSON.stringify(value).slice(0, 2000)}`)
    await delay(20)
    value = await read()
  }
  return value
}

/** Starts both; `close` ends both and holds every request that a model saw to the contract's form. */
export async function createStage(options: Omit<WitanOptions, 'modelUrl'> = {}): Promise<Stage> {
  const model = await createModelServer()
  const witan = await createWitan({ ...options, modelUrl: model.url }).catch(async (error: unknown) => {
    await model.close()
    throw error
  })
  return { model, witan, ...callsTo(witan), close: () => close(model, witan) }
}

/** The calls of a stage, to whatever server answers. */
export function callsTo(witan: Pick<Witan, 'call'>): Omit<Stage, 'model' | 'witan' | 'close'> {
  const begin = async (agentId: string, body: Record<string, unknown> = {}) => {
    const answer = await witan.call<Started>('POST', '/api/v1/conversations', { body: { agent: agentId, ...body } })
    assert.equal(answer.status, 201, answer.text)
    return answer.body
  }
  const runAnswer = <T>(id: string, body: Record<string, unknown>, headers: Record<string, string> = {}) =>
    witan.call<T>('POST', `/api/v1/conversations/${segment(id)}/runs`, { body, headers })
  const read = async <T>(path: string) => {
    const answer = await witan.call<T>('GET', path, { headers: { accept: 'application/json' } })
    assert.equal(answer.status, 200, `${path}: ${answer.text}`)
    return answer.body
  }
  return {
    begin,
    runAnswer,
    save: async (...agents) => {
      const answer = await witan.call('POST', '/api/v1/agents/batch', { body: { agents } })
      assert.ok(answer.status === 200 || answer.status === 201, `batch: ${answer.status} ${answer.text}`)
    },
    ask: async (agentId, prompt, body = {}) => {
      const { run } = await begin(agentId, { ...body, prompt })
      assert.ok(run, 'a start with a prompt gives a run')
      return run
    },
    run: async (id, body) => {
      const answer = await runAnswer<RunResult>(id, body)
      assert.equal(answer.status, 200, answer.text)
      return answer.body
    },
    conversation: (id) => read(`/api/v1/conversations/${segment(id)}`),
    events: async (id, query = 'verbose=true') =>
      (await read<EventPage>(`/api/v1/conversations/${segment(id)}/events?${query}`)).events,
    document: (path, query) => read(`/api/v1/documents/${path}${query ? `?${query}` : ''}`),
  }
}

async function close(model: ModelServer, witan: Witan): Promise<void> {
  await witan.close()
  await model.close()
  for (const seen of model.seen) {
    assertAlternates(seen.body.messages)
    assert.equal(seen.body.stream, true, 'a model is asked with stream: true')
    assert.equal(seen.body.stream_options?.include_usage, true, 'a model is asked for its usage')
  }
  assert.deepEqual(model.unexpected, [], 'a model was asked more than was planned')
}
