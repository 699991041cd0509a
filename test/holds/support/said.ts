/** A runtime whose models say what a row tells them, and the run of it. */
import {
  createRuntime,
  type Model,
  type ModelReply,
  type ModelRequest,
  type Runtime,
  type RuntimeOptions,
} from '@witan/core'
import type { AgentInput } from '@witan/protocol'
import type { Act, Play } from './row.ts'

/** One reply of a model. */
export interface Said {
  readonly text?: string
  readonly reasoning?: string
  readonly calls?: readonly { readonly name: string; readonly arguments: string }[]
}

/** What a model says to a request; `step` is 0 for its first reply of a run. */
export type Script = (step: number, request: ModelRequest) => Said

/** A model that gives its replies at once, each in one piece, and counts nothing. */
export function saying(id: string, script: Script): Model {
  return {
    id,
    async *stream(request, { deltas }) {
      const { text = '', reasoning, calls = [] } = script(stepOf(request), request)
      if (deltas && text !== '') yield { type: 'delta', text }
      const toolCalls = calls.map((one, at) => ({ id: `call_${request.messages.length}_${at}`, ...one }))
      const finishReason = toolCalls.length > 0 ? 'tool_calls' : 'stop'
      const reply: ModelReply = { text, toolCalls, finishReason, usage: null, model: null }
      yield { type: 'reply', reply: reasoning === undefined ? reply : { ...reply, reasoning } }
    },
  }
}

function stepOf({ messages }: ModelRequest): number {
  const from = messages.findLastIndex(({ role }) => role === 'user')
  return messages.slice(from + 1).filter(({ role }) => role === 'assistant').length
}

/** What a run is made of. */
export interface Stage {
  readonly script: Script
  /** The agent `root`; its model is `play/root`. */
  readonly agent?: Partial<AgentInput>
  readonly options?: RuntimeOptions
  /** Of the message that starts the run. */
  readonly start?: Readonly<Record<string, unknown>>
}

/** A runtime in memory with one agent, closed after the play. */
export async function open(play: Play, { script, agent = {}, options = {} }: Stage): Promise<Runtime> {
  const { models = {}, agents = [], ...more } = options
  const root = { id: 'root', model: 'play/root', instructions: 'You do it.', ...agent }
  const runtime = createRuntime({
    models: { 'play/root': saying('play/root', script), ...models },
    agents: [root, ...agents],
    retry: { tries: 1 },
    report: () => undefined,
    ...more,
  })
  play.after(() => runtime.close())
  await runtime.ready
  return runtime
}

/** One run of `root`, from its start to its end. */
export async function run(play: Play, stage: Stage): Promise<Act> {
  const runtime = await open(play, stage)
  return async () => (await runtime.start({ agent: 'root', prompt: 'Go.', ...stage.start })).run?.result
}

/** So many runs of `root` at once, to the end of the last. */
export async function runsAtOnce(play: Play, stage: Stage, count: number): Promise<Act> {
  const runtime = await open(play, stage)
  const one = async () => (await runtime.start({ agent: 'root', prompt: 'Go.' })).run?.result
  return () => Promise.all(Array.from({ length: count }, one))
}
