/** The reporter of test files: from its output the runner decides whether a file has reported its tests. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const reporter = fileURLToPath(new URL('test-files.ts', import.meta.url))

/** What the reporter says of files with these texts. */
function said(context: TestContext, isolation: string, texts: Readonly<Record<string, string>>): Set<string> {
  const folder = mkdtempSync(join(tmpdir(), 'witan-test-files-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const files = Object.entries(texts).map(([name, text]) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  })
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const how = ['--no-warnings', '--test', `--test-isolation=${isolation}`, `--test-reporter=${reporter}`]
  const { stdout } = spawnSync(process.execPath, [...how, ...files], { cwd: folder, env, encoding: 'utf8' })
  const lines = stdout.replaceAll(`${folder}/`, '').trim().split('\n')
  const ofProcessor = lines.filter((line) => /^cpu \d+$/.test(line))
  assert.equal(ofProcessor.length, process.platform === 'linux' ? 1 : 0)
  return new Set(lines.filter((line) => !ofProcessor.includes(line)))
}

for (const isolation of ['none', 'process']) {
  test(`a file that reports no test is not among those that reported one, isolation ${isolation}`, (context) => {
    const texts = {
      'one.test.mjs': "import { test } from 'node:test'\ntest('it holds', () => {})\n",
      'none.test.mjs': 'export const nothing = 0\n',
    }
    assert.deepEqual(said(context, isolation, texts), new Set(['test one.test.mjs', 'passed 2']))
  })
}

test('a test that failed is named with its file and why, and the suite around it is not', (context) => {
  const text =
    "import { describe, test } from 'node:test'\ndescribe('all', () => test('one and\\none', () => { throw new Error('1\\n2') }))\n"
  const lines = new Set(['test bad.test.mjs', 'fail bad.test.mjs one and one: 1 2', 'passed 0'])
  assert.deepEqual(said(context, 'none', { 'bad.test.mjs': text }), lines)
})

test('a test that did not run is named with its reason', (context) => {
  const text =
    "import { test } from 'node:test'\ntest('one', { skip: 'no disk' }, () => {})\ntest('two', { skip: true }, () => {})\ntest('three')\n"
  const skipped = ['skip a.test.mjs one: no disk', 'skip a.test.mjs two: without a reason']
  assert.deepEqual(said(context, 'none', { 'a.test.mjs': text }), new Set(['test a.test.mjs', ...skipped, 'passed 1']))
})
