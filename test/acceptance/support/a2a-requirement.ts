/** A requirement of A2A, the stage on which each is seen, and the few steps that many of them begin with. */
import assert from 'node:assert/strict'
import { type A2aTask, message, type StreamFrame } from './a2a.ts'
import type { BoundClient, Outcome } from './a2a-bound.ts'
import { type Script, scriptNext } from './a2a-desk.ts'
import { createGate } from './model-server.ts'
import type { Stage } from './stage.ts'

export type Level = 'MUST' | 'SHOULD' | 'MAY'

/** A requirement and how it is seen. What differs from it is seen the same way, and has its line in the documents. */
export interface Requirement {
  readonly section: string
  readonly level: Level
  readonly says: string
  readonly differs?: true
  readonly check: (at: BoundClient, other: BoundClient) => Promise<void>
}

/** The server, once a test has started it. */
export const scene: { stage: Stage | null } = { stage: null }

export function stageNow(): Stage {
  return scene.stage ?? assert.fail('no stage yet')
}

export const next = (...replies: Script extends readonly [string, ...infer Replies] ? Replies : never): void =>
  scriptNext(stageNow(), 'docs', ...replies)
export const question = { id: 'q', text: 'How many?', options: [], multiple: false, freeText: true, required: true }
export const asks = { calls: [{ name: 'ask_question', args: { questions: [question] } }] }
export const isEnd = (state = '') => /COMPLETED|FAILED|CANCELED|REJECTED/.test(state)

/** The value of an outcome that is no error. */
export function value<Value>({ value: given, text }: Outcome): Value {
  assert.ok(given !== undefined, text)
  return given as Value
}

export async function send(at: BoundClient, sent: object, configuration?: object): Promise<A2aTask> {
  const params = { message: sent, ...(configuration === undefined ? {} : { configuration }) }
  return value<{ task: A2aTask }>(await at.ask('SendMessage', params)).task
}

/** A task that has ended. */
export async function ended(at: BoundClient, text = 'done'): Promise<A2aTask> {
  next({ text })
  return send(at, message('go'))
}

/** A task at work, and what lets it go on. */
export async function working(at: BoundClient): Promise<{ readonly task: A2aTask; readonly finish: () => void }> {
  const gate = createGate()
  next({ text: 'one two three four', pieces: 4, holdAfter: 2, hold: gate })
  const task = await send(at, message('slow'), { returnImmediately: true })
  await gate.entered
  return { task, finish: () => gate.open() }
}

export async function framesOf(frames: AsyncIterable<StreamFrame>): Promise<StreamFrame[]> {
  const found: StreamFrame[] = []
  for await (const frame of frames) found.push(frame)
  return found
}

export const lastState = (frames: readonly StreamFrame[]) =>
  frames.at(-1)?.statusUpdate?.status.state ?? frames.at(-1)?.task?.status.state

export interface Listed {
  readonly tasks: readonly A2aTask[]
  readonly nextPageToken: string
  readonly pageSize: number
  readonly totalSize: number
}
export const list = async (at: BoundClient, params: object = {}) => value<Listed>(await at.ask('ListTasks', params))
export const reasonOf = async (asked: Promise<Outcome>) => (await asked).reason
export const card = async () =>
  (await stageNow().witan.call<Record<string, unknown>>('GET', '/a2a/docs/.well-known/agent-card.json')).body
