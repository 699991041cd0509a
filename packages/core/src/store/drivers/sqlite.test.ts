/** What only the embedded store promises: its lock, its file, group commit, and a full disk. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { isWitanError, type WitanError } from '@witan/protocol'
import { begin, by, database, entry, textsOf } from '../../testing/conformance/store-fixtures.ts'
import type { Store } from '../store.ts'
import { type SqliteStoreOptions, sqliteStore } from './sqlite.ts'

function newFile(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'witan-sqlite-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'store.db')
}

async function opened(context: TestContext, options: SqliteStoreOptions): Promise<Store> {
  const store = sqliteStore(options)
  await store.open()
  context.after(() => store.close())
  return store
}

/** Opens a store and gives the connection that it has made, to look at and to break. */
async function openedWithin(context: TestContext, options: SqliteStoreOptions): Promise<[Store, DatabaseSync]> {
  const made: DatabaseSync[] = []
  const { exec } = DatabaseSync.prototype
  DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string) {
    made.push(this)
    return exec.call(this, sql)
  }
  try {
    const store = await opened(context, options)
    return [store, made.at(-1) ?? assert.fail()]
  } finally {
    DatabaseSync.prototype.exec = exec
  }
}

async function errorOf(work: Promise<unknown>): Promise<WitanError> {
  const error = await work.then(
    () => assert.fail('nothing was thrown'),
    (reason: unknown) => reason,
  )
  assert.ok(isWitanError(error), String(error))
  return error
}

/** How many transactions the write-ahead log holds: the last frame of each names the size of the file. */
function commitsIn(file: string): number {
  const log = readFileSync(`${file}-wal`)
  const frame = 24 + log.readUInt32BE(8)
  let commits = 0
  for (let at = 32; at + frame <= log.length; at += frame) {
    if (log.readUInt32BE(at + 8) !== log.readUInt32BE(16)) break
    if (log.readUInt32BE(at + 4) !== 0) commits += 1
  }
  return commits
}

const value = (db: DatabaseSync, sql: string) => Object.values(db.prepare(sql).get() ?? {})[0]

// the disk

test('a store survives power cuts unless it is told to be faster', async (context) => {
  const [, db] = await openedWithin(context, { file: newFile(context) })
  assert.deepEqual([value(db, 'pragma synchronous'), value(db, 'pragma journal_mode')], [2, 'wal'])
  assert.deepEqual([value(db, 'pragma locking_mode'), value(db, 'pragma page_size')], ['exclusive', 2048])
  const [, faster] = await openedWithin(context, { file: newFile(context), synchronous: 'normal' })
  assert.equal(value(faster, 'pragma synchronous'), 1)
})

test('200 appends at once share a commit, and each that waits for the one before has its own', async (context) => {
  const file = newFile(context)
  const store = await opened(context, { file })
  const jobs = await Promise.all(Array.from({ length: 200 }, (_, index) => begin(store, { id: `j${index}` })))
  const before = commitsIn(file)
  const appends = jobs.map((job) => store.append({ ...by(job), entries: [entry('more', job.id)] }))
  for (const { ok } of await Promise.all(appends)) assert.ok(ok)
  assert.ok(commitsIn(file) - before <= 2, `${commitsIn(file) - before} commits`)
  const [job] = jobs
  assert.ok(job !== undefined)
  const start = commitsIn(file)
  for (let index = 0; index < 5; index += 1) await store.append({ ...by(job), entries: [entry('more', job.id)] })
  assert.equal(commitsIn(file) - start, 5)
})

test('what is refused, looked up or not due costs no commit', async (context) => {
  const file = newFile(context)
  const store = await opened(context, { file })
  const job = await begin(store, { id: 'j1' })
  const before = commitsIn(file)
  await store.append({ ...by(job), fence: { job: 'j1', epoch: 9 }, entries: [entry('no')] })
  await store.claimJobs({ owner: 'w2', leaseMs: 1000, limit: 10 })
  await store.heartbeat('w2', [job], 1000)
  await store.deleteConversation(database, 'chats/none')
  assert.equal(commitsIn(file), before)
})

