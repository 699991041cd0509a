/** The tables of the embedded store: files of earlier versions, and statements that find what they want without a search. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { type UsageDimension, usageDimensions } from '@witan/protocol/schemas'
import {
  addJob,
  change,
  claim,
  database,
  entry,
  idsOf,
  reply,
  rest,
  start,
  wholePage,
} from '../../testing/conformance/store-fixtures.ts'
import { assertCounted, uncounted } from '../../testing/conformance/store-usage.ts'
import { auditOfDefinitions, auditTable } from '../audit.ts'
import { entryText } from '../entry-text.ts'
import { recordTables } from '../record-tables.ts'
import { interruptionSql } from '../sql/interruptions.ts'
import { jobSql } from '../sql/jobs.ts'
import { logSql } from '../sql/log.ts'
import { participantSql } from '../sql/participants.ts'
import { replySql } from '../sql/replies.ts'
import { recordStatements } from '../sql/records.ts'
import { dialect, migrations, usageVersion } from '../sql/schema.ts'
import { usageSql } from '../sql/usage.ts'
import type { Store } from '../store.ts'
import { sqliteStore } from './sqlite.ts'

function newFile(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'witan-schema-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'store.db')
}

async function opened(context: TestContext, file: string): Promise<Store> {
  const store = sqliteStore({ file, synchronous: 'normal' })
  await store.open()
  context.after(() => store.close())
  return store
}

/** A file as the version with this many migrations left it, with a run that ended, one that is parked and one at work. */
function makeOldFile(file: string, version: number): void {
  const db = new DatabaseSync(file)
  for (const migration of migrations.slice(0, version)) db.exec(migration)
  db.exec(`pragma application_id = ${0x5749544e}; pragma user_version = ${version}`)
  const conversation = db.prepare(`
insert into conversations (number, database, id, agent, created_by, created_at, last_message_at, parameters)
values (?, 'default', ?, 'clerk', 'user:anna', 1, 1, ?)`)
  const [names, values] = version < 3 ? ['', ''] : ['kind, created_at, ', `'run', 5, `]
  const insert = db.prepare(`
insert into jobs (key, database, id, ${names}status, owner, epoch, lease_until, wake, attempts, started_at, ended_at, first_seq, result)
values (?, 'default', ?, ${values}?, ?, 3, 9000000000000000, 0, 2, 5, ?, 1, ?)`)
  const text = db.prepare('insert into entries (key, text) values (?, ?)')
  for (const number of [1, 2]) {
    const key = number * 1_048_576
    const parameters = number === 1 ? '{}' : '{"x":["\\ud800",true],"$users":[["bob","anna é"],false]}'
    conversation.run(number, `chats/${number}`, parameters)
    text.run(key + 1, entryText(entry(`hello ${number}`), `chats/${number}`))
    insert.run(key + 1, `ended ${number}`, 'completed', null, 8, '{"text":"done"}')
  }
  if (version > beforeParticipants)
    db.exec(`
insert into participants (conversation, user, database, position, roles, joined_at)
values (2, 'bob', 'default', 0, '[]', 1), (2, 'anna é', 'default', 1, '[]', 1)`)
  insert.run(1_048_576 + 2, 'parked', 'waiting', null, null, '{"status":"waiting"}')
  insert.run(2 * 1_048_576 + 2, 'at work', 'running', 'w0', null, null)
  if (version > beforeChanges) db.exec('update jobs set changed_at = coalesce(ended_at, started_at)')
  db.exec(`
insert into interruptions (database, id, conversation, job, call, state, view, bound, answer, created_at)
values ('default', 'i1', 1, 'parked', 'c1', 'open', '{"id":"i1","state":"open"}', '{}', 'null', 7);
insert into agents (database, id, revision) values ('default', 'clerk', 2);
insert into agent_revisions (database, id, revision, source, data, warnings) values ('default', 'clerk', 2, 'data', '{"id":"clerk"}', '[]');
insert into replies (database, key, digest, status, body, at) values ('default', 'done', 'd', 200, 'ok', 100), ('default', 'lost', 'd', null, null, 100)`)
  db.close()
}

