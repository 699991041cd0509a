/** The store that fails on purpose: every method of the contract, what is said, and the order of appends. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWitanError } from '@witan/protocol'
import { auditOf, auditTable } from '../store/audit.ts'
import { keyTable } from '../store/keys.ts'
import { usedEvidenceTable } from '../store/used-evidence.ts'
import { memoryStore } from '../store/drivers/memory.ts'
import type { Store } from '../store/store.ts'
import { allBlocks, anna, blockOf, writing } from './conformance/store-block-fixtures.ts'
import { database, entry, idleListener, reply, start, textsOf, wholePage } from './conformance/store-fixtures.ts'
import { type FaultyMethod, faultyStore } from './faulty-store.ts'

const ofNobody = {
  createdBy: 'nobody',
  agents: null,
  conversation: null,
  live: null,
  status: null,
  since: null,
  look: 9,
}
const changed = { by: 'user:anna', via: 'key', at: 1 } as const

const base = 'b'
const ended = { kind: 'unchanged' } as const
const ingest = { base, id: 'i', at: 1, prune: null, failed: [], pending: [] }
const search = { database, scopes: [], limit: 1 }
const knowledgeCalls: Record<Extract<FaultyMethod, `knowledge.${string}`>, (store: Store) => Promise<unknown>> = {
  'knowledge.countKnowledge': ({ knowledge }) => knowledge.countKnowledge(database, base),
  'knowledge.listBases': ({ knowledge }) => knowledge.listBases(database),
  'knowledge.listDocuments': ({ knowledge }) => knowledge.listDocuments(database, base, { ...wholePage, prefix: '' }),
  'knowledge.readDocument': ({ knowledge }) => knowledge.readDocument(database, base, 'a'),
  'knowledge.deleteDocument': ({ knowledge }) => knowledge.deleteDocument(database, base, 'a'),
  'knowledge.deleteKnowledge': ({ knowledge }) => knowledge.deleteKnowledge(database, base),
  'knowledge.rankByWords': ({ knowledge }) => knowledge.rankByWords({ ...search, words: [] }),
  'knowledge.rankByNearness': ({ knowledge }) => knowledge.rankByNearness({ ...search, vector: new Int8Array(1) }),
  'knowledge.readPassages': ({ knowledge }) => knowledge.readPassages(database, [], []),
  'knowledge.beginIngest': ({ knowledge }) => knowledge.beginIngest(database, ingest),
  'knowledge.beginReread': ({ knowledge }) =>
    knowledge.beginReread(database, { base, id: 'r', at: 1, reading: 'r', after: '', limit: 1 }),
  'knowledge.readIngest': ({ knowledge }) => knowledge.readIngest(database, base, 'i'),
  'knowledge.claimDocuments': ({ knowledge }) => knowledge.claimDocuments({ owner: 'w1', leaseMs: 1, limit: 1 }),
  'knowledge.endDocument': ({ knowledge }) => knowledge.endDocument('w1', { number: 1, attempt: 1 } as never, ended),
  'knowledge.renewDocuments': ({ knowledge }) => knowledge.renewDocuments('w1', 1),
  'knowledge.releaseDocuments': ({ knowledge }) => knowledge.releaseDocuments('w1'),
}

/** A call of each method that can fail. A method that is missing here does not compile. */
const calls: Record<Exclude<FaultyMethod, 'notify'>, (store: Store) => Promise<unknown>> = {
  ...knowledgeCalls,
  append: (store) => store.append({ database, conversation: 'chats/1', entries: [] }),
  getConversation: (store) => store.getConversation(database, 'chats/1'),
  listConversations: (store) => store.listConversations(database, { ...wholePage, agent: null, createdBy: null }),
  listParticipants: (store) => store.listParticipants(database, 'chats/1', wholePage),
  getParticipant: (store) => store.getParticipant(database, 'chats/1', 'anna'),
  deleteConversation: (store) => store.deleteConversation(database, 'chats/1'),
  sweepConversations: (store) => store.sweepConversations(10),
  readEntries: (store) => store.readEntries(database, 'chats/1', { after: 0, limit: 9 }),
  putContent: (store) => store.putContent(database, 'sha256:0', new Uint8Array(1)),
  listArtifacts: (store) => store.listArtifacts(database, 'chats/1', { limit: 1, after: null, run: null, agent: null }),
  findArtifact: (store) => store.findArtifact(database, 'art_1'),
  readBlocks: (store) => store.readBlocks(database, [anna]),
  writeBlock: (store) => store.writeBlock(database, writing('k')),
  noteBlockUse: (store) =>
    store.noteBlockUse(database, { agent: 'clerk', subject: 'user:anna', conversation: 'chats/1' }),
  listBlocks: (store) => store.listBlocks(database, allBlocks),
  getBlock: (store) => store.getBlock(database, 'mem_1'),
  listBlockRevisions: (store) => store.listBlockRevisions(database, 'mem_1', wholePage),
  deleteBlock: (store) => store.deleteBlock(database, 'mem_1'),
  eraseBlocks: (store) => store.eraseBlocks(database, { subject: 'user:anna', agent: null }),
  listBlockUses: (store) => store.listBlockUses(database, { ...wholePage, subject: 'user:anna', agent: null }),
  copyBlocks: (store) => store.copyBlocks(database, 'chats/1', 'chats/2', () => 'mem_1'),
  putBlock: (store) => store.putBlock(database, blockOf('k'), []),
  readContent: (store) => store.readContent(database, 'chats/1', 'sha256:0'),
  getJob: (store) => store.getJob(database, 'j1'),
  listJobs: (store) => store.listJobs(database, 'chats/1', { live: true }),
  listRuns: (store) => store.listRuns(database, 'chats/1', wholePage),
  countRuns: (store) => store.countRuns(database, 'chats/1'),
  listTasks: (store) => store.listTasks(database, { ...wholePage, live: null }),
  listRunsOf: (store) => store.listRunsOf(database, { limit: 9, after: null, ...ofNobody }),
  countRunsOf: (store) => store.countRunsOf(database, ofNobody),
  countLiveRunsOf: (store) => store.countLiveRunsOf(database, 'nobody', 9),
  claimJobs: (store) => store.claimJobs({ owner: 'w1', leaseMs: 1, limit: 9 }),
  heartbeat: (store) => store.heartbeat('w1', [], 1),
  releaseJobs: (store) => store.releaseJobs('w1'),
  wakeStranded: (store) => store.wakeStranded(null, 1),
  countOpenInterruptions: (store) => store.countOpenInterruptions(database, 9),
  getInterruption: (store) => store.getInterruption(database, 'i1'),
  listInterruptions: (store) =>
    store.listInterruptions(database, { ...wholePage, state: null, conversation: null, addressees: null }),
  dueInterruptions: (store) => store.dueInterruptions(10),
  beginReply: (store) => store.beginReply(database, reply('k')),
  finishReply: (store) => store.finishReply(database, reply('k'), null),
  listDatabases: (store) => store.listDatabases(),
  openSnapshot: (store) => store.openSnapshot(database, 'chats/1'),
  readSnapshot: (store) => store.readSnapshot(database, 'chats/1'),
  putSnapshot: async (store) => {
    const { row } = (await memoryOfOne()) ?? assert.fail()
    return store.putSnapshot('other', { row, entries: [], jobs: [], interruptions: [] })
  },
  listAgents: (store) => store.listAgents(database),
  listAgentIds: (store) => store.listAgentIds(database),
  getAgentRevision: (store) => store.getAgentRevision(database, 'a', 1),
  lastAgentRevision: (store) => store.lastAgentRevision(database, 'a'),
  changeAgents: (store) => store.changeAgents(database, []),
  findRecords: (store) => store.findRecords(keyTable, ['sha256:0']),
  forgetRecords: (store) => store.forgetRecords(database, usedEvidenceTable, 5),
  deleteRecord: (store) => store.deleteRecord(database, { table: keyTable, id: 'k1' }),
  addRecord: (store) => store.addRecord(database, auditOf(changed, { kind: 'key', name: 'k1', action: 'revoke' })),
  listRecords: (store) => store.listRecords(database, auditTable, wholePage),
  useRecords: (store) => store.useRecords(keyTable, [{ database, id: 'k1', at: 1 }]),
  addUsage: (store) => store.addUsage(database, []),
  listUsage: (store) => store.listUsage(database, { by: 'agent', after: null, limit: 1 }),
  checkWritable: (store) => store.checkWritable(),
  readOwners: (store) => store.readOwners(database, ['chats/1'], null),
  confirmStored: (store) => store.confirmStored(database),
}

