/** A property that fails is repeated by the command that it prints; other tests of its file are not. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A test file whose property fails from a number on, beside one that always fails. */
function fileWith(context: TestContext, limit: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'witan-seeds-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'a.test.mjs')
  writeFileSync(
    file,
    `import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '${import.meta.resolve('fast-check')}'
import { holds } from '${new URL('seeds.ts', import.meta.url)}'
test("[P1] it's small (or not)", async (context) => {
  const drawn = []
  const property = fc.property(fc.nat(), (number) => void assert.ok(drawn.push(number) > 0 && number < ${limit}))
  try {
    const expected = await holds(context, property, { all: 100, quick: 40 })
    console.log(\`demands \${expected(99)} and \${expected(1)}\`)
  } finally {
    console.log(\`drew \${drawn.length}, last \${drawn.at(-1)}\`)
  }
})
test('it fails', () => assert.fail())
`,
  )
  return file
}

/** Runs a command of the shell as somebody would who has a copy of the repository. */
function run(command: string, env: Readonly<Record<string, string>> = {}) {
  const { NODE_TEST_CONTEXT: _, WITAN_SEED: _seed, WITAN_RUNS: _runs, WITAN_TESTS: _tests, ...own } = process.env
  return spawnSync('sh', ['-c', command], { cwd: root, env: { ...own, ...env }, encoding: 'utf8' }).stdout
}

const only = (file: string): string => `node --test --test-name-pattern=small --no-warnings ${file}`
const demands = (output: string): readonly string[] => /demands (\S+) and (\S+)/.exec(output)?.slice(1) ?? []
const drew = (output: string): readonly string[] => /drew (\d+)(?:, last (\d+))?/.exec(output)?.slice(1) ?? []

for (const [where, env] of [
  ['npm test', {}],
  ['test:all', { WITAN_TESTS: 'all' }],
] as const) {
  test(`a property that fails in ${where} prints the command that repeats its smallest counterexample alone`, (context) => {
    const file = fileWith(context, 1_000)
    const output = run(only(file), env)
    const command = /WITAN_SEED=.*/.exec(output)?.[0] ?? assert.fail(output)
    assert.match(output, /Counterexample: \[1000\]/)
    const again = run(command)
    assert.match(again, /Counterexample: \[1000\]/)
    assert.match(again, /^ℹ tests 1$/m)
    assert.deepEqual(drew(again), ['1', '1000'])
    assert.ok(again.includes(command), 'it prints the same command')
    writeFileSync(file, readFileSync(file, 'utf8').replace('< 1000', '< 2 ** 31'))
    assert.match(run(command), /^ℹ fail 0$/m)
  })
}

test('npm test draws less often, from a fixed seed; test:all draws a fifth more from a seed that it says', (context) => {
  const file = fileWith(context, 2 ** 31)
  const [quick, again, all, other] = [{}, {}, { WITAN_TESTS: 'all' }, { WITAN_TESTS: 'all' }].map((env) =>
    run(only(file), env),
  )
  assert.deepEqual([drew(quick ?? '')[0], drew(all ?? '')[0]], ['40', '60'])
  assert.deepEqual(drew(quick ?? ''), drew(again ?? ''))
  assert.notDeepEqual(drew(all ?? ''), drew(other ?? ''))
  assert.match(all ?? '', /seed of the day \d+/)
  assert.doesNotMatch(quick ?? '', /seed of the day/)
  assert.deepEqual(drew(run(only(file), { WITAN_SEED: '7', WITAN_RUNS: '5' }))[0], '5')
})

test('a count is demanded of the draws from the fixed seed alone, so that no other seed can miss it', (context) => {
  const file = fileWith(context, 2 ** 31)
  const rows: readonly (readonly [Readonly<Record<string, string>>, readonly string[]])[] = [
    [{}, ['39', '-1']],
    [{ WITAN_TESTS: 'all' }, ['39', '-1']],
    [{ WITAN_SEED: '7' }, ['-1', '-1']],
    [{ WITAN_SEED: '7', WITAN_RUNS: '10000' }, ['-1', '-1']],
    [{ WITAN_RUNS: '10000' }, ['99', '1']],
  ]
  for (const [env, demanded] of rows) assert.deepEqual(demands(run(only(file), env)), demanded, JSON.stringify(env))
})
