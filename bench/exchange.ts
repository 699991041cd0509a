/**
 * What an exchange costs: `npm run bench:exchange -- [--rounds 12] [--ms 400] [--stores memory,normal]`. A run in which an agent sends
 * ten messages to a peer, by a protocol with an order and reply schemas, beside a run with ten delegations; rounds take turns.
 */
import { parseArgs } from 'node:util'
import { createRuntime, defineAgent, defineProtocol, type Model, type Runtime } from '@witan/core'
import { aboutHere } from './about.ts'
import { percentile } from './figure.ts'
import { gridOf } from './grid.ts'
import { type GroundName, openGround, storeAt } from './ground.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '12' },
    ms: { type: 'string', default: '400' },
    stores: { type: 'string', default: 'memory,normal' },
  },
})

const asked = 10
const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 }

/** Calls the tool ten times, one after the other; another agent answers at once. */
function model(tool: string, argument: string): Model {
  return {
    id: 'bench/instant',
    async *stream({ messages }) {
      const isRoot = messages[0]?.content.startsWith('Ask') === true
      const done = messages.filter(({ role }) => role === 'tool').length
      const calls =
        isRoot && done < asked ? [{ id: `c${done}`, name: tool, arguments: `{"${argument}":"n ${done}"}` }] : []
      const finishReason = calls.length > 0 ? 'tool_calls' : 'stop'
      const text = isRoot ? (calls.length > 0 ? '' : 'done') : '{"count":3}'
      yield { type: 'reply', reply: { text, toolCalls: calls, finishReason, usage, model: null } }
    },
  }
}

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const count = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] }
const stock = defineProtocol({
  name: 'stock',
  messages: [{ name: 'ask', from: 'initiator', schema: text, reply: count }],
  order: { start: 'idle', final: ['idle'], states: { idle: { ask: 'idle' } } },
})
const limits = { maxIterations: 20, maxModelCalls: 40 }

const subjects = {
  delegations(): Pick<Parameters<typeof createRuntime>[0] & object, 'agents'> {
    const play = model('store', 'message')
    const root = defineAgent({ id: 'root', instructions: 'Ask.', model: play, limits, subAgents: [{ agent: 'store' }] })
    return { agents: [root, defineAgent({ id: 'store', instructions: 'Tell.', model: play, outputSchema: count })] }
  },
  messages() {
    const play = model('store_ask', 'text')
    const [protocol, role] = ['stock', 'initiator' as const]
    const root = defineAgent({
      id: 'root',
      instructions: 'Ask.',
      model: play,
      limits,
      speaks: [{ protocol, role, peers: ['store'] }],
    })
    const store = defineAgent({
      id: 'store',
      instructions: 'Tell.',
      model: play,
      speaks: [{ protocol, role: 'responder' }],
    })
    return { agents: [root, store], protocols: [stock] }
  },
}

async function runFor(runtime: Runtime, ms: number): Promise<number> {
  const began = performance.now()
  let runs = 0
  while (performance.now() - began < ms) {
    const { run } = await runtime.start({ agent: 'root', prompt: 'go' })
    const result = await run?.result
    if (result?.text !== 'done') throw new Error(`unexpected end: ${JSON.stringify(result)}`)
    runs += 1
  }
  return ((performance.now() - began) * 1000) / runs
}

console.log(aboutHere().text)
const rows: string[][] = []
const ground = openGround()
for (const name of values.stores.split(',') as GroundName[]) {
  const open = async (make: () => object) =>
    createRuntime({ ...make(), store: storeAt(await ground.site(name)), retry: { tries: 1 } })
  const [delegating, speaking] = [await open(subjects.delegations), await open(subjects.messages)]
  for (const one of [delegating, speaking]) await runFor(one, Number(values.ms))
  const pairs: (readonly [number, number])[] = []
  for (let round = 0; round < Number(values.rounds); round += 1)
    pairs.push([await runFor(delegating, Number(values.ms)), await runFor(speaking, Number(values.ms))])
  const middle = (of: readonly number[]) => percentile(of, 0.5)
  const [one, other] = [middle(pairs.map(([first]) => first)), middle(pairs.map(([, second]) => second))]
  const ratio = middle(pairs.map(([first, second]) => second / first))
  rows.push([name, one.toFixed(0), other.toFixed(0), ratio.toFixed(2)])
  await Promise.all([delegating.close(), speaking.close()])
}
await ground.close()
console.log(gridOf(['store', 'ten delegations, µs', 'ten messages, µs', 'ratio'], rows))