async function memoryOfOne() {
  const store = memoryStore()
  await start(store, 'chats/9')
  const snapshot = await store.readSnapshot(database, 'chats/9')
  return snapshot === null ? null : { row: { ...snapshot.row, lastSeq: 0 } }
}

test('every method of the contract fails where it is told to, and works once it is healed', async () => {
  for (const [name, call] of Object.entries(calls)) {
    const faulty = faultyStore(memoryStore(), { seed: 1, rates: { [name]: { fail: 1 } } })
    const error = await call(faulty.store).then(
      () => assert.fail(`${name} did not fail`),
      (reason: unknown) => reason,
    )
    assert.ok(isWitanError(error) && error.code === 'STORE_UNAVAILABLE', String(error))
    assert.deepEqual(faulty.fired, [{ method: name, kind: 'fail', call: 1 }])
    faulty.heal()
    await call(faulty.store)
  }
})

async function heardOf(rates: { fail?: number; delay?: number; executeAndFail?: number }): Promise<readonly string[]> {
  const inner = memoryStore()
  const heard: string[] = []
  memoryStore({ beside: inner }).listen({ ...idleListener, received: (_, text) => heard.push(text) })
  const { store } = faultyStore(inner, { seed: 1, rates: { notify: rates }, late: () => Promise.resolve() })
  assert.equal(store.notify(database, 'chats/1', 'hello'), undefined)
  assert.deepEqual(heard, [])
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve()
  return heard
}

