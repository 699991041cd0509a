/** Two calls that demand the same for the conversation: one asks, the other waits, and goes on whatever becomes of the first. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admit } from '../run/admit.ts'
import { record } from '../job/job.ts'
import { bareJob } from '../testing/bare-job.ts'
import { demandsTool } from '../tool/demand.ts'

const demands = [{ kind: 'consent_required', message: 'May we?', per: 'conversation' as const }]
const names = ['b', 'c', 'd']
const system = [
  { id: 'a', subAgents: names.map((agent) => ({ agent })) },
  ...names.map((id) => ({ id, subAgents: [{ agent: 'shop' }] })),
  { id: 'shop', demands },
]

/** The model reply of a sub-agent that calls the shop. */
function asking(id: string) {
  const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 }
  const toolCalls = [{ id, name: 'shop', arguments: '{"message":"Sell."}' }]
  const plain = { model: 'play/model', usage, finishReason: 'tool_calls', text: '', taken: 1, startedAt: 0, attempt: 1 }
  return { type: 'end', kind: 'model', body: { ...plain, toolCalls, offered: true, accepted: true } } as const
}

test('[C21] a call that waits for the demand of another one asks itself once that call is over without an answer', async () => {
  const run = await bareJob(system)
  const { job } = run
  run.reply('', ...names.map((name) => [name, { message: 'Buy.' }] as const))
  admit(job.run.root, job)
  for (const call of [...job.run.calls.values()].filter(({ agent }) => names.includes(agent.id))) {
    record(job, call.place, asking(`call_${call.agent.id}`))
    admit(call, job)
  }
  const bodies = [...job.run.toolCalls.values()].filter(({ name }) => name === demandsTool)
  const states = () => bodies.map(({ state }) => state)
  assert.deepEqual(states(), ['started', 'waiting', 'waiting'])
  const over = { type: 'error', kind: 'agent', body: { code: 'RUN_CANCELLED', detail: 'Over.' } } as const
  for (const left of [['started', 'waiting'], ['started']]) {
    const first = bodies.shift()
    if (first !== undefined) record(job, first.owner.place, over)
    assert.deepEqual(states(), left)
  }
})
