/** A request waits for its store until one deadline, whatever it waits for and how often; the runs that it began have none. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWitanError } from '@witan/protocol'
import { steady } from '../../../identity/clock.ts'
import { apartFromRequests, liftDeadline, withinRequest } from '../../../identity/request-deadline.ts'
import { entry } from '../../../testing/conformance/store-fixtures.ts'
import type { PostgresConnection } from './connection.ts'
import { GroupCommit } from './group.ts'
import { PostgresSession } from './session.ts'

const deadlineMs = 150

/** A session on a server that takes what it is sent, and replies after so many ms or never. */
function silent(replyMs = Number.POSITIVE_INFINITY) {
  const session = new PostgresSession({ unavailableAfterMs: 60_000, replyMs: 5_000 })
  const reply = () =>
    new Promise((resolve) => void (replyMs < Number.POSITIVE_INFINITY && setTimeout(resolve, replyMs, [[]])))
  session.begin({ run: reply, transaction: reply } as unknown as PostgresConnection)
  const commits = new GroupCommit({
    store: () => session.work(reply as () => Promise<never>),
    stored: () => assert.fail('nothing was stored'),
    groupsAtOnce: 1,
  })
  return { session, commits }
}

const append = { database: 'default', conversation: 'a', entries: [entry('hello')] }
type Parts = ReturnType<typeof silent>

const waits: Readonly<Record<string, (parts: Parts) => Promise<unknown>>> = {
  'a read': ({ session }) => session.read('default', ['select']),
  'a write': ({ session }) => session.transaction('default', async () => {}),
  'an append': ({ commits }) => commits.append(append),
  'an append behind another': ({ commits }) => {
    apartFromRequests(() => void commits.append({ ...append, conversation: 'b' }))
    return commits.append(append)
  },
  'one wait after another that failed': ({ session, commits }) =>
    session.read('default', ['select']).catch(() => commits.append(append)),
}

for (const [kind, wait] of Object.entries(waits))
  test(`[I1] a request that waits for ${kind} fails at its deadline, and says that it may be stored`, async () => {
    const from = steady()
    const error = await withinRequest(deadlineMs, () => wait(silent())).catch((thrown: unknown) => thrown)
    assert.ok(isWitanError(error) && error.code === 'STORE_UNAVAILABLE', String(error))
    assert.equal(error.details['outcome'], 'unknown')
    assert.ok(steady() - from < 2 * deadlineMs + 100, `${steady() - from} ms`)
  })

test('what takes long and does not fail, is not the request’s, or comes after what it stored, is waited for', async () => {
  const slowMs = deadlineMs * 1.5
  const read = () => silent(slowMs).session.read('default', ['select'])
  const outlives: Readonly<Record<string, () => Promise<unknown>>> = {
    'a long statement': () => silent(slowMs).session.transaction('default', async () => {}, { replyMs: 60_000 }),
    'what the request began': () => apartFromRequests(read),
    'what comes once it is stored': () => {
      liftDeadline()
      return read()
    },
  }
  await Promise.all(Object.values(outlives).map((work) => withinRequest(deadlineMs, work)))
})