test('on a full disk a whole group fails, nothing of it is stored, and later appends work', async (context) => {
  const file = newFile(context)
  const [store, db] = await openedWithin(context, { file })
  const job = await begin(store, { id: 'j1' })
  db.exec(`pragma max_page_count = ${Number(value(db, 'pragma page_count')) + 3}`)
  const texts = ['small', 'x'.repeat(100_000), 'small too']
  const entries = texts.map((text) => entry(text, 'j1'))
  const appends = entries.map((one) => store.append({ ...by(job), entries: [one] }))
  for (const append of appends) {
    const { code, retryable, message } = await errorOf(append)
    assert.deepEqual([code, retryable], ['STORE_UNAVAILABLE', true])
    assert.match(message, /full/)
  }
  assert.deepEqual(
    entries.map(({ seq }) => seq),
    [0, 0, 0],
  )
  assert.deepEqual(await textsOf(store, job.conversation), ['hello'])
  db.exec('pragma max_page_count = 1000000')
  assert.ok((await store.append({ ...by(job), entries })).ok)
  await store.close()
  const again = await opened(context, { file })
  assert.deepEqual(await textsOf(again, job.conversation), ['hello', ...texts])
})

test('what JSON cannot say fails alone', async (context) => {
  const store = await opened(context, { file: newFile(context) })
  const job = await begin(store, { id: 'j1' })
  const bad = { ...entry('bad', 'j1'), at: 1n as unknown as number }
  const appends = [entry('a', 'j1'), bad, entry('b', 'j1')].map((one) => store.append({ ...by(job), entries: [one] }))
  const results = await Promise.allSettled(appends)
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(await textsOf(store, job.conversation), ['hello', 'a', 'b'])
})

test('a conversation that is full takes no more, others do', async (context) => {
  const [store, db] = await openedWithin(context, { file: newFile(context) })
  const jobs = [await begin(store, { id: 'j1' }), await begin(store, { id: 'j2' })] as const
  db.exec(`insert into entries select (key & ~1048575) + 1048574, text from entries where key >> 20 = 1`)
  await store.releaseJobs('nobody') // so that the store forgets what it knew before
  const appends = jobs.map((job) => store.append({ ...by(job), entries: [entry('a', job.id), entry('b', job.id)] }))
  assert.match((await errorOf(appends[0] ?? assert.fail())).message, /`chats\/j1` is full/)
  assert.equal((await appends[1])?.ok, true)
  assert.equal((await store.append({ ...by(jobs[0]), entries: [entry('last', 'j1')] })).ok, true)
})

test('closing stores what is waiting, and then the store refuses everything', async (context) => {
  const file = newFile(context)
  const store = await opened(context, { file })
  const job = await begin(store, { id: 'j1' })
  const append = store.append({ ...by(job), entries: [entry('last', 'j1')] })
  await store.close()
  assert.equal((await append).ok, true)
  const late = [store.append({ ...by(job), entries: [] }), store.getJob(database, 'j1'), store.releaseJobs('w1')]
  for (const one of late) assert.equal((await errorOf(one)).code, 'STORE_UNAVAILABLE')
  await store.close()
  await store.open()
  assert.deepEqual(await textsOf(store, job.conversation), ['hello', 'last'])
})

// the lock

const module = JSON.stringify(new URL('./sqlite.ts', import.meta.url).href)
const fixtures = JSON.stringify(new URL('../../testing/conformance/store-fixtures.ts', import.meta.url).href)

/** A process that opens the file, begins a job and then holds on; or says why it could not. */
const holder = `
import { sqliteStore } from ${module}
import { begin } from ${fixtures}
const store = sqliteStore({ file: process.argv[1] })
try {
  await store.open()
  await begin(store, { id: 'held' })
  console.log('open')
  setInterval(() => store, 1000) // a store that nobody refers to is collected, and its file is closed
} catch (error) {
  console.log(JSON.stringify({ code: error.code, message: error.message, details: error.details }))
}`

async function hold(context: TestContext, file: string): Promise<{ child: ChildProcess; said: string }> {
  const options = ['--conditions=witan-source', '--input-type=module-typescript', '--eval', holder, file]
  const child = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'inherit'] })
  context.after(() => child.kill('SIGKILL'))
  const [chunk] = (await once(child.stdout ?? assert.fail(), 'data')) as [Buffer]
  return { child, said: chunk.toString().trim() }
}

