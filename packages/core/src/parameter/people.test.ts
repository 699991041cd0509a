/** How models of an agent know people, and texts that one agent wrote about them for another. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changed, nobody, type People } from './participants.ts'
import { handleOf, isAlias, knownPeople, translated } from './people.ts'

const named = (id: string, name: string | null = null) => ({ id, name, roles: ['buyer'] })
const here = (...ids: string[]): People =>
  ids.reduce<People>((people, id) => changed(people, named(id), 'there'), { ...nobody, isListed: true })
const listed = (...ids: string[]) => ids.map((id) => ({ id, roles: [], channel: 'inbox' as const }))
const open = { users: 'participants' as const, anonymizeUsers: null }
const hidden = { users: listed('bob'), anonymizeUsers: 'The  Guest' }

test('[C36] an alias counts the list first, then everybody in the order of appearance, and outlasts any leaving', () => {
  const people = here('anna', 'bob', 'carl')
  const aliases = (of: People) => ['bob', 'anna', 'carl', 'dan'].map((id) => handleOf(hidden, of, id))
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

test('[C36] a text is translated from one agent to another and back, whole names only, whatever characters they have', () => {
  const odd = ['a.b', 'a', 'x|y', '$&', 'ab', 'Ü(1)']
  const people = here(...odd)
  const [from, to] = [open, { ...open, anonymizeUsers: 'p' }]
  const text = `{"user":"${odd[0]}"} a ab x|y $& Ü(1) abc a-b xa.b`
  const out = translated(text, { from, to, people, called: false, more: ['zed'] })
  assert.equal(out, '{"user":"p-0"} p-1 p-4 p-2 p-3 p-5 abc a-b xa.b')
  assert.equal(translated(out, { from: to, to: from, people, called: false, more: [] }), text)
  assert.equal(translated('by zed', { from, to, people, called: true, more: ['zed'] }), 'by somebody')
  assert.equal(translated(text, { from, to: from, people, called: true, more: [] }), text)
})

test('[C36] a thousand people and a long text cost little', () => {
  const people = here(...Array.from({ length: 1000 }, (_, index) => `person-${index}-x`))
  const text = 'person-1000-x and person-'.repeat(4000)
  const start = process.cpuUsage()
  translated(text, { from: open, to: { ...open, anonymizeUsers: 'p' }, people, called: true, more: [] })
  const { user, system } = process.cpuUsage(start)
  assert.ok(user + system < 500_000, `${(user + system) / 1000} ms`)
})
