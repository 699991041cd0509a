/** The conformance kit of stores: what every implementation of `Store` must do. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Entry } from '@witan/protocol/entries'
import type { Store } from '../../store/store.ts'
import { checkAppends, checkEntries } from './store-append.ts'
import { checkAgentRecords } from './store-agents.ts'
import { checkArtifacts, checkSharedArtifacts } from './store-artifacts.ts'
import { checkBlocks, checkSharedBlocks } from './store-blocks.ts'
import { checkExpiry } from './store-expiry.ts'
import { checkContents, checkSharedContents } from './store-contents.ts'
import { checkParticipants, checkSharedParticipants } from './store-participants.ts'
import type { Check, CheckTwo, StoreHarness } from './store-fixtures.ts'
import { begin, by, conversation, database, entry, interruption, reply, rest } from './store-fixtures.ts'
import { checkHiding } from './store-hide.ts'
import { checkInterruptions } from './store-interruptions.ts'
import { checkJobs } from './store-jobs.ts'
import { checkKeys, checkSharedKeys } from './store-keys.ts'
import { checkKnowledge, checkSharedKnowledge } from './store-knowledge.ts'
import { checkBases, checkWholeDeletion } from './store-knowledge-bases.ts'
import { checkIngests } from './store-knowledge-ingest.ts'
import { checkSearches } from './store-knowledge-search.ts'
import { checkLists } from './store-lists.ts'
import { checkAlone, checkListening } from './store-listen.ts'
import { checkRefusals } from './store-refusal.ts'
import { checkRecords, checkSharedRecords } from './store-records.ts'
import { checkReplies } from './store-replies.ts'
import { checkRuns } from './store-runs.ts'
import { checkShared } from './store-shared.ts'
import { checkRunsOf } from './store-runs-of.ts'
import { checkTasks } from './store-tasks.ts'
import { checkSharedUsage, checkUsage } from './store-usage.ts'
import { checkSnapshots } from './store-snapshot.ts'

export type { StoreHarness } from './store-fixtures.ts'

/** The time limit of a test; only a test that waits in vain reaches it. */
const timeout = 30_000

/** Registers the tests that every store passes. Those that do not apply to it, as the harness says, are not registered. */
export function testStore(harness: StoreHarness): void {
  const check: Check = (name, body) => {
    test(`${harness.name}: ${name}`, { timeout }, (context) => withStore(harness, context, body))
  }
  checkAppends(check)
  checkEntries(check)
  checkRefusals(check)
  checkHiding(check)
  checkJobs(check)
  checkTasks(check)
  checkRunsOf(check)
  checkRuns(check)
  checkInterruptions(check)
  checkLists(check)
  checkReplies(check)
  checkKeys(check)
  checkRecords(check)
  checkAgentRecords(check)
  checkExpiry(check)
  checkSnapshots(check)
  checkContents(check)
  checkParticipants(check)
  checkArtifacts(check)
  checkBlocks(check)
  checkUsage(check)
  checkKnowledge(check)
  checkSearches(check)
  checkIngests(check)
  checkBases(check)
  check('values come back as they were', async (store) => {
    const id = await storeOddities(store)
    await assertOddities(store, id)
  })
  const checkTwo = twoStores(harness)
  checkShared(checkTwo)
  checkSharedKeys(checkTwo)
  checkSharedRecords(checkTwo)
  checkListening(checkTwo)
  checkSharedContents(checkTwo)
  checkSharedParticipants(checkTwo)
  checkSharedArtifacts(checkTwo)
  checkSharedBlocks(checkTwo)
  checkSharedUsage(checkTwo)
  checkSharedKnowledge(checkTwo)
  checkWholeDeletion(checkTwo)
  if (typeof harness.second === 'string') checkAlone(check)
  checkReopening(harness)
}

function twoStores(harness: StoreHarness): CheckTwo {
  const { name: of, second } = harness
  if (typeof second === 'string') return () => {}
  return (name, body) => {
    test(`${of}: ${name}`, { timeout }, (context) =>
      withStore(harness, context, async (first) => {
        const other = await second(first)
        try {
          await body(first, other)
        } finally {
          await other.close()
        }
      }),
    )
  }
}

