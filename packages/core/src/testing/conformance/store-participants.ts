/** Conformance of stores: who takes part in conversations, changed with the log and gone with the conversation. */
import assert from 'node:assert/strict'
import { isWitanError } from '@witan/protocol'
import type { ParticipantRow, Store } from '../../store/store.ts'
import { type Check, type CheckTwo, conversation, database, entry, past } from './store-fixtures.ts'

const other = 'other'
const page = { limit: 100, after: null }

function person(user: string, more: Partial<ParticipantRow> = {}): ParticipantRow {
  return { user, name: null, roles: [], joinedAt: 10, leftAt: null, ...more }
}

/** Creates a conversation, or appends to it, with rows of people. */
async function note(
  store: Store,
  id: string,
  given: { people: readonly ParticipantRow[]; at?: string; ifLastSeq?: number },
) {
  const { people: participants, at = database, ifLastSeq } = given
  const exists = (await store.getConversation(at, id)) !== null
  const create = exists ? {} : { create: conversation(id, { database: at }) }
  const last = ifLastSeq === undefined ? {} : { ifLastSeq }
  return store.append({ database: at, conversation: id, ...create, ...last, entries: [entry('x')], participants })
}

const idsIn = async (store: Store, id: string, at = database) =>
  (await store.listParticipants(at, id, page)).map(({ user }) => user)

const listed = async (store: Store, filter: { participant?: string; createdBy?: string; agent?: string }) => {
  const { participant = null, createdBy = null, agent = null } = filter
  return (await store.listConversations(database, { ...page, agent, createdBy, participant })).map(({ id }) => id)
}

/** Registers the tests of participants. */
export function checkParticipants(check: Check): void {
  check('people stand in the order of their first joining, whatever changes later', async (store) => {
    const anna = person('anna', { name: 'Anna ☔ \ud800', roles: ['buyer', 'é'] })
    await note(store, 'chats/1', { people: [anna, person('bob')] })
    await note(store, 'chats/1', { people: [person('carl', { joinedAt: 20 })] })
    await note(store, 'chats/1', { people: [person('anna', { leftAt: 30 })] })
    assert.deepEqual(await store.listParticipants(database, 'chats/1', page), [
      person('anna', { leftAt: 30 }),
      person('bob'),
      person('carl', { joinedAt: 20 }),
    ])
    await note(store, 'chats/1', { people: [{ ...anna, joinedAt: 40 }] })
    assert.deepEqual(await store.getParticipant(database, 'chats/1', 'anna'), { ...anna, joinedAt: 40 })
    assert.deepEqual(await idsIn(store, 'chats/1'), ['anna', 'bob', 'carl'])
  })

  check('people come in pages, and a cursor that is nobody is refused', async (store) => {
    await note(store, 'chats/1', { people: ['a', 'b', 'c'].map((id) => person(id)) })
    const first = await store.listParticipants(database, 'chats/1', { limit: 2, after: null })
    const rest = await store.listParticipants(database, 'chats/1', { limit: 2, after: 'b' })
    assert.deepEqual(
      [...first, ...rest].map(({ user }) => user),
      ['a', 'b', 'c'],
    )
    const missing = store.listParticipants(database, 'chats/1', { limit: 2, after: 'nobody' })
    await assert.rejects(missing, (error) => isWitanError(error) && error.code === 'BODY_INVALID')
  })

  check('the conversations of a person are those in which the person takes part now, newest first', async (store) => {
    await note(store, 'chats/1', { people: [person('anna'), person('bob')] })
    await note(store, 'chats/2', { people: [] })
    await note(store, 'chats/3', { people: [person('anna')] })
    assert.deepEqual(await listed(store, { participant: 'anna' }), ['chats/3', 'chats/1'])
    const [second] = await store.listConversations(database, {
      ...{ limit: 1, after: 'chats/3', agent: null, createdBy: null, participant: 'anna' },
    })
    assert.equal(second?.id, 'chats/1')
    await note(store, 'chats/3', { people: [person('anna', { leftAt: 30 })] })
    assert.deepEqual(await listed(store, { participant: 'anna' }), ['chats/1'])
    assert.deepEqual(await listed(store, { participant: 'nobody' }), [])
  })

  check('with a creator too, a conversation that satisfies one of both is listed, once', async (store) => {
    const { createdBy, agent } = conversation('chats/x')
    const create = conversation('chats/0', { createdBy: 'user:else' })
    await store.append({ database, conversation: 'chats/0', create, entries: [], participants: [person('anna')] })
    await note(store, 'chats/1', { people: [person('anna')] })
    await note(store, 'chats/2', { people: [] })
    const mine = { participant: 'anna', createdBy }
    assert.deepEqual(await listed(store, mine), ['chats/2', 'chats/1', 'chats/0'])
    assert.deepEqual(await listed(store, { ...mine, agent }), ['chats/2', 'chats/1', 'chats/0'])
    assert.deepEqual(await listed(store, { ...mine, agent: 'none' }), [])
    assert.deepEqual(await listed(store, { participant: 'anna', createdBy: 'user:nobody' }), ['chats/1', 'chats/0'])
  })

  checkBounds(check)
}

