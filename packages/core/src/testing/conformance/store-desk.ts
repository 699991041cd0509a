/** Conformance of stores: agents and their revisions, remembered replies, and the wall between databases. */
import assert from 'node:assert/strict'
import type { AgentData } from '@witan/protocol'
import type { AgentRow } from '../../agent/records.ts'
import type { Append, Store } from '../../store/store.ts'
import type { Check } from './store-fixtures.ts'
import { assertRefused, begin, by, database, entry, interruption, rest, start, wake } from './store-fixtures.ts'

function agent(id: string, revision: number, at = database): AgentRow {
  const data = { id, instructions: `Anna's "${id}" ☔`, tools: [] } as unknown as AgentData
  return { database: at, id, revision, source: 'data', data, warnings: [] }
}

/** Registers the tests of the small tables. */
export function checkDesk(check: Check): void {
  check('agents are changed by revision, and every revision is kept', async (store) => {
    const save = (id: string, ifRevision: number, row: AgentRow | null) => ({ id, ifRevision, row })
    assert.equal(await store.changeAgents(database, [save('b', 0, agent('b', 1)), save('a', 0, agent('a', 1))]), true)
    assert.equal(await store.changeAgents(database, [save('a', 0, agent('a', 1))]), false)
    assert.equal(await store.changeAgents(database, [save('a', 1, agent('a', 2))]), true)
    assert.deepEqual(await store.listAgents(database), [agent('a', 2), agent('b', 1)])
    assert.deepEqual(await store.getAgentRevision(database, 'a', 1), agent('a', 1))
    assert.equal(await store.getAgentRevision(database, 'a', 3), null)
    assert.equal(await store.changeAgents(database, [save('a', 2, null)]), true)
    assert.deepEqual(await store.listAgents(database), [agent('b', 1)])
    assert.deepEqual(await store.getAgentRevision(database, 'a', 2), agent('a', 2))
    assert.deepEqual(
      [await store.lastAgentRevision(database, 'a'), await store.lastAgentRevision(database, 'z')],
      [2, 0],
    )
    assert.equal(await store.changeAgents(database, [save('a', 0, agent('a', 3))]), true)
  })

  check('changes of several agents are all made or none', async (store) => {
    await store.changeAgents(database, [{ id: 'a', ifRevision: 0, row: agent('a', 1) }])
    const changes = [
      { id: 'b', ifRevision: 0, row: agent('b', 1) },
      { id: 'a', ifRevision: 7, row: agent('a', 8) },
    ]
    assert.equal(await store.changeAgents(database, changes), false)
    assert.deepEqual(await store.listAgents(database), [agent('a', 1)])
    assert.equal(await store.lastAgentRevision(database, 'b'), 0)
  })

  check('of two changes at once from one revision one is made', async (store) => {
    const changes = [1, 2, 3].map(() => store.changeAgents(database, [{ id: 'a', ifRevision: 0, row: agent('a', 1) }]))
    assert.deepEqual((await Promise.all(changes)).sort(), [false, false, true])
  })

  check('a reply is remembered under its key until it is too old or given up', async (store) => {
    const row = { key: 'k', digest: 'd1', at: 100, expiresBefore: 0 }
    assert.equal(await store.beginReply(database, row), null)
    const begun = { key: 'k', digest: 'd1', at: 100, status: null, body: null }
    assert.deepEqual(await store.beginReply(database, { ...row, digest: 'd2', at: 200 }), begun)
    await store.finishReply(database, 'k', { status: 202, body: '{"text":"å ☔"}' })
    const done = { ...begun, status: 202, body: '{"text":"å ☔"}' }
    assert.deepEqual(await store.beginReply(database, { ...row, expiresBefore: 100 }), done)
    assert.equal(await store.beginReply(database, { ...row, digest: 'd3', at: 300, expiresBefore: 101 }), null)
    const anew = { ...begun, digest: 'd3', at: 300 }
    assert.deepEqual(await store.beginReply(database, { ...row, expiresBefore: 101 }), anew)
    await store.finishReply(database, 'k', null)
    assert.equal(await store.beginReply(database, row), null)
    await store.finishReply(database, 'unknown', { status: 200, body: '' })
    assert.equal(await store.beginReply(database, { ...row, key: 'unknown' }), null)
  })

  check('of two first requests with one key one is fresh', async (store) => {
    const row = { key: 'k', digest: 'd', at: 100, expiresBefore: 0 }
    const replies = await Promise.all([1, 2, 3].map(() => store.beginReply(database, row)))
    assert.equal(replies.filter((reply) => reply === null).length, 1)
  })
  check('a database sees nothing of another [I14]', isolated)
}

const other = 'other'

/** Everything that reads or names a row, from the other database. */
async function isolated(store: Store): Promise<void> {
  const job = await begin(store, { id: 'j1', in: 'chats/1' })
  await store.append({ ...by(job), entries: [entry('ask', 'j1')], open: [interruption(job, 'i1')] })
  await store.changeAgents(database, [{ id: 'a', ifRevision: 0, row: agent('a', 1) }])
  await store.beginReply(database, { key: 'k', digest: 'd', at: 100, expiresBefore: 0 })
  const page = { limit: 10, after: null }
  const everything = async (of: string) => [
    await store.getConversation(of, 'chats/1'),
    await store.listConversations(of, { ...page, agent: null, createdBy: null }),
    await store.readEntries(of, 'chats/1', { after: 0, limit: 10 }),
    await store.getJob(of, 'j1'),
    await store.listJobs(of, 'chats/1'),
    await store.getInterruption(of, 'i1'),
    await store.listInterruptions(of, { ...page, state: null, conversation: null }),
    await store.listInterruptions(of, { ...page, state: 'open', conversation: 'chats/1' }),
    await store.listAgents(of),
    await store.getAgentRevision(of, 'a', 1),
    await store.lastAgentRevision(of, 'a'),
  ]
  const before = structuredClone(await everything(database))
  assert.deepEqual(await everything(other), [null, [], [], null, [], null, [], [], [], null, 0])
  assertRefused(await store.append({ ...by(job), database: other, entries: [] }), 'missing')
  await start(store, 'chats/1', { database: other })
  const at = { database: other, conversation: 'chats/1', entries: [] }
  assertRefused(await store.append({ ...at, fence: { job: 'j1', epoch: 1 } }), 'fenced')
  assertRefused(await store.append({ ...at, job: wake(store, 'j1') } as Append), 'inactive')
  assertRefused(await store.append({ ...at, job: rest('j1') } as Append), 'inactive')
  const settle = [{ id: 'i1', state: 'answered', answer: 1, by: null, at: 3 }] as const
  assertRefused(await store.append({ ...at, settle }), 'settled')
  assert.equal(await store.changeAgents(other, [{ id: 'a', ifRevision: 1, row: null }]), false)
  assert.equal(await store.beginReply(other, { key: 'k', digest: 'x', at: 100, expiresBefore: 0 }), null)
  await store.finishReply(other, 'k', null)
  assert.equal(await store.deleteConversation(other, 'chats/1'), true)
  assert.deepEqual(await everything(database), before)
  assert.equal((await store.beginReply(database, { key: 'k', digest: 'd', at: 1, expiresBefore: 0 }))?.at, 100)
}
