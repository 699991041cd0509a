/** `parents` of an agent in code: who may list it, and who does once the runtime has started. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRuntime, defineAgent, sqliteStore } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'

const folder = mkdtempSync(join(tmpdir(), 'witan-parents-'))

const model = (id: string) =>
  scriptedModel(
    (request) => toolResults(request)[0] ?? (id === 'root' ? call('clerk', { message: 'm' }) : `${id} was asked`),
    { id },
  )
const root = () => defineAgent({ id: 'root', instructions: 'Ask.', model: model('root') })
const clerk = () =>
  defineAgent({ id: 'clerk', description: 'Knows.', instructions: 'Know.', model: model('clerk'), parents: ['root'] })

describe('a code agent that names its parents', () => {
  after(() => rmSync(folder, { recursive: true }))

  test('[F09] [F10] is listed by them at the start, not when it is defined', async () => {
    const parent = root()
    const runtime = createRuntime({ agents: [parent, clerk()] })
    assert.deepEqual(parent.data.subAgents, [], 'defining a child changes no parent')
    const [edge, none] = (await runtime.agents.get('root')).subAgents
    assert.equal(none, undefined)
    assert.deepEqual([edge?.agent, edge?.style, edge?.blocking], ['clerk', 'delegate', 'always'])
    assert.equal((await runtime.conversation('root').run('Go.')).text, 'clerk was asked')
    await runtime.close()
  })

  test('[F10] has one edge however often the program starts, and an edge of the parent’s own stays as it is', async () => {
    const file = join(folder, 'twice.db')
    const listed = defineAgent({
      id: 'root',
      instructions: 'Ask.',
      model: model('root'),
      subAgents: [{ agent: 'clerk', description: 'Mine.', history: 'isolated' }],
    })
    for (const parent of [listed, listed]) {
      const runtime = createRuntime({ store: sqliteStore({ file }), agents: [parent, clerk()] })
      const stored = await runtime.agents.get('root')
      assert.deepEqual([stored.revision, stored.subAgents.length], [1, 1])
      assert.equal(stored.subAgents[0]?.history, 'isolated')
      await runtime.close()
    }
  })

  test('[F10] is listed by a parent that is data, which stays data; one that cannot list it stays as it is', async () => {
    const file = join(folder, 'data.db')
    const models = { root: model('root'), other: model('other') }
    const first = createRuntime({ store: sqliteStore({ file }), models })
    const draft = { instructions: 'Ask.', model: 'root' }
    await first.agents.save({ id: 'root', ...draft })
    await first.agents.save({ id: 'full', ...draft, actions: [{ name: 'clerk' }] })
    await first.close()
    const reports: unknown[] = []
    const child = defineAgent({
      id: 'clerk',
      instructions: 'Know.',
      model: model('clerk'),
      parents: ['root', 'full', 'clerk', 'nobody'],
    })
    const second = createRuntime({
      store: sqliteStore({ file }),
      models,
      agents: [child],
      report: (error) => reports.push(error),
    })
    const parent = await second.agents.get('root')
    assert.deepEqual(
      [parent.source, parent.revision, parent.subAgents.map(({ agent }) => agent)],
      ['data', 2, ['clerk']],
    )
    assert.equal((await second.agents.get('full')).revision, 1)
    assert.match(String(reports[0]), /clerk/)
    assert.equal(reports.length, 1)
    await second.close()
  })

  test('[F03] the permission stays: nobody else may list it', async () => {
    const runtime = createRuntime({ agents: [root(), clerk()] })
    const stranger = { id: 'stranger', instructions: 'x', model: 'root', subAgents: [{ agent: 'clerk' }] }
    await assert.rejects(runtime.agents.save(stranger), { code: 'PARENT_NOT_ALLOWED' })
    await runtime.close()
  })
})
