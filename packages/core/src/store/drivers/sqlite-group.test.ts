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