test('what is said is lost, late or heard, and never an error', async () => {
  assert.deepEqual(await heardOf({}), ['hello'])
  assert.deepEqual(await heardOf({ fail: 1 }), [])
  assert.deepEqual(await heardOf({ delay: 1 }), ['hello'])
  assert.deepEqual(await heardOf({ executeAndFail: 1 }), ['hello'])
})

test('whoever listens to the failing store hears the wrapped one', async () => {
  const inner = memoryStore()
  const { store } = faultyStore(inner, { seed: 1, rates: { append: { fail: 1 } } })
  const heard: number[] = []
  const end = store.listen({ ...idleListener, appended: ({ lastSeq }) => heard.push(lastSeq) })
  await start(memoryStore({ beside: inner }), 'chats/1')
  assert.deepEqual(heard, [1])
  end()
  await memoryStore({ beside: inner }).append({ database, conversation: 'chats/1', entries: [entry('more')] })
  assert.deepEqual(heard, [1])
})

test('an append that was not done takes with it those that were made before its failure was told', async () => {
  const inner = memoryStore()
  await start(inner, 'chats/1')
  const faulty = faultyStore(inner, { seed: 1, rates: { append: { fail: 1 } } })
  const append = (text: string) =>
    faulty.store.append({ database, conversation: 'chats/1', entries: [entry(text)] }).then(
      () => 'done',
      () => 'failed',
    )
  const first = append('one')
  faulty.heal()
  assert.deepEqual(await Promise.all([first, append('two')]), ['failed', 'failed'])
  assert.equal(await append('three'), 'done')
  assert.deepEqual(await textsOf(inner, 'chats/1'), ['hello', 'three'])
})