/** A revision that an earlier version stored names nobody. A change of it names who made it, and has an audit entry. */
async function assertAudited(store: Store): Promise<void> {
  const [clerk = assert.fail()] = await store.listAgents(database)
  assert.deepEqual([clerk.revision, clerk.changed], [2, null])
  const changed = { by: 'user:anna', via: 'key', at: 7 } as const
  const changes = [{ id: 'clerk', ifRevision: 2, row: { ...clerk, revision: 3, changed } }]
  assert.equal(await store.changeAgents(database, changes, auditOfDefinitions(changed, changes)), true)
  assert.deepEqual((await store.listAgents(database))[0]?.changed, changed)
  const [row] = await store.listRecords(database, auditTable, wholePage)
  assert.deepEqual([row?.by, row?.before, row?.after], ['user:anna', 2, 3])
}

/** The last schema that kept the people of a conversation among its parameters only. */
const beforeParticipants = 7
/** The last schema whose jobs did not say when they were changed. */
const beforeChanges = 25

for (let version = 1; version < migrations.length; version += 1) {
  test(`a file of schema ${version} is brought to this one with all that is in it`, async (context) => {
    const file = newFile(context)
    makeOldFile(file, version)
    const store = await opened(context, file)
    const times = { createdAt: 5, startedAt: 5, firstSeq: 1 }
    const old = { database, kind: 'run', epoch: 3, attempts: 2, wake: false, about: null, ...times }
    const at = { conversation: 'chats/1', owner: null, leaseUntil: 9e15 }
    assert.deepEqual(await store.listJobs(database, 'chats/1'), [
      { ...old, ...at, id: 'ended 1', status: 'completed', endedAt: 8, changedAt: 8, result: { text: 'done' } },
      { ...old, ...at, id: 'parked', status: 'waiting', endedAt: null, changedAt: 5, result: { status: 'waiting' } },
    ])
    assert.deepEqual(idsOf(await store.listJobs(database, 'chats/2', { live: true })), ['at work'])
    assert.deepEqual(await claim(store, 'w1'), ['at work'])
    const row = await store.getInterruption(database, 'i1')
    assert.deepEqual([row?.terms, row?.expiresAt, row?.view.state], [null, null, 'open'])
    assert.deepEqual(await store.dueInterruptions(10), [])
    assert.equal((await store.beginReply(database, reply('done')))?.note, null)
    assert.equal(await store.beginReply(database, reply('lost')), null)
    await assertAudited(store)
    const task = await addJob(store, { id: 't1', kind: 'task', owner: null, in: 'chats/1' })
    assert.deepEqual(idsOf(await store.listTasks(database, { ...wholePage, live: null })), ['t1'])
    assert.equal(task.firstSeq, 2)
    const people = await store.listParticipants(database, 'chats/2', wholePage)
    const joined = { name: null, roles: [], joinedAt: 1, leftAt: null }
    assert.deepEqual(
      people,
      ['bob', 'anna é'].map((user) => ({ user, ...joined })),
    )
    assert.deepEqual(await store.listParticipants(database, 'chats/1', wholePage), [])
    const [parked] = await store.listJobs(database, 'chats/1', { live: true })
    assert.equal(parked?.id, 'parked')
    await store.append(change(parked ?? assert.fail(), rest('parked', 'cancelled')))
    await addJob(store, { id: 'next', in: 'chats/1' })
    assert.deepEqual(idsOf(await store.listJobs(database, 'chats/1')), ['ended 1', 'parked', 't1', 'next'])
  })
}

