/** The page of rules against the tests: an id in a test's name is a rule of the page, and what holds is held by a test. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readPage } from './pages.ts'
import { citations, plainId, rulesOf } from './rules.ts'

describe('the page of rules', () => {
  const rules = rulesOf(readPage('docs/rules.md'))
  const cited = citations()

  test('it has every rule once, in one of five states', () => {
    assert.ok(rules.length > 200)
    assert.equal(new Set(rules.map(({ id }) => plainId(id))).size, rules.length)
    assert.deepEqual(
      rules.filter(({ state }) => !['holds', 'partly', 'built', 'later', 'planned'].includes(state)),
      [],
    )
  })

  test('every id cited in a test’s name is a rule of the page', () => {
    const known = new Set(rules.map(({ id }) => plainId(id)))
    assert.deepEqual([...cited.keys()].filter((id) => !known.has(id)).sort(), [])
  })

  test('a rule that holds, holds in part, or is refused by name until later, names a test that carries its id', () => {
    const unheld = rules.filter(({ state, files, id }) => {
      const holds = files.length > 0 && files.every((file) => cited.get(plainId(id))?.has(file))
      return ['holds', 'partly', 'later'].includes(state) && !holds
    })
    assert.deepEqual(unheld, [], 'Run `npx node test/docs/embed.ts`.')
  })

  test('a rule that holds in part says what is missing', () => {
    const silent = rules.filter(({ state, text }) => (state === 'partly') !== text.includes('Missing: '))
    assert.deepEqual(silent, [])
  })

  test('no other rule names a test', () => {
    const others = rules.filter(({ state, files }) => !['holds', 'partly', 'later'].includes(state) && files.length > 0)
    assert.deepEqual(others, [])
  })
})
