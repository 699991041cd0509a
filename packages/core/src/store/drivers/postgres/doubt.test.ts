/** A group of which nobody knows whether it was stored is not tried in another way [I1] [I2]. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWitanError } from '@witan/protocol'
import { entry } from '../../../testing/conformance/store-fixtures.ts'
import { storeGroup } from './append.ts'
import type { PostgresConnection } from './connection.ts'
import { GroupCommit } from './group.ts'
import { PostgresSession } from './session.ts'

/** Connections on which the reply to the first commit is lost, and everything after that is refused. */
function brittle(tries: string[]): PostgresConnection {
  const transaction = {
    now: () => 0,
    history: () => 0,
    send: async () => [['a', 'b'].map((id) => ({ id, last_seq: 1, last_message_at: 0, expires_at: null })), []],
    commit: async () => {
      tries.push('commit')
      throw new Error('Connection terminated unexpectedly')
    },
  }
  const connection = {
    async transaction(_place: unknown, work: (one: typeof transaction) => Promise<unknown>) {
      tries.push('begin')
      if (tries.length > 1) throw Object.assign(new Error('permission denied'), { code: '42501', severity: 'ERROR' })
      return work(transaction)
    },
  }
  return connection as unknown as PostgresConnection
}

test('what follows a commit without a reply fails the group as a whole, and says that it may be stored', async () => {
  const tries: string[] = []
  const session = new PostgresSession({ unavailableAfterMs: 60_000, replyMs: 5_000 })
  session.begin(brittle(tries))
  const commits = new GroupCommit({
    store: async (database, members) => (await storeGroup(session, { database, members, markId: 'm' })).results,
    stored: () => assert.fail('nothing was stored'),
    groupsAtOnce: 1,
  })
  const appends = ['a', 'b'].map((conversation) =>
    commits.append({ database: 'default', conversation, entries: [entry('hello')] }),
  )
  for (const settled of await Promise.allSettled(appends)) {
    assert.ok(settled.status === 'rejected' && isWitanError(settled.reason))
    assert.equal(settled.reason.code, 'STORE_UNAVAILABLE')
    assert.deepEqual(settled.reason.details, { sqlState: '42501', outcome: 'unknown' })
  }
  assert.deepEqual(tries, ['begin', 'commit', 'begin'], 'no member is stored alone')
})
