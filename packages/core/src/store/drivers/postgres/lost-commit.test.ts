/** A commit whose reply is lost, at every place of a story: nothing happens twice, nothing is missing, and what was told is true [I1] [I2]. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openProxy } from '../../../../../../test/postgres/support/proxy.ts'
import { asAdmin, freshSchema, openStore } from '../../../../../../test/postgres/support/stores.ts'
import {
  begin,
  by,
  conversation,
  entry,
  interruption,
  key,
  reply,
  rest,
  start,
  wake,
} from '../../../testing/conformance/store-fixtures.ts'
import {
  allBlocks,
  anna,
  blockOf,
  modelIn,
  within,
  writing,
} from '../../../testing/conformance/store-block-fixtures.ts'
import type { BlockWrite } from '../../../memory/records.ts'
import { auditTable } from '../../audit.ts'
import { keyTable, putKey } from '../../keys.ts'
import { addition } from '../../record.ts'
import type { AppendResult, Store } from '../../store.ts'
import { postgresStore } from '../postgres.ts'
import { isWhole } from '../../../../../../test/support/seeds.ts'

/** Of so many commits of the story one is lost: `npm test` tries a part. */
const step = isWhole ? 1 : 3

/** Everything a store can be asked to write, one after the other; returns all that it was told. */
async function story(store: Store, database: string): Promise<readonly unknown[]> {
  const told: unknown[] = []
  const tell = <Value>(value: Value): Value => {
    told.push(value)
    return value
  }
  const job = tell(await begin(store, { id: 'j1' }, database))
  const { conversation: id } = job
  tell(await store.append({ ...by(job), entries: [entry('a'), entry('b')], open: [interruption(job, 'i1')] }))
  tell(await Promise.all(['c', 'd', 'e'].map((text) => store.append({ ...by(job), entries: [entry(text)] }))))
  tell(await store.append({ ...by(job), entries: [], jobs: [rest('j1', 'waiting')] }))
  const settle = [{ id: 'i1', state: 'answered', answer: 'yes', by: 'user:bo', at: 8 }] as const
  const woken = { database, conversation: id, entries: [entry('yes')], settle, jobs: [wake('j1')] }
  const [resumed] = (tell(await store.append(woken)) as AppendResult & { ok: true }).jobs
  tell(await store.append({ ...woken, entries: [entry('no')] }))
  tell(await store.heartbeat('w2', [{ database, id: 'j1', epoch: 2 }], 60_000))
  tell(await store.append({ ...by(resumed ?? assert.fail()), entries: [entry('end')], jobs: [rest('j1')] }))
  tell(await store.beginReply(database, reply('k')))
  tell(await store.append({ database, conversation: id, entries: [], note: { key: 'k', at: 100, text: 'noted' } }))
  tell(await store.finishReply(database, reply('k'), { status: 200, body: 'done' }))
  tell(await store.beginReply(database, reply('k')))
  const data = { id: 'a' } as never
  const row = { database, id: 'a', revision: 1, source: 'data', data, warnings: [], changed: null } as const
  const beside = (id: string) => {
    const what = { kind: 'agent', name: 'a', action: 'create', before: null, after: 1 } as const
    return addition(auditTable, { id, at: 1, by: 'user:anna', via: 'key', ...what })
  }
  tell(await store.changeAgents(database, [{ id: 'a', ifRevision: 0, row }], [beside('r1')]))
  tell(await putKey(store, key('k1', { database, digest: `sha256:${database}` }), [beside('r2')]))
  tell(await store.deleteRecord(database, { table: keyTable, id: 'k1' }, [beside('r3')]))
  tell(await store.addRecord(database, beside('r4')))
  tell(await store.changeAgents(database, [{ id: 'a', ifRevision: 0, row }]))
  await remembering(store, { database, id }, tell)
  const snapshot = (await store.readSnapshot(database, id)) ?? assert.fail()
  tell(await store.putSnapshot(database, snapshot))
  tell(await store.deleteConversation(database, id))
  tell(await store.putSnapshot(database, snapshot))
  const over = conversation('chats/over', { database, expiresAt: 1000 })
  tell(await store.append({ database, conversation: over.id, create: over, entries: [entry('old')] }))
  tell(await store.append({ database, conversation: over.id, create: over, entries: [entry('new')] }))
  tell(await store.sweepConversations(10))
  return told
}

