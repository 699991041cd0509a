/** The page of rules against the tests: an id in a test's name is a rule of the page, and what holds is held by a test. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readPage } from './pages.ts'
import { citations, plainId, rulesOf } from './rules.ts'

describe('the page of rules', () => {
  const rules = rulesOf(readPage('docs/rules.md'))
  const cited = citations()

  test('it has every rule once, in one of four states', () => {
    assert.ok(rules.length > 200)
    assert.equal(new Set(rules.map(({ id }) => plainId(id))).size, rules.length)
    assert.deepEqual(
      rules.filter(({ state }) => !['holds', 'built', 'later', 'planned'].includes(state)),
      [],
    )
  })

  test('every id cited in a test’s name is a rule of the page', () => {
    const known = new Set(rules.map(({ id }) => plainId(id)))
    assert.deepEqual([...cited.keys()].filter((id) => !known.has(id)).sort(), [])
  })

  test('a rule that holds, or is refused by name until later, names a test that carries its id', () => {
    const unheld = rules.filter(({ state, files, id }) => {
      return (state === 'holds' || state === 'later') && !files.some((file) => cited.get(plainId(id))?.has(file))
    })
    assert.deepEqual(unheld, [], 'Run `npx node test/docs/embed.ts`.')
  })

  test('no other rule names a test', () => {
    const others = rules.filter(({ state, files }) => !['holds', 'later'].includes(state) && files.length > 0)
    assert.deepEqual(others, [])
  })
})
