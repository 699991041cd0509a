/** Agents change while runs are under way: a run keeps what it started with; the next one takes the new. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore, type Runtime } from '@witan/core'
import { call, scriptedModel, systemText } from '@witan/core/testing'
import { fakeClock } from '../support/clock.ts'
import { note } from '../support/random-system.ts'
import { outliving } from '../support/reopen.ts'
import { agent, createGate, createStage, settle, until } from '../support/stage.ts'

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

test('[C8] a run keeps the revision of every agent below it, by whichever edge and however deep', async () => {
  const gate = createGate()
  const ids = ['first', 'second', 'below']
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'first' }, { agent: 'second' }] },
      { id: 'first' },
      { id: 'second', subAgents: [{ agent: 'first' }, { agent: 'below' }] },
      { id: 'below' },
    ],
    plays: {
      root: async (_request, turn) => {
        await gate.opened
        return [call('first', { message: 'x' }), call('second', { message: 'x' }), 'done'][turn % 3]
      },
      first: ['fine', 'fine'],
      second: (_request, turn) => (turn % 2 === 0 ? call('below', { message: 'x' }) : 'fine'),
      below: ['fine', 'fine'],
    },
  })
  const opened = await stage.runtime.start({ agent: 'root', prompt: 'go', id: 'chats/1' })
  await until(() => stage.seenBy('root').length === 1)
  await stage.runtime.agents.save(tuned('first'))
  await stage.runtime.agents.save(tuned('second', { subAgents: [{ agent: 'first' }, { agent: 'below' }] }))
  await stage.runtime.agents.save(tuned('below'))
  gate.open()
  await opened.run?.result
  const read = () => ids.map((id) => stage.seenBy(id).at(-1)?.messages[0]?.content)
  assert.deepEqual(
    read(),
    ids.map((id) => `You are ${id}.`),
  )
  await stage.run('chats/1', { prompt: 'again' })
  assert.deepEqual(
    read(),
    ids.map((id) => `You are ${id}. Second edition.`),
  )
})

test('[C8] [R43] what a delegate asks of its caller’s model is told anew when it changes', async () => {
  const leaf = (more: object) => agent('leaf', { parameters: [{ name: 'topic', description: 'Old.', ...more }] })
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'leaf' }] }, { id: 'leaf' }],
    plays: { root: ['one', 'two', 'three', 'four'] },
  })
  const told: unknown[] = []
  for (const more of [{}, { description: 'New.' }, { type: 'number' }, { sendToModel: false }]) {
    await stage.runtime.agents.save(leaf(more))
    await (told.length === 0 ? stage.ask('root', 'go', { id: 'chats/1' }) : stage.run('chats/1', { prompt: 'again' }))
    const schema = stage.requests.at(-1)?.tools[0]?.parameters as { properties: Record<string, unknown> }
    told.push(schema.properties['topic'])
  }
  const [one, two, three] = [
    { type: 'string', description: 'Old.' },
    { type: 'string', description: 'New.' },
    { type: 'number', description: 'Old.' },
  ]
  assert.deepEqual(told, [one, two, three, one])
})

test('[E6] [Rb45] a delegate that was deleted or disabled meanwhile is an error the model reads', async () => {
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

test('[E6] a call that is under way ends with what it has, whoever deletes or disables its agent meanwhile', async () => {
  for (const remove of ['delete', 'disable'] as const) {
    const gate = createGate()
    const stage = createStage({
      agents: [
        { id: 'root', subAgents: [{ agent: 'leaf' }] },
        { id: 'leaf', tools: ['note'] },
      ],
      plays: {
        root: [call('leaf', { message: 'x' }), call('leaf', { message: 'y' }), 'done'],
        leaf: async (request, turn) => {
          if (request.messages.at(-1)?.content === 'x') await gate.opened
          return turn === 0 ? call('note') : 'noted'
        },
      },
      options: { tools: [note] },
    })
    const opened = await stage.runtime.start({ agent: 'root', prompt: 'go', id: 'chats/1' })
    await until(() => stage.seenBy('leaf').length === 1)
    if (remove === 'delete') await stage.runtime.agents.delete('leaf', { force: true })
    else await stage.runtime.agents.save(agent('leaf', { disabled: true }))
    gate.open()
    assert.equal((await opened.run?.result)?.status, 'completed', remove)
    const [first] = stage.seenBy('root')[1]?.messages.slice(-1) ?? []
    assert.equal(first?.content, 'noted', remove)
    // The agent's words and tools are those of its revision, to its last step.
    assert.deepEqual(
      stage.seenBy('leaf')[1]?.tools.map(({ name }) => name),
      ['note'],
      remove,
    )
    assert.equal(stage.seenBy('leaf')[1]?.messages[0]?.content, 'You are leaf.')
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
  // One after the other works as well: the first is changed once the second is there.
  await stage.runtime.agents.save(agent('three'))
  await stage.runtime.agents.save(agent('four', { subAgents: [{ agent: 'three' }] }))
  await stage.runtime.agents.save(agent('three', { subAgents: [{ agent: 'four', description: 'Knows.' }] }))
  const { warnings } = await stage.runtime.agents.get('three')
  assert.deepEqual(
    warnings.map(({ code }) => code),
    ['AGENT_CYCLE'],
  )
})

test('[F10] at every start an agent of code is stored by its id: unchanged as it was, changed as a new revision, over what was edited', async () => {
  const store = memoryStore()
  const open = async (words: string) => {
    const agents = [agent('root', { instructions: words, subAgents: [{ agent: 'leaf' }] }), agent('leaf')]
    const models = { 'play/model': scriptedModel(systemText) }
    const runtime = createRuntime({ store: outliving(store), clock: fakeClock(), models, agents })
    await runtime.ready
    return runtime
  }
  const told = async ({ agents }: Runtime) => {
    const { items } = await agents.list()
    return items.map(({ id, revision, source, instructions }) => [id, revision, source, instructions])
  }
  const leaf = ['leaf', 1, 'code', 'You are leaf.']
  const first = await open('Be kind.')
  assert.deepEqual(await told(first), [leaf, ['root', 1, 'code', 'Be kind.']])
  await first.close()
  const second = await open('Be kind.')
  assert.deepEqual(await told(second), [leaf, ['root', 1, 'code', 'Be kind.']])
  await second.agents.save(agent('other'))
  await second.close()
  const third = await open('Be brief.')
  // What is not of code, and what code has not changed, stays.
  const other = ['other', 1, 'data', 'You are other.']
  assert.deepEqual(await told(third), [leaf, other, ['root', 2, 'code', 'Be brief.']])
  assert.equal((await third.conversation('root').run('hello')).text, 'Be brief.')
  await third.close()
})

test('[F10] a run that waited is taken up after the agents of code are stored, with the revisions it began with', async () => {
  const store = memoryStore()
  const open = (words: string) => {
    const model = scriptedModel((request, turn) => (turn === 0 ? call('leaf', { message: 'go' }) : systemText(request)))
    const leaf = scriptedModel((request, turn) => (turn === 0 ? call('Ask') : systemText(request)))
    const agents = [
      agent('root', { instructions: words, subAgents: [{ agent: 'leaf' }] }),
      { ...agent('leaf', { instructions: words, actions: [{ name: 'Ask' }] }), model: 'play/leaf' },
    ]
    const models = { 'play/model': model, 'play/leaf': leaf }
    return createRuntime({ store: outliving(store), clock: fakeClock(), models, agents })
  }
  const first = open('Old.')
  const waiting = await (await first.start({ agent: 'root', id: 'chats/1', prompt: 'go' })).run?.result
  assert.equal(waiting?.status, 'waiting')
  await first.close()
  const second = open('New.')
  const answer = { id: waiting.interruptions[0]?.id ?? '', response: 'ok' }
  const resumed = await (await second.run('chats/1', { actionResponses: [answer] })).result
  assert.equal(resumed.text, 'Old.')
  assert.equal((await (await second.run('chats/1', { prompt: 'again' })).result).status, 'waiting')
  assert.equal((await second.agents.get('root')).revision, 2)
  await second.close()
})
