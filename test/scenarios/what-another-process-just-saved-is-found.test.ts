/** Agents that another process has saved and this one has not heard of yet: it looks in the store before it refuses. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { createRuntime, memoryStore, type Runtime, type Store } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { agent } from '../support/stage.ts'

/** Two processes on one store, of which the second hears nothing of the first. */
async function twoProcesses(
  context: TestContext,
  play: Parameters<typeof scriptedModel>[0] = () => 'ok',
): Promise<readonly [Runtime, Runtime]> {
  const store = memoryStore()
  const models = { 'play/model': scriptedModel(play) }
  const deaf = new Proxy(memoryStore({ beside: store }), {
    get(target, name) {
      if (name === 'listen') return () => () => {}
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  }) satisfies Store
  const runtimes = [createRuntime({ store, models }), createRuntime({ store: deaf, models })] as const
  context.after(() => Promise.all(runtimes.map((runtime) => runtime.close())))
  for (const runtime of runtimes) {
    await runtime.ready
    await runtime.agents.list()
  }
  return runtimes
}

test('an agent that was saved elsewhere a moment ago is read, run, listed under, and named', async (context) => {
  const [here, there] = await twoProcesses(context)
  await here.agents.save(agent('read'))
  assert.equal((await there.agents.get('read')).revision, 1)
  await here.agents.save(agent('started'))
  const { run } = await there.start({ agent: 'started', prompt: 'go' })
  assert.equal((await run?.result)?.text, 'ok')
  await here.agents.save(agent('leaf'))
  await there.agents.save(agent('root', { subAgents: [{ agent: 'leaf' }] }))
  await here.agents.save({ ...agent('ada'), name: 'Ada Lovelace' })
  assert.equal((await there.agents.get('Ada Lovelace')).id, 'ada')
})

test('a conversation whose agent was saved elsewhere a moment ago goes on here', async (context) => {
  const [here, there] = await twoProcesses(context)
  await here.agents.save(agent('root'))
  await here.start({ agent: 'root', id: 'chats/1' })
  const run = await there.run('chats/1', { prompt: 'go' })
  assert.equal((await run.result).text, 'ok')
})

test('a save without terms goes over what another process saved; one over an old revision is refused', async (context) => {
  const [here, there] = await twoProcesses(context)
  await here.agents.save(agent('root'))
  await there.agents.get('root')
  await here.agents.save(agent('root', { instructions: 'Two.' }))
  const { agent: third } = await there.agents.save(agent('root', { instructions: 'Three.' }))
  assert.equal(third.revision, 3)
  await here.agents.get('root')
  await assert.rejects(there.agents.save(agent('root', { instructions: 'Four.' }), { ifRevision: 2 }), {
    code: 'REVISION_MISMATCH',
    message: 'Agent `root` is at revision 3, not 2.',
  })
  const { agent: fourth } = await there.agents.save(agent('root', { instructions: 'Four.' }), { ifRevision: 3 })
  const saved = await here.agents.save(agent('root', { instructions: 'Five.' }), { ifRevision: fourth.revision })
  assert.equal(saved.agent.revision, 5)
})

test('an agent that was deleted elsewhere a moment ago can be made anew, and one that was never there is not found', async (context) => {
  const [here, there] = await twoProcesses(context)
  await here.agents.save(agent('root'))
  await there.agents.get('root')
  await here.agents.delete('root')
  assert.equal((await there.agents.save(agent('root', { instructions: 'New.' }), { create: true })).created, true)
  await assert.rejects(there.agents.get('nobody'), { code: 'NOT_FOUND' })
})

test('a run that was begun elsewhere goes on here with agents that were saved there a moment ago', async (context) => {
  const [here, there] = await twoProcesses(context, (request, turn) => {
    if (!request.tools.some(({ name }) => name === 'leaf')) return 'ok'
    return turn === 0
      ? call('Ask', {})
      : turn === 1
        ? call('leaf', { message: 'go' })
        : `it said ${toolResults(request).at(-1)}`
  })
  await here.agents.save(agent('root'))
  await there.agents.get('root')
  await here.agents.save(agent('leaf'))
  await here.agents.save(agent('root', { subAgents: [{ agent: 'leaf' }], actions: [{ name: 'Ask' }] }))
  const { run } = await here.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
  const waiting = await (run?.result ?? assert.fail())
  const actionResponses = [{ id: waiting.interruptions[0]?.id ?? '', response: 'yes' }]
  const { text } = await (await there.run('chats/1', { actionResponses })).result
  assert.equal(text, 'it said ok')
})
