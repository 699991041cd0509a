/** The page of rules against the tests: an id in a test's name is a rule of the page, and what holds is held by a test. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { readPage, root } from './pages.ts'

const id = /^(?:[RFMTK]b?|C|D|E|P|I)\d{1,2}$/

/** Every id that stands in square brackets in a test's name, with the files that cite it. */
function citations(): ReadonlyMap<string, ReadonlySet<string>> {
  const cited = new Map<string, Set<string>>()
  const files = globSync(
    ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts', 'examples/*/*.test.ts'],
    {
      cwd: root,
    },
  ).map((path) => path.replaceAll('\\', '/'))
  for (const file of files) {
    const names = readFileSync(join(root, file), 'utf8').matchAll(
      /\b(?:test|it|describe|suite)(?:\.\w+)?\(\s*(['"`])((?:(?!\1)[\s\S])*)\1/g,
    )
    for (const [, , name = ''] of names)
      for (const [, list = ''] of name.matchAll(/\[([^\]]+)\]/g))
        for (const one of list.split(/[\s,;]+/).filter((word) => id.test(word)))
          cited.set(one, (cited.get(one) ?? new Set()).add(file))
  }
  return cited
}

/** One line of the page: `| R01 | the rule | state | where |`. */
const row = /^\| ([A-Z]b?\d{2}|[CDEPI]\d{1,2}) \| (.+?) \| (holds|planned) \| (.*?) ?\|$/gm

describe('the page of rules', () => {
  const rows = [...readPage('docs/rules.md').matchAll(row)].map(([, rule = '', text, state, where = '']) => {
    return { rule, text, state, files: [...where.matchAll(/\]\(\.\.\/([^)]+)\)/g)].map(([, file = '']) => file) }
  })
  const cited = citations()

  test('no rule stands twice', () => {
    assert.equal(new Set(rows.map(({ rule }) => rule)).size, rows.length)
  })

  test('every id cited in a test’s name is a rule of the page', () => {
    const known = new Set(rows.map(({ rule }) => rule))
    assert.deepEqual([...cited.keys()].filter((rule) => !known.has(rule)).sort(), [])
  })

  test('a rule that holds names a test that carries its id', () => {
    const unheld = rows
      .filter(({ state, rule, files }) => state === 'holds' && !files.some((file) => cited.get(rule)?.has(file)))
      .map(({ rule }) => rule)
    assert.deepEqual(unheld, [])
  })

  test('a planned rule names no test', () => {
    assert.deepEqual(
      rows.filter(({ state, files }) => state === 'planned' && files.length > 0),
      [],
    )
  })
})
