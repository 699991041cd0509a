/** The examples of the documents: what a page shows is a file that runs, and prints what the page says. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { runExamples } from './examples.ts'
import { exampleFolder, examplesOf, pagePaths, readPage, type Shown, withFiles } from './pages.ts'

const mend = 'Run `npx node test/docs/embed.ts` and look at what it changed.'

describe('the examples of the documents', () => {
  const shown: readonly Shown[] = pagePaths().flatMap(examplesOf)
  const files = globSync('*.ts', { cwd: exampleFolder }).sort()
  let printed: Readonly<Record<string, string>> = {}
  before(async () => {
    printed = await runExamples()
  })

  test('every example stands in exactly one page', () => {
    assert.deepEqual(shown.map(({ name }) => name).sort(), files)
  })

  for (const { page, name, code, output } of shown) {
    test(`${page} shows ${name} as it is`, () => {
      assert.equal(code, readFileSync(join(exampleFolder, name), 'utf8'), mend)
    })
    test(`${name} prints what ${page} says`, () => {
      assert.ok(printed[name], `${name} printed nothing`)
      assert.equal(output, printed[name], mend)
    })
  }

  test('a page shows a file of the project as it is', () => {
    for (const path of pagePaths()) assert.equal(readPage(path), withFiles(readPage(path)), `${path}: ${mend}`)
  })

  test('every concept has an example', () => {
    const without = pagePaths().filter((path) => /^docs\/concepts\//.test(path) && examplesOf(path).length === 0)
    assert.deepEqual(without, [])
  })
})