async function withStore(harness: StoreHarness, context: TestContext, body: (store: Store) => Promise<void>) {
  const store = await harness.open(context)
  try {
    await body(store)
  } finally {
    await store.close()
  }
}

function checkReopening(harness: StoreHarness): void {
  const { reopen } = harness
  const name = `${harness.name}: everything is there again after it was closed`
  if (typeof reopen === 'string') return
  test(name, { timeout }, async (context) => {
    const first = await harness.open(context)
    const id = await storeOddities(first)
    const job = await begin(first, { id: 'j1' })
    await first.append({ ...by(job), entries: [], open: [interruption(job, 'i1')] })
    await first.append({ ...by(job), entries: [], jobs: [rest('j1', 'waiting')] })
    await first.beginReply(database, reply('k'))
    await first.finishReply(database, reply('k'), { status: 200, body: 'done' })
    const parked = await first.getJob(database, 'j1')
    const second = await reopen(first)
    try {
      await assertOddities(second, id)
      assert.deepEqual(await second.getJob(database, 'j1'), parked)
      assert.deepEqual(await second.getInterruption(database, 'i1'), interruption(job, 'i1'))
      assert.equal((await second.beginReply(database, reply('k', { at: 1 })))?.at, 100)
      const more = [entry('more')]
      const result = await second.append({ database, conversation: job.conversation, entries: more })
      assert.deepEqual([result.ok && result.before, more[0]?.seq], [1, 2])
      await begin(second, { id: 'j2' })
    } finally {
      await second.close()
    }
  })
}

/** Values that a careless store corrupts: non-ASCII text, lone surrogates, keys of `Object.prototype`, large and deep values. */
const oddities: readonly unknown[] = [
  'Ås ☔ 日本 👩‍👩‍👧 \u0000 \u2028 \u{10ffff} \\ " \' ; -- ?1 $1',
  'a lone \ud800 and a lone \udfff',
  JSON.parse('{"__proto__":{"x":1},"constructor":{"prototype":2},"":0}'),
  'x'.repeat(300_000),
  Array.from({ length: 300 }).reduce<unknown>((inner) => [inner], 1),
  [1e21, 1.5e-9, Number.MAX_SAFE_INTEGER, -1, 0.1 + 0.2, true, false, null, [], {}],
  Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`key ${index} é`, index])),
]

function oddEntries(): Entry[] {
  return oddities.map((result, index) => {
    const { place, ...rest } = entry(`odd ${index}`)
    const body = { result, truncated: false }
    return { ...rest, place: { ...place, parentCall: 'c 0', author: 'é' }, type: 'end', kind: 'tool', body } as Entry
  })
}

const kept = new Map<string, readonly Entry[]>()

async function storeOddities(store: Store): Promise<string> {
  const id = `odd/${kept.size}`
  const parameters = { plain: ['å\ud800', false], hidden: [oddities[2], true] } as const
  const entries = oddEntries()
  kept.set(id, structuredClone(entries))
  const create = conversation(id, { parameters, expiresAt: 9e15 })
  assert.ok((await store.append({ database, conversation: id, create, entries })).ok)
  return id
}

async function assertOddities(store: Store, id: string): Promise<void> {
  const entries = (kept.get(id) ?? []).map((one, index) => ({ ...one, seq: index + 1 }))
  const read = await store.readEntries(database, id, { after: 0, limit: 100 })
  assert.deepEqual(read, entries)
  const { result: proto } = (read[2] ?? assert.fail()).body as { result: object }
  assert.deepEqual(Object.keys(proto), ['__proto__', 'constructor', ''])
  const row = await store.getConversation(database, id)
  assert.equal(row?.expiresAt, 9e15)
  assert.deepEqual(row?.parameters, { plain: ['å\ud800', false], hidden: [oddities[2], true] })
}