/** Every write of blocks: by calls and by requests, refused ones too. Some blocks are left. */
async function remembering(
  store: Store,
  { database, id }: { readonly database: string; readonly id: string },
  tell: (value: unknown) => unknown,
): Promise<void> {
  const limits = { coreCharacters: 30, coreBlocks: 9, archivalCharacters: 0 }
  const write = async (key: string, text: string, over: Partial<BlockWrite> = {}) =>
    tell(await store.writeBlock(database, writing(key, { id: `mem_${key}`, at: 7, text, limits, ...over })))
  await write('a', 'one')
  await write('a', 'two', { expected: 1 })
  await write('a', 'three', { expected: 1 })
  await write('b', 'a model writes', { by: modelIn(id), call: 'c1' })
  await write('c', 'far too much for what is allowed')
  await write('b', '', { expected: 1, by: modelIn(id), call: 'c2' })
  await write('b', 'again', { id: 'mem_b2' })
  tell(await store.deleteBlock(database, 'mem_b2'))
  tell(await store.deleteBlock(database, 'mem_b2'))
  await write('d', 'here', { owner: within(id), by: modelIn(id) })
  await store.noteBlockUse(database, { agent: 'mate', subject: 'user:anna', conversation: id })
  await start(store, 'chats/fork', { database })
  await store.copyBlocks(database, id, 'chats/fork', () => 'mem_copy')
  await write('e', 'of bob', { owner: { ...anna, subject: 'user:bob' } })
  tell(await store.eraseBlocks(database, { subject: 'user:bob', agent: null }))
  tell(await store.eraseBlocks(database, { subject: 'user:bob', agent: null }))
  tell(await store.putBlock(database, blockOf('f', { id: 'mem_f', createdAt: 7, updatedAt: 7 }), []))
}

async function blocksOf(store: Store, database: string): Promise<unknown> {
  const rows = await store.listBlocks(database, allBlocks)
  const page = { limit: 100, after: null }
  const revisions = await Promise.all(rows.map(({ id }) => store.listBlockRevisions(database, id, page)))
  return [rows, revisions, await store.listBlockUses(database, { ...page, subject: 'user:anna', agent: null })]
}

async function stateOf(store: Store, database: string): Promise<unknown> {
  const page = { limit: 100, after: null }
  const rows = await store.listConversations(database, { ...page, agent: null, createdBy: null })
  const snapshots = await Promise.all(rows.map(({ id }) => store.readSnapshot(database, id)))
  const records = await store.listRecords(database, auditTable, page)
  const blocks = await blocksOf(store, database)
  return [
    rows,
    snapshots,
    records,
    blocks,
    await store.listAgents(database),
    await store.beginReply(database, reply('k')),
  ]
}

/** What differs by nature: the tenant's name, clocks, and the numbers that fixtures count up. */
function plain(value: unknown): unknown {
  const changing = new Set(['database', 'leaseUntil', 'appendNo', 'startedAt', 'changedAt'])
  return JSON.parse(JSON.stringify(value ?? null, (name, one) => (changing.has(name) ? 0 : one)))
}