function checkBounds(check: Check): void {
  check(
    'whose conversations are is read for many at once, those that are missing or expired left out',
    async (store) => {
      const { createdBy, agent } = conversation('chats/x')
      await note(store, 'chats/1', { people: [person('anna'), person('bob', { leftAt: 30 })] })
      await note(store, 'chats/2', { people: [] })
      const create = conversation('chats/3', { expiresAt: past, createdBy: 'user:else' })
      await store.append({ database, conversation: 'chats/3', create, entries: [] })
      await note(store, 'chats/4', { people: [person('anna')], at: other })
      const owners = async (person: string | null) => {
        const ids = ['chats/4', 'chats/3', 'chats/2', 'none', 'chats/1']
        const found = await store.readOwners(database, ids, person)
        return found.toSorted((one, two) => (one.id < two.id ? -1 : 1))
      }
      const of = (id: string, takesPart: boolean) => ({ id, agent, createdBy, takesPart })
      assert.deepEqual(await owners('anna'), [of('chats/1', true), of('chats/2', false)])
      for (const nobody of ['bob', 'carl', null])
        assert.deepEqual(await owners(nobody), [of('chats/1', false), of('chats/2', false)])
      assert.deepEqual(await store.readOwners(database, [], 'anna'), [])
    },
  )

  check('a refused append changes nobody, and no other database sees anybody', async (store) => {
    await note(store, 'chats/1', { people: [person('anna')] })
    const refused = await note(store, 'chats/1', { people: [person('bob')], ifLastSeq: 9 })
    assert.equal(refused.ok, false)
    assert.deepEqual(await idsIn(store, 'chats/1'), ['anna'])
    await note(store, 'chats/1', { people: [person('carl')], at: other })
    assert.deepEqual(await idsIn(store, 'chats/1', other), ['carl'])
    assert.deepEqual(await idsIn(store, 'chats/1'), ['anna'])
    assert.deepEqual(await listed(store, { participant: 'carl' }), [])
  })

  check('people go with their conversation: deleted, expired, or replaced by a new one of its id', async (store) => {
    await note(store, 'chats/1', { people: [person('anna')] })
    await store.deleteConversation(database, 'chats/1')
    assert.deepEqual(await idsIn(store, 'chats/1'), [])
    const create = conversation('chats/1', { expiresAt: past })
    await store.append({ database, conversation: 'chats/1', create, entries: [], participants: [person('anna')] })
    assert.deepEqual([await idsIn(store, 'chats/1'), await listed(store, { participant: 'anna' })], [[], []])
    await note(store, 'chats/1', { people: [person('bob')] })
    assert.deepEqual(await idsIn(store, 'chats/1'), ['bob'])
    assert.equal(await store.getParticipant(database, 'chats/1', 'anna'), null)
  })

  check('a conversation that moves to another database keeps its people, in order', async (store) => {
    const people = [person('anna', { name: 'Anna' }), person('bob', { leftAt: 5 }), person('carl', { roles: ['x'] })]
    await note(store, 'chats/1', { people })
    const snapshot = (await store.readSnapshot(database, 'chats/1')) ?? assert.fail()
    assert.deepEqual(snapshot.participants, people)
    assert.equal(await store.putSnapshot(other, snapshot), true)
    assert.deepEqual(await store.listParticipants(other, 'chats/1', page), people)
    await note(store, 'chats/2', { people: [] })
    assert.equal(Object.hasOwn((await store.readSnapshot(database, 'chats/2')) ?? {}, 'participants'), false)
    const twice = {
      ...snapshot,
      row: { ...snapshot.row, id: 'chats/3' },
      participants: [person('anna'), person('anna')],
    }
    await assert.rejects(
      store.putSnapshot(other, twice),
      (error) => isWitanError(error) && error.code === 'BODY_INVALID',
    )
  })
}

/** Registers the test of two stores on the same tables. */
export function checkSharedParticipants(check: CheckTwo): void {
  check('a person who joins through one store is seen through the other', async (first, second) => {
    await note(first, 'chats/1', { people: [person('anna')] })
    await note(second, 'chats/1', { people: [person('bob')] })
    assert.deepEqual(await idsIn(first, 'chats/1'), ['anna', 'bob'])
    assert.deepEqual(await listed(first, { participant: 'bob' }), ['chats/1'])
  })
}
