/** A commit that fails: nobody who shared it has been told that anything was stored. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CommitGroup } from './sqlite-group.ts'

type Connection = ConstructorParameters<typeof CommitGroup>[0]

/** A database on a disk that is full: everything works until the commit. */
function fullDisk(done: string[]): Connection {
  const run = (sql: string): void => {
    done.push(sql)
    if (sql === 'commit') throw new Error('database or disk is full')
  }
  return { db: { isTransaction: false, exec: (sql: string) => void done.push(sql) }, run } as unknown as Connection
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
  const group = new CommitGroup({ db, run } as unknown as Connection, terms)
  const turn = () => new Promise((resolve) => setImmediate(resolve))
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
