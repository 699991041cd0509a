/** Agents change while runs are under way: a run keeps what it started with; the next one takes the new. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call } from '@witan/core/testing'
import { agent, createGate, createStage, settle } from '../support/stage.ts'

const tuned = (id: string, more: Parameters<typeof agent>[1] = {}) =>
  agent(id, { ...more, instructions: `You are ${id}. Second edition.` })

test('[C8] [E7] an agent saved while its run waits: the run goes on with the old revision, the next takes the new', async () => {
  const stage = createStage({
    agents: [{ id: 'root', actions: [{ name: 'Ask' }] }],
    plays: { root: [call('Ask'), 'done'] },
  })
  const { interruptions } = await stage.ask('root', 'go', { id: 'chats/1' })
  const saved = await stage.runtime.agents.save(tuned('root'))
  assert.equal(saved.agent.revision, 2)
  const done = await stage.run('chats/1', { actionResponses: [{ id: interruptions[0]?.id, response: 1 }] })
  assert.equal(done.status, 'completed')
  assert.equal(stage.requests[1]?.messages[0]?.content, 'You are root.')
  assert.equal(stage.requests[1]?.tools[0]?.name, 'Ask')
  await stage.run('chats/1', { prompt: 'again' }).catch(() => null)
  assert.equal(stage.requests[2]?.messages[0]?.content, 'You are root. Second edition.')
})

test('[C8] a delegate saved while the run is under way applies from the next run', async () => {
  const gate = createGate()
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'leaf' }] }, { id: 'leaf' }],
    plays: {
      root: async (_request, turn) => {
        await gate.opened
        return turn === 0 ? call('leaf', { message: 'x' }) : 'done'
      },
      leaf: ['fine'],
    },
  })
  const opened = await stage.runtime.start({ agent: 'root', prompt: 'go', id: 'chats/1' })
  await settle()
  await stage.runtime.agents.save(tuned('leaf'))
  gate.open()
  await opened.run?.result
  assert.equal(stage.seenBy('leaf')[0]?.messages[0]?.content, 'You are leaf.')
  await stage.run('chats/1', { prompt: 'again' })
  assert.equal(stage.seenBy('leaf')[1]?.messages[0]?.content, 'You are leaf. Second edition.')
})

test('[E6] a delegate that was deleted or disabled meanwhile is an error the model reads', async () => {
  for (const remove of ['delete', 'disable'] as const) {
    const gate = createGate()
    const stage = createStage({
      agents: [{ id: 'root', subAgents: [{ agent: 'leaf' }] }, { id: 'leaf' }],
      plays: {
        root: async (_request, turn) => {
          await gate.opened
          return turn === 0 ? call('leaf', { message: 'x' }) : 'done'
        },
        leaf: ['fine'],
      },
    })
    const opened = await stage.runtime.start({ agent: 'root', prompt: 'go', id: 'chats/1' })
    await settle()
    if (remove === 'delete') await stage.runtime.agents.delete('leaf', { force: true })
    else await stage.runtime.agents.save(agent('leaf', { disabled: true }))
    gate.open()
    const result = await opened.run?.result
    assert.equal(result?.status, 'completed', remove)
    await stage.run('chats/1', { prompt: 'again' })
    assert.deepEqual(stage.seenBy('root').at(-1)?.tools, [])
    assert.match(stage.seenBy('root').at(-1)?.messages.at(-1)?.content ?? '', /not available/)
  }
})

test('[E6] an agent that others list is not deleted unless forced', async () => {
  const stage = createStage({ agents: [{ id: 'root', subAgents: [{ agent: 'leaf' }] }, { id: 'leaf' }], plays: {} })
  await assert.rejects(stage.runtime.agents.delete('leaf'), { code: 'AGENT_REFERENCED' })
  await stage.runtime.agents.delete('leaf', { force: true })
  await assert.rejects(stage.runtime.agents.get('leaf'), { code: 'NOT_FOUND' })
})

test('[Rb45] a disabled agent starts no run, an unknown one neither', async () => {
  const stage = createStage({ agents: [{ id: 'root', disabled: true }], plays: {} })
  await assert.rejects(stage.ask('root', 'go'), { code: 'AGENT_DISABLED' })
  await assert.rejects(stage.ask('nobody', 'go'), { code: 'NOT_FOUND' })
})

test('[Rb32] a conversation belongs to one agent', async () => {
  const stage = createStage({ agents: [{ id: 'root' }, { id: 'leaf' }], plays: { root: ['hi'] } })
  await stage.ask('root', 'go', { id: 'chats/1' })
  await assert.rejects(stage.ask('leaf', 'go', { id: 'chats/1' }), { code: 'CONVERSATION_AGENT_MISMATCH' })
})

test('[R04] [E2] agents that list each other are saved in one batch, all or none', async () => {
  const stage = createStage({ agents: [], plays: {} })
  const one = agent('one', { subAgents: [{ agent: 'two' }] })
  const two = agent('two', { subAgents: [{ agent: 'one' }] })
  await assert.rejects(stage.runtime.agents.save(one), { code: 'AGENT_REF_UNKNOWN' })
  await assert.rejects(stage.runtime.agents.saveAll([one, { ...two, subAgents: [{ agent: 'three' }] }]), {
    code: 'AGENT_REF_UNKNOWN',
  })
  assert.deepEqual((await stage.runtime.agents.list()).items, [])
  assert.equal((await stage.runtime.agents.saveAll([one, two])).length, 2)
})

test('[F10] an agent of code that did not change makes no new revision, and is marked', async () => {
  const stage = createStage({ agents: [{ id: 'root' }], plays: {} })
  const known = await stage.runtime.agents.get('root')
  assert.deepEqual([known.revision, known.source], [1, 'code'])
})
