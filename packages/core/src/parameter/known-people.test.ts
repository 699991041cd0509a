/** How models of an agent know people, and texts that one agent wrote about them for another. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changed, nobody, type People } from './person.ts'
import { aliasOrId, isAlias, knownPeople, translated } from './known-people.ts'
import { assertCheap } from '../../../../test/support/cpu.ts'

const named = (id: string, name: string | null = null) => ({ id, name, roles: ['buyer'] })
const here = (...ids: string[]): People =>
  ids.reduce<People>((people, id) => changed(people, named(id), 'there'), { ...nobody, isListed: true })
const listed = (...ids: string[]) => ids.map((id) => ({ id, roles: [], channel: 'inbox' as const }))
const open = { users: 'participants' as const, anonymizeUsers: null }
const hidden = { users: listed('bob'), anonymizeUsers: 'The  Guest' }

test('[C36] an alias counts the list first, then everybody in the order of appearance, and outlasts any leaving', () => {
  const people = here('anna', 'bob', 'carl')
  const aliases = (of: People) => ['bob', 'anna', 'carl', 'dan'].map((id) => aliasOrId(hidden, of, id))
  assert.deepEqual(aliases(people), ['the-guest-0', 'the-guest-1', 'the-guest-2', null])
  const later = changed(changed(people, named('anna'), 'left'), named('dan'), 'spoke')
  assert.deepEqual(aliases(later), ['the-guest-0', 'the-guest-1', 'the-guest-2', 'the-guest-3'])
  const again = changed(changed(later, named('anna'), 'there'), named('dan'), 'there')
  assert.deepEqual(aliases(again), aliases(later))
  assert.deepEqual(aliases(nobody), ['the-guest-0', null, null, null])
})

test('who has spoken is not asked before joining, and speaking changes nobody who takes part or has left', () => {
  const people = changed(here('anna'), named('bob'), 'spoke')
  const there = (of: People) => knownPeople(open, of).map(({ id, isThere }) => [id, isThere])
  assert.deepEqual(there(people), [
    ['anna', true],
    ['bob', false],
  ])
  const spoke = changed(changed(people, named('anna'), 'left'), named('anna'), 'spoke')
  assert.deepEqual(there(spoke)[0], ['anna', false])
})

test('a name could be an alias only with its own prefix and a number', () => {
  const names = ['the-guest-0', 'the-guest-12', 'the-guest-', 'the-guest-x', 'guest-0', 'the-guest-1-1']
  assert.deepEqual(
    names.filter((name) => isAlias(hidden, name)),
    ['the-guest-0', 'the-guest-12'],
  )
  assert.equal(isAlias(open, 'the-guest-0'), false)
})

const odd = ['a.b', 'a', 'x|y', '$&', 'corp\\anna', 'a"b', 'reply', 'message', 'yes']
const hiding = { ...open, anonymizeUsers: 'p' }

test('[C36] names in JSON are translated in `user` fields only, and back, whatever characters they have', () => {
  const between = { people: here(...odd), more: ['zed'] }
  const replies = JSON.stringify([...odd, 'zed'].map((user) => ({ user, reply: `yes, {"user":"a"} ${user}` })))
  const out = translated(replies, 'fields', { from: open, to: hiding, ...between })
  assert.deepEqual(
    JSON.parse(out),
    [...odd.map((user, index) => [`p-${index}`, user]), ['somebody', 'zed']].map(([user, id]) => ({
      user,
      reply: `yes, {"user":"a"} ${id}`,
    })),
  )
  assert.equal(
    translated(out, 'fields', { from: hiding, to: open, ...between, more: [] }),
    replies.replace('"user":"zed"', '"user":"somebody"'),
  )
  const written = '{ "message": "ask \\"user\\": \\"a\\", a", "user" : "corp\\\\anna" }'
  assert.equal(
    translated(written, 'fields', { from: open, to: hiding, ...between }),
    written.replace('"corp\\\\anna"', '"p-4"'),
  )
  assert.equal(translated(replies, 'fields', { from: open, to: open, ...between }), replies)
})

test("[C36] before a reply the person's name is translated, and never the person's own words", () => {
  const people = changed(changed(here('yes', 'c'), named('a1', 'Anna'), 'there'), named('a2', 'Anna'), 'there')
  const seen = (text: string, ...more: string[]) => translated(text, 'start', { from: open, to: hiding, people, more })
  assert.equal(seen('c: yes'), 'p-1: yes')
  assert.equal(seen('yes: c: no'), 'p-0: c: no')
  assert.deepEqual([seen('Anna: hi', 'a1'), seen('Anna: hi', 'a2')], ['p-2: hi', 'p-3: hi'])
  assert.equal(seen('zed: hi', 'zed'), 'somebody: hi')
  assert.equal(translated('p-2: hi', 'start', { from: hiding, to: open, people, more: [] }), 'Anna: hi')
})

test('[C36] in an error names are translated wherever they stand, whole names only', () => {
  const people = here('corp\\anna', 'ann', 'bob')
  const error = JSON.stringify({ error: 'corp\\anna has left the conversation. You can ask: ann, bob, annabel.' })
  const out = translated(error, 'error', { from: open, to: hiding, people, more: [] })
  assert.equal(out, '{"error":"p-0 has left the conversation. You can ask: p-1, p-2, annabel."}')
})

test('[C36] a thousand people and a long text cost little', async () => {
  const people = here(...Array.from({ length: 1000 }, (_, index) => `person-${index}-x`))
  const text = 'person-1000-x and person-'.repeat(4000)
  await assertCheap({ total: 500 }, () => translated(text, 'error', { from: open, to: hiding, people, more: [] }))
})
