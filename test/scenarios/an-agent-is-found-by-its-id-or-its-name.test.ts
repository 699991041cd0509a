/** An agent answers to its id and to its display name; neither ever means two agents, and some words mean none. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { agent, createStage } from '../support/stage.ts'

const staged = () =>
  createStage({
    agents: [
      { id: 'root', name: 'Front Desk', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', name: 'Ｌeaf Reader' },
    ],
    plays: { root: ['root here'], leaf: ['leaf here'], fresh: ['x'] },
  })

describe('names of agents', () => {
  test('[C28] [F12] an id, or a display name in any case, leads to the agent wherever one is asked for', async () => {
    const { runtime, ask } = staged()
    for (const word of ['root', 'Front Desk', ' front  DESK ']) {
      assert.equal((await runtime.agents.get(word)).id, 'root', word)
      assert.equal((await runtime.agents.graph(word)).nodes[0]?.id, 'root')
      assert.deepEqual(
        (await runtime.agents.subAgents.list(word)).items.map(({ edge }) => edge.agent),
        ['leaf'],
      )
    }
    const result = await ask('front desk', 'hello')
    assert.equal(result.text, 'root here')
    const { id } = (await runtime.listConversations({ agent: 'Front desk' })).items[0] ?? { id: '' }
    assert.equal(id, result.conversationId)
    assert.equal((await runtime.getConversation(id)).agent, 'root', 'what is stored is the id')
    assert.equal((await ask('FRONT DESK', 'more', { id })).conversationId, id, 'the same agent goes on by either name')
    const direct = await runtime.agents.subAgents.run('Front Desk', 'leaf reader', { prompt: 'hi' })
    assert.equal((await direct.result).text, 'leaf here', 'width makes no difference either')
    await assert.rejects(runtime.agents.get('Back Desk'), { code: 'NOT_FOUND', message: /Back Desk/ })
    await runtime.agents.delete('leaf reader', { force: true })
    await assert.rejects(runtime.agents.get('leaf'), { code: 'NOT_FOUND' })
  })

  test('[C28] [K11] a name that another agent answers to is refused, whichever of the two comes second', async () => {
    const { runtime } = staged()
    const rows: [id: string, name: string | undefined, path: string][] = [
      ['fresh', 'Front Desk', 'name'],
      ['fresh', 'front  desk', 'name'],
      ['fresh', 'LEAF', 'name'],
      ['front-desk', undefined, 'id'],
    ]
    await runtime.agents.save(agent('named', { name: 'front-desk' }))
    for (const [id, name, path] of rows) {
      const draft = agent(id, name === undefined ? {} : { name })
      await assert.rejects(runtime.agents.save(draft), { code: 'NAME_TAKEN', path }, `${id} ${name}`)
      const report = await runtime.agents.check([draft])
      assert.deepEqual(
        report.errors.map((finding) => [finding.code, finding.agent, finding.path]),
        [['NAME_TAKEN', id, path]],
      )
    }
    await assert.rejects(runtime.agents.saveAll([agent('one', { name: 'Twin' }), agent('two', { name: 'twin' })]), {
      code: 'NAME_TAKEN',
      message: 'Agent `one` named `Twin` could be taken for `two` named `twin`.',
    })
    await runtime.agents.save(agent('fresh', { name: 'Fresh' }))
    await runtime.agents.save(agent('fresh', { name: 'fresh' }))
    assert.equal((await runtime.agents.get('FRESH')).revision, 2, 'its own name and id are no clash')
  })

  test('[C28] no agent is called as the person, as everybody, or as a built-in tool', async () => {
    const { runtime } = staged()
    for (const id of ['user', 'all']) {
      await assert.rejects(runtime.agents.save(agent(id)), { code: 'ID_INVALID', path: 'id', message: /reserved/ }, id)
    }
    for (const name of ['User', 'ALL', 'transfer_to_agent', 'exit_loop', 'Set_Output'])
      await assert.rejects(runtime.agents.save(agent('fresh', { name })), { code: 'ID_INVALID', path: 'name' }, name)
    for (const id of ['users', 'all-of-them']) assert.equal((await runtime.agents.save(agent(id))).created, true)
  })
})
