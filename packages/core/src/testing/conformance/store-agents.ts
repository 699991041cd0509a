/** Conformance of stores: agents and their revisions, and the isolation of databases. */
import assert from 'node:assert/strict'
import type { AgentData } from '@witan/protocol'
import type { AgentRow } from '../../agent/records.ts'
import type { Store } from '../../store/store.ts'
import type { Check } from './store-fixtures.ts'
import {
  addJob,
  assertRefused,
  begin,
  by,
  conversation,
  database,
  entry,
  interruption,
  newJob,
  reply,
  rest,
  settlement,
  start,
  wake,
} from './store-fixtures.ts'

function agent(id: string, revision: number, at = database): AgentRow {
  const changed = { by: 'user:anna', via: 'key', at: revision } as const
  const data = { id, instructions: `Anna's "${id}" ☔`, tools: [] } as unknown as AgentData
  return { database: at, id, revision, source: 'data', data, warnings: [], changed }
}

/** The same in a list: with the revision that created it. */
function listed(id: string, revision: number, firstRevision = 1): AgentRow {
  return { ...agent(id, revision), firstRevision }
}

/** Registers the tests of the small tables. */
export function checkAgentRecords(check: Check): void {
  check('agents are changed by revision, and every revision is kept', async (store) => {
    const save = (id: string, ifRevision: number, row: AgentRow | null) => ({ id, ifRevision, row })
    assert.equal(await store.changeAgents(database, [save('b', 0, agent('b', 1)), save('a', 0, agent('a', 1))]), true)
    assert.equal(await store.changeAgents(database, [save('a', 0, agent('a', 1))]), false)
    assert.equal(await store.changeAgents(database, [save('a', 1, agent('a', 2))]), true)
    assert.deepEqual(await store.listAgents(database), [listed('a', 2), listed('b', 1)])
    assert.deepEqual(await store.getAgentRevision(database, 'a', 1), agent('a', 1))
    assert.equal(await store.getAgentRevision(database, 'a', 3), null)
    assert.equal(await store.changeAgents(database, [save('a', 2, null)]), true)
    assert.deepEqual(await store.listAgents(database), [listed('b', 1)])
    assert.deepEqual(await store.listAgentIds(database), ['a', 'b'])
    assert.deepEqual(await store.listAgentIds('other'), [])
    assert.deepEqual(await store.getAgentRevision(database, 'a', 2), agent('a', 2))
    assert.deepEqual(
      [await store.lastAgentRevision(database, 'a'), await store.lastAgentRevision(database, 'z')],
      [2, 0],
    )
    assert.equal(await store.changeAgents(database, [save('a', 0, agent('a', 3))]), true)
    assert.equal(await store.changeAgents(database, [save('a', 3, agent('a', 4))]), true)
    assert.deepEqual(await store.listAgents(database), [listed('a', 4, 3), listed('b', 1)])
    assert.deepEqual(await store.getAgentRevision(database, 'a', 4), agent('a', 4))
  })

  check('changes of several agents are all made or none', async (store) => {
    await store.changeAgents(database, [{ id: 'a', ifRevision: 0, row: agent('a', 1) }])
    const changes = [
      { id: 'b', ifRevision: 0, row: agent('b', 1) },
      { id: 'a', ifRevision: 7, row: agent('a', 8) },
    ]
    assert.equal(await store.changeAgents(database, changes), false)
    assert.deepEqual(await store.listAgents(database), [listed('a', 1)])
    assert.equal(await store.lastAgentRevision(database, 'b'), 0)
  })

  check('of two changes at once from one revision one is made', async (store) => {
    const changes = [1, 2, 3].map(() => store.changeAgents(database, [{ id: 'a', ifRevision: 0, row: agent('a', 1) }]))
    assert.deepEqual((await Promise.all(changes)).sort(), [false, false, true])
  })

  check('a database sees nothing of another [I14]', isolated)
}

const other = 'other'

/** Every method that reads or names a row, called from the other database. */
async function isolated(store: Store): Promise<void> {
  const job = await begin(store, { id: 'j1', in: 'chats/1' })
  await addJob(store, { id: 't1', kind: 'task', in: 'chats/1' })
  await store.append({ ...by(job), entries: [entry('ask', 'j1')], open: [interruption(job, 'i1')] })
  await store.changeAgents(database, [{ id: 'a', ifRevision: 0, row: agent('a', 1) }])
  await store.beginReply(database, reply('k'))
  const page = { limit: 10, after: null }
  const everything = async (of: string) => [
    await store.getConversation(of, 'chats/1'),
    await store.listConversations(of, { ...page, agent: null, createdBy: null }),
    await store.readEntries(of, 'chats/1', { after: 0, limit: 10 }),
    await store.getJob(of, 'j1'),
    await store.listJobs(of, 'chats/1'),
    await store.listJobs(of, 'chats/1', { live: true }),
    await store.listTasks(of, { ...page, live: null }),
    await store.listRuns(of, 'chats/1', page),
    await store.countRuns(of, 'chats/1'),
    await store.readSnapshot(of, 'chats/1'),
    await store.getInterruption(of, 'i1'),
    await store.listInterruptions(of, { ...page, state: null, conversation: null, addressees: null }),
    await store.listInterruptions(of, { ...page, state: 'open', conversation: 'chats/1', addressees: null }),
    await store.listAgents(of),
    await store.getAgentRevision(of, 'a', 1),
    await store.lastAgentRevision(of, 'a'),
  ]
  const before = structuredClone(await everything(database))
  assert.deepEqual(await everything(other), [null, [], [], null, [], [], [], [], 0, null, null, [], [], [], null, 0])
  assertRefused(await store.append({ ...by(job), database: other, entries: [] }), 'missing')
  await start(store, 'chats/1', { database: other })
  const at = { database: other, conversation: 'chats/1', entries: [] }
  assertRefused(await store.append({ ...at, fence: { job: 'j1', epoch: 1 } }), 'fenced')
  assertRefused(await store.append({ ...at, jobs: [wake('j1')] }), 'inactive')
  assertRefused(await store.append({ ...at, jobs: [rest('j1')] }), 'inactive')
  const settle = [settlement('i1')]
  assertRefused(await store.append({ ...at, settle }), 'settled')
  const noted = { ...at, note: { key: 'k', at: 100, text: 'of the other' } }
  assertRefused(await store.append(noted), 'reply-taken')
  assert.equal(await store.changeAgents(other, [{ id: 'a', ifRevision: 1, row: null }]), false)
  assert.equal(await store.beginReply(other, reply('k', { digest: 'x' })), null)
  assert.ok((await store.append(noted)).ok)
  await store.finishReply(other, reply('k'), { status: 200, body: 'of the other' })
  assert.equal(await store.deleteConversation(other, 'chats/1'), true)
  assert.deepEqual(await everything(database), before)
  const { at: begun, note, status } = (await store.beginReply(database, reply('k', { at: 1 }))) ?? assert.fail()
  assert.deepEqual([begun, note, status], [100, null, null])
  assert.ok(
    (await store.append({ ...at, create: conversation('chats/1', { database: other }), jobs: [newJob({ id: 'j1' })] }))
      .ok,
    'ids are those of a database',
  )
}