for (const fate of ['loseReply', 'loseRequest'] as const) {
  test(`a story goes on as if nothing had been, whichever commit is lost (${fate}) [I16]`, async (context) => {
    const place = await freshSchema(context)
    const direct = await openStore(context, place)
    const expected = [plain(await story(direct, 'calm')), plain(await stateOf(direct, 'calm'))]
    const proxy = await openProxy(place.url)
    context.after(() => proxy.close())
    const store = postgresStore({ ...place, url: proxy.url, poolSize: 2 })
    await store.open()
    let last = Number.POSITIVE_INFINITY
    let trials = 0
    for (let k = 1; k <= last; k += step) {
      const base = proxy.commits
      proxy.fate = (number) => (number === base + k ? fate : 'pass')
      const database = `${fate}-${k}`
      const told = plain(await story(store, database))
      if (proxy.cuts === trials)
        last = 0 // the story has fewer commits than that
      else trials += 1
      assert.deepEqual([told, plain(await stateOf(direct, database))], expected, `commit ${k}`)
    }
    await store.close()
    assert.ok(trials >= Math.floor(22 / step), `only ${trials} commits were lost`)
  })
}

test('what is found after a lost reply is reported only after a commit that writes, for every write [I1]', async (context) => {
  const place = await freshSchema(context)
  const proxy = await openProxy(place.url)
  context.after(() => proxy.close())
  const store = await openStore(context, { ...place, url: proxy.url, poolSize: 2 })
  const at = 'default'
  const job = await begin(store, { id: 'j1' })
  const snapshot = (await store.readSnapshot(at, job.conversation)) ?? assert.fail()
  const row = {
    database: at,
    id: 'a',
    revision: 1,
    source: 'data',
    data: { id: 'a' } as never,
    warnings: [],
    changed: null,
  } as const
  const over = conversation('chats/over', { expiresAt: 1000 })
  await store.append({ database: at, conversation: over.id, create: over, entries: [entry('old')] })
  /** Each with the number of its own first commit that is lost. */
  const writes: Record<string, readonly [lost: number, write: () => Promise<unknown>]> = {
    append: [1, () => store.append({ ...by(job), entries: [entry('a')] })],
    'append of no entry': [1, () => store.append({ ...by(job), entries: [], jobs: [rest('j1', 'waiting')] })],
    changeAgents: [1, () => store.changeAgents(at, [{ id: 'a', ifRevision: 0, row }])],
    beginReply: [1, () => store.beginReply(at, reply('k'))],
    finishReply: [1, () => store.finishReply(at, reply('k'), { status: 200, body: 'done' })],
    putSnapshot: [1, () => store.putSnapshot('other', snapshot)],
    deleteConversation: [1, () => store.deleteConversation(at, job.conversation)],
    sweepConversations: [2, () => store.sweepConversations(10)],
    writeBlock: [1, () => store.writeBlock(at, writing('k', { id: 'mem_k' }))],
    'writeBlock of a model': [1, () => store.writeBlock(at, writing('l', { call: 'c1' }))],
    noteBlockUse: [1, () => store.noteBlockUse(at, { agent: 'a', subject: 'b', conversation: 'chats/2' })],
    copyBlocks: [1, () => store.copyBlocks(at, 'chats/2', 'chats/3', () => 'mem_m')],
    putBlock: [1, () => store.putBlock(at, blockOf('p'), [])],
    deleteBlock: [1, () => store.deleteBlock(at, 'mem_k')],
    eraseBlocks: [1, () => store.eraseBlocks(at, { subject: 'user:anna', agent: null })],
  }
  for (const id of ['chats/2', 'chats/3']) await start(store, id)
  await store.writeBlock(at, writing('d', { owner: { ...within('chats/2'), subject: 'user:bob' } }))
  for (const [name, [lost, write]] of Object.entries(writes)) {
    await asAdmin(place.url, (client) => client.query(`delete from "${place.schema}".marks`))
    const [base, cuts] = [proxy.commits, proxy.cuts]
    proxy.fate = (number) => (number === base + lost ? 'loseReply' : 'pass')
    await write()
    assert.equal(proxy.cuts, cuts + 1, `${name}: the reply to a commit was lost`)
    const { rows } = await asAdmin(place.url, (client) => client.query(`select id from "${place.schema}".marks`))
    const own = name === 'append of no entry' ? 1 : 0
    assert.equal(rows.length - own, 1, `${name}: nothing confirms it`)
  }
})
