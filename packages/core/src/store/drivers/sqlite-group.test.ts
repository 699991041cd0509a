/** A commit that fails: nobody who shared it has been told that anything was stored. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CommitGroup } from './sqlite-group.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

type Connection = ConstructorParameters<typeof CommitGroup>[0]

/** A file that is where it was. */
const place = { lost: null, look() {} }

/** A database on a disk that is full: everything works until the commit. */
function fullDisk(done: string[]): Connection {
  const run = (sql: string): void => {
    done.push(sql)
    if (sql === 'commit') throw new Error('database or disk is full')
  }
  const db = { isTransaction: false, exec: (sql: string) => void done.push(sql) }
  return { db, run, place } as unknown as Connection
}

test('[D24] [I1] a write is refused where its commit fails, for every member of the group', async () => {
  const done: string[] = []
  const group = new CommitGroup(fullDisk(done), { alone: () => false, begin: () => {}, end: () => {}, undo: () => {} })
  const told = await Promise.allSettled([group.write(() => 1), group.write(() => 2)])
  assert.deepEqual(
    told.map((one) => (one.status === 'rejected' ? one.reason.code : one.value)),
    ['STORE_UNAVAILABLE', 'STORE_UNAVAILABLE'],
  )
  assert.deepEqual(done.slice(0, 2), ['begin immediate', 'commit'])
})

test('a long write waits for the end of the turn, and the log of writes is moved into the file in a later one', async () => {
  const done: string[] = []
  const db = { isTransaction: false, isOpen: true, exec: (sql: string) => void done.push(sql) }
  const run = (sql: string): void => void done.push(sql)
  const terms = { alone: () => true, begin: () => {}, end: () => {}, undo: () => {} }
  const group = new CommitGroup({ db, run, place } as unknown as Connection, terms)
  await group.write(() => 1)
  assert.deepEqual(done.splice(0), ['begin immediate', 'commit'])
  const long = group.write(() => 2, 500_000)
  await new Promise((resolve) => process.nextTick(resolve))
  assert.deepEqual(done, [])
  assert.equal(await long, 2)
  assert.deepEqual(done.splice(0), ['pragma wal_autocheckpoint = 0', 'begin immediate', 'commit'])
  await turn()
  assert.deepEqual(done, ['pragma wal_autocheckpoint = 2000', 'pragma wal_checkpoint(passive)'])
})

test('long writes of one turn are committed in as many as they need, with a checkpoint between, in their order', async () => {
  const done: string[] = []
  const db = { isTransaction: false, isOpen: true, exec: (sql: string) => void done.push(sql.slice(0, 21)) }
  const run = (sql: string): void => void done.push(sql)
  const terms = { alone: () => false, begin: () => {}, end: () => {}, undo: () => {} }
  const group = new CommitGroup({ db, run, place } as unknown as Connection, terms)
  const write = (name: string) => group.write(() => void done.push(name), 1_500_000)
  const first = Promise.all(['a', 'b', 'c'].map(write))
  await turn()
  const last = write('d')
  await Promise.all([first, last])
  const checkpoint = ['pragma wal_autocheckp', 'pragma wal_checkpoint']
  const commit = (...names: string[]) => ['pragma wal_autocheckp', 'begin immediate', ...names, 'commit']
  assert.deepEqual(done, [...commit('a', 'b'), ...checkpoint, ...commit('c', 'd')])
})

test('[D24] where the first of several commits fails, the others are tried all the same', async () => {
  const group = new CommitGroup(fullDisk([]), { alone: () => false, begin: () => {}, end: () => {}, undo: () => {} })
  const told = await Promise.allSettled(Array.from({ length: 5 }, (_, at) => group.write(() => at, 3_000_000)))
  assert.deepEqual(
    told.map(({ status }) => status),
    Array.from({ length: 5 }, () => 'rejected'),
  )
})