test('the usage in the logs of an earlier version is counted once, when its file is opened [T27]', async (context) => {
  const file = newFile(context)
  const first = sqliteStore({ file, synchronous: 'normal' })
  await first.open()
  await uncounted(first)
  await first.close()
  const db = new DatabaseSync(file)
  for (const { name, since } of recordTables) if (since !== null) db.exec(`drop table ${name}`)
  db.exec(`drop table usage; drop table usage_marks; drop table unlinked; alter table agent_revisions drop column changed; alter table agents drop column first_revision;
drop index runs_by_maker; alter table jobs drop column maker; alter table jobs drop column changed_at;
pragma user_version = ${usageVersion - 1}`)
  db.close()
  for (let time = 1; time <= 2; time += 1) {
    const store = sqliteStore({ file, synchronous: 'normal' })
    await store.open()
    await assertCounted(store)
    await store.close()
  }
})

test('what version 12 had not added up is in the sums, once, when its file is opened [T27]', async (context) => {
  const file = newFile(context)
  const db = new DatabaseSync(file)
  for (const migration of migrations.slice(0, usageVersion)) db.exec(migration)
  const sums = (calls: number, date: string) => `${calls}, 1, 7, 5, 3, 1, 0, 0.25, 0, 0, ${date}`
  const fact = (model: string, date: string) =>
    `('default', 'chats/1', 'user:eve', 'clerk', ${model}, 1, ${sums(1, date)})`
  db.exec(`
insert into usage values ('default', 'agent', 'clerk', 1, ${sums(2, `'2026-02-01'`)});
insert into usage_facts (database, conversation, user, agent, model, day, model_calls, tool_calls, input_tokens, output_tokens,
  cached_input_tokens, reasoning_tokens, cache_write_tokens, cost_usd, unpriced, incomplete, price_date)
values ${fact(`'big'`, `'2026-01-01'`)}, ${fact('null', 'null')};
pragma application_id = ${0x5749544e}; pragma user_version = ${usageVersion}`)
  db.close()
  for (let time = 1; time <= 2; time += 1) {
    const store = sqliteStore({ file, synchronous: 'normal' })
    await store.open()
    const rowsBy = (by: UsageDimension) => store.listUsage(database, { by, after: null, limit: 9 })
    const seen = []
    for (const by of usageDimensions)
      for (const row of await rowsBy(by)) seen.push([by, row.key, row.modelCalls, row.toolCalls, row.priceDate])
    await store.close()
    assert.deepEqual(seen, [
      ['agent', 'clerk', 4, 3, '2026-01-01'],
      ['conversation', 'chats/1', 2, 2, '2026-01-01'],
      ['user', 'user:eve', 2, 2, '2026-01-01'],
      ['model', 'big', 1, 0, '2026-01-01'],
      ['day', '', 2, 2, '2026-01-01'],
    ])
  }
})

test('what an earlier owner began to answer is forgotten when the file is opened, unless it is noted or finished', async (context) => {
  const file = newFile(context)
  const first = await opened(context, file)
  await start(first, 'chats/1')
  for (const key of ['begun', 'noted', 'finished']) await first.beginReply(database, reply(key))
  const note = { key: 'noted', at: 100, text: 'j1' }
  assert.ok((await first.append({ database, conversation: 'chats/1', entries: [], note })).ok)
  await first.finishReply(database, reply('finished'), { status: 200, body: 'ok' })
  await first.close()
  const second = await opened(context, file)
  const seen = []
  for (const key of ['begun', 'noted', 'finished']) {
    const row = await second.beginReply(database, reply(key, { at: 200 }))
    seen.push(row === null ? null : (row.note ?? row.body))
  }
  assert.deepEqual(seen, [null, 'j1', 'ok'])
})

// cost

/** Statements that run once, that are asked for all of something, or whose table is always small. */
const mayScan = new Set(['listDatabases', 'dropLostReplies', 'readMarks', 'markAll', 'uncounted', 'listUnlinked'])

