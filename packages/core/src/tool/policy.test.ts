/** Policies: a remote's condition waits under its issuer like everything else, and never becomes text for a model. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../../../test/support/clock.ts'
import { localPrincipal } from '../identity/principal.ts'
import { call, scriptedModel } from '../testing/scripted-model.ts'
import { policyAnswer } from './policy.ts'
import { createWitan } from '../runtime/witan.ts'
import { wire } from '../runtime/wiring.ts'
import { result, pendingOn } from './outcome.ts'
import type { ImmediateTool, Toolset } from './tool.ts'

/** A tool as a remote edge will be: it parks the call with the policy part, and goes on with its resolution. */
const remote: ImmediateTool = {
  name: 'docs',
  kind: 'function',
  offer: { name: 'docs', description: 'Elsewhere.', parameters: { type: 'object', properties: {} } },
  notice: null,
  effect: 'once',
  bound: [],
  immediate: true,
  check: (args) => ({ ok: true, arguments: args }),
  invoke() {
    return pendingOn({ kind: 'policy', issuer: '@docs@b.example', policy: { kind: 'payment', amount: 'secret-price' } })
  },
  resume(answer) {
    const met = policyAnswer(answer)
    return 'kind' in met ? met : result({ sent: met.resolution })
  },
}

/** No edge offers such a tool yet, so the test puts it in where the runtime's parts are joined. */
async function staged(expires: number | null = null) {
  const clock = fakeClock()
  const isRoot = (text = '') => text.startsWith('root')
  const model = scriptedModel(({ messages }) => {
    const answered = messages.some(({ role }) => role === 'tool')
    if (isRoot(messages[0]?.content)) return answered ? 'done' : call('leaf', { message: 'ask' })
    return answered ? 'leaf done' : call('docs', {})
  })
  const parts = wire({ clock, models: { play: model } })
  const { toolset } = parts.env
  const withRemote: Pick<typeof parts.env, 'toolset'> = {
    toolset: (caller): Toolset =>
      new Map([...toolset(caller), ...(caller.agent.id === 'leaf' ? [['docs', remote] as const] : [])]),
  }
  Object.assign(parts.env, withRemote)
  await parts.store.open()
  await parts.worker.open()
  const witan = createWitan(parts, localPrincipal, () => Promise.resolve())
  await witan.agents.saveAll([
    { id: 'root', model: 'play', instructions: 'root', subAgents: [{ agent: 'leaf' }] },
    { id: 'leaf', model: 'play', instructions: 'leaf', interruptionExpiresInSeconds: expires },
  ])
  const opened = await witan.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
  const waiting = await opened.run?.result
  const settled = async () => {
    for (let round = 0; round < 1000; round += 1) {
      if ((await witan.getConversation('chats/1')).status === 'idle') return
      await new Promise((resolve) => setImmediate(resolve))
    }
    throw new Error('the run did not end')
  }
  const read = () => model.requests.at(-2)?.messages.at(-1)?.content ?? ''
  return { clock, witan, waiting, settled, read, requests: model.requests }
}

test('[C21] [E66] a policy is surfaced at the root with its issuer, and its resolution goes to the tool alone', async () => {
  const { witan, waiting, settled, read, requests } = await staged()
  const [asked] = waiting?.interruptions ?? []
  assert.ok(asked?.kind === 'policy')
  assert.deepEqual([asked.issuer, asked.path, asked.policy['kind']], ['@docs@b.example', 'leaf/docs', 'payment'])
  await assert.rejects(witan.answerInterruption(asked.id, { answer: 'paid' }), { code: 'ANSWER_INVALID' })
  await witan.answerInterruption(asked.id, { answer: { resolution: { receipt: 7 } } })
  await settled()
  assert.equal(read(), '{"sent":{"receipt":7}}')
  assert.ok(!JSON.stringify(requests).includes('secret-price'), 'no model reads the policy')
})

test('[C21] declined or expired, the model gets a neutral error', async () => {
  const declined = await staged()
  const id = declined.waiting?.interruptions[0]?.id ?? ''
  await declined.witan.answerInterruption(id, { answer: { decision: 'declined' } })
  await declined.settled()
  assert.match(declined.read(), /^\{"error":"The remote agent’s condition was declined\."\}$/)
  const expired = await staged(60)
  expired.clock.advance(60_000)
  await expired.settled()
  assert.match(expired.read(), /not met in time/)
  for (const { requests } of [declined, expired]) assert.ok(!JSON.stringify(requests).includes('secret-price'))
})
