/** The reporter of test files: from its output the runner decides whether a file has reported its tests. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const reporter = fileURLToPath(new URL('test-files.ts', import.meta.url))

for (const isolation of ['none', 'process']) {
  test(`a file that reports no test is not among those that reported one, isolation ${isolation}`, (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'witan-test-files-'))
    context.after(() => rmSync(folder, { recursive: true }))
    const files = ['has-one', 'has-none'].map((name) => join(folder, `${name}.test.mjs`))
    const [one = '', none = ''] = files
    writeFileSync(one, "import { test } from 'node:test'\ntest('it holds', () => {})\n")
    writeFileSync(none, 'export const nothing = 0\n')
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const how = ['--no-warnings', '--test', `--test-isolation=${isolation}`, `--test-reporter=${reporter}`]
    const said = execFileSync(process.execPath, [...how, ...files], { cwd: folder, env, encoding: 'utf8' })
    assert.deepEqual(new Set(said.trim().split('\n')), new Set([one]))
  })
}