test('a second process is refused and told who holds the file', async (context) => {
  const file = newFile(context)
  const store = await opened(context, { file })
  const { said } = await hold(context, file)
  const { code, message, details } = JSON.parse(said) as { code: string; message: string; details: object }
  assert.equal(code, 'STORE_LOCKED')
  assert.match(message, new RegExp(`process ${process.pid}`))
  assert.ok(message.includes(file))
  assert.deepEqual(details, { file, pid: process.pid })
  await begin(store, { id: 'j1' })
  await store.close()
  assert.equal((await hold(context, file)).said, 'open')
})

test('a killed holder frees the file at once, and its jobs can be claimed without waiting for a lease', async (context) => {
  const file = newFile(context)
  const { child, said } = await hold(context, file)
  assert.equal(said, 'open')
  const store = sqliteStore({ file })
  const { code, details } = await errorOf(store.open())
  assert.deepEqual([code, details.pid], ['STORE_LOCKED', child.pid])
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.ok(existsSync(`${file}.lock`))
  await store.open()
  context.after(() => store.close())
  const [job, ...more] = await store.claimJobs({ owner: 'w2', leaseMs: 1000, limit: 10 })
  assert.deepEqual([job?.id, job?.epoch, job?.attempts, job?.owner], ['held', 2, 2, 'w2'])
  assert.deepEqual(more, [])
})

test('a second store of this process is refused too', async (context) => {
  const file = newFile(context)
  const store = await opened(context, { file })
  const error = await errorOf(sqliteStore({ file }).open())
  assert.deepEqual([error.code, error.details.pid], ['STORE_LOCKED', process.pid])
  await begin(store, { id: 'j1' })
})

test('parked jobs and jobs that were given back are as they were after opening', async (context) => {
  const file = newFile(context)
  const store = await opened(context, { file })
  const job = await begin(store, { id: 'j1' })
  const rest = { kind: 'rest', id: 'j1', status: 'waiting', result: null, at: 1 } as const
  await store.append({ ...by(job), entries: [], jobs: [rest] })
  await begin(store, { id: 'j2' })
  await store.releaseJobs('w1')
  await store.close()
  await store.open()
  const claimed = await store.claimJobs({ owner: 'w2', leaseMs: 1000, limit: 10 })
  assert.deepEqual(
    claimed.map(({ id, attempts }) => [id, attempts]),
    [['j2', 1]],
  )
})

// the file

test('the file is for its owner only, and the lock file names the holder until it is closed', async (context) => {
  const file = newFile(context)
  const store = await opened(context, { file, now: () => 0 })
  for (const each of [file, `${file}-wal`, `${file}.lock`]) assert.equal(statSync(each).mode & 0o777, 0o600, each)
  const holder = JSON.parse(readFileSync(`${file}.lock`, 'utf8'))
  assert.deepEqual(holder, { pid: process.pid, startedAt: '1970-01-01T00:00:00.000Z' })
  await store.close()
  assert.equal(existsSync(`${file}.lock`), false)
})

test('a file of a newer version is left alone', async (context) => {
  const file = newFile(context)
  const store = await opened(context, { file })
  await store.close()
  const db = new DatabaseSync(file)
  db.exec('pragma user_version = 999')
  db.close()
  const { code, details } = await errorOf(store.open())
  assert.deepEqual([code, details.version], ['SCHEMA_TOO_NEW', 999])
  const after = new DatabaseSync(file)
  assert.equal(value(after, 'pragma user_version'), 999)
  after.close()
})

test('what is not a store file is refused and left alone', async (context) => {
  const file = newFile(context)
  const db = new DatabaseSync(file)
  db.exec('create table customers (id integer)')
  db.close()
  const garbage = `${file}.txt`
  writeFileSync(garbage, 'this is no database, and long enough to be seen as none '.repeat(50))
  const folder = `${file}.folder`
  mkdirSync(folder)
  for (const each of [file, garbage, folder, join(garbage, 'below.db')]) {
    const { code, details } = await errorOf(sqliteStore({ file: each }).open())
    assert.deepEqual([code, details.file], ['STORE_UNREACHABLE', each])
  }
  const after = new DatabaseSync(file)
  assert.equal(value(after, `select count(*) from sqlite_schema`), 1)
  assert.equal(value(after, 'pragma journal_mode'), 'delete')
  after.close()
})