test('a page of records is read from an index in its order, whatever it asks for', (context) => {
  const db = new DatabaseSync(':memory:')
  context.after(() => db.close())
  for (const migration of migrations) db.exec(migration)
  for (const table of recordTables) {
    const { lists, place, get, find, raise, remove } = recordStatements(dialect)(table)
    for (const sql of [place, get, find, raise, remove].filter((one) => one !== '')) {
      const plan = JSON.stringify(db.prepare(`explain query plan ${sql}`).all())
      assert.match(plan, new RegExp(`SEARCH ${table.name} USING (COVERING )?INDEX`), sql)
    }
    for (const sql of lists) {
      const plan = JSON.stringify(db.prepare(`explain query plan ${sql}`).all())
      const terms = sql.split(' = ?').length - 1
      assert.match(
        plan,
        new RegExp(`SEARCH ${table.name} USING INDEX \\w+ \\((\\w+=\\? AND ){${terms}}number<\\?\\)`),
        sql,
      )
      assert.doesNotMatch(plan, /TEMP B-TREE|SCAN/, sql)
    }
  }
})

test('every statement that runs again and again finds its rows by an index', (context) => {
  const db = new DatabaseSync(':memory:')
  context.after(() => db.close())
  for (const migration of migrations) db.exec(migration)
  const all = Object.entries({
    ...jobSql,
    ...logSql,
    ...interruptionSql,
    ...replySql,
    ...participantSql,
    ...usageSql,
  })
  const scans: string[] = []
  for (const [name, sql] of all) {
    if (mayScan.has(name)) continue
    for (const one of [sql].flat(2)) {
      const plan = db.prepare(`explain query plan ${one}`).all() as { detail: string }[]
      const isScan = ({ detail }: { detail: string }) =>
        /^SCAN (?!CONSTANT ROW|json_each|v$|jobs USING INDEX woken_jobs|j USING INDEX live_jobs)/.test(detail) // `v`: the conversations of a reader
      for (const { detail } of plan.filter(isScan)) scans.push(`${name}: ${detail}`)
    }
  }
  assert.deepEqual(scans, [])
  const detailOf = (sql: string) => JSON.stringify(db.prepare(`explain query plan ${sql}`).all())
  assert.match(detailOf(jobSql.listLiveJobs), /INDEX live_tasks \(key>/)
  assert.match(detailOf(jobSql.listLiveTasks), /INDEX live_tasks_by_age \(database=\? AND \(created_at,id\)</)
  assert.match(detailOf(jobSql.listTasks), /INDEX tasks_by_age \(database=\? AND \(created_at,id\)</)
  assert.match(detailOf(jobSql.lastLooked), /INDEX runs_by_maker \(database=\? AND maker=\? AND \(changed_at,id\)</)
  assert.match(detailOf(jobSql.listLiveRunsOf), /INDEX live_jobs/)
  for (const sql of [jobSql.listRunsOf, jobSql.countRunsOf])
    assert.match(
      detailOf(sql),
      /INDEX runs_by_maker \(database=\? AND maker=\? AND changed_at>\? AND \(changed_at,id\)</,
    )
  assert.match(detailOf(jobSql.dueJobs), /INDEX live_jobs \(owner>/)
  assert.match(detailOf(interruptionSql.dueInterruptions), /INDEX interruptions_by_expiry/)
  assert.match(
    detailOf(interruptionSql.listInterruptionsReached),
    /INDEX interruptions_by_conversation \(conversation=/,
  )
  assert.match(
    detailOf(interruptionSql.listInterruptionsSeenByState),
    /INDEX interruptions_by_state \(database=\? AND state=/,
  )
  for (const sql of [logSql.listConversationsOf, jobSql.listTasksOf, interruptionSql.listInterruptionsReached]) {
    assert.match(detailOf(sql), /INDEX conversations_by_maker \(database=\? AND created_by=/)
    assert.match(detailOf(sql), /INDEX participants_by_user \(database=\? AND user=/)
  }
})
