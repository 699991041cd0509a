/** Each mutant can still be made: its text stands once in its file, and its tests exist. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import test from 'node:test'

const root = resolve(import.meta.dirname, '..')

interface Mutant {
  readonly name: string
  readonly edits: readonly { readonly file: string; readonly from: string; readonly to: string }[]
  readonly tests: readonly string[]
}

test('every mutant has its text once, and tests that exist', () => {
  const files = globSync('test/mutants/*.json', { cwd: root })
  const mutants = files.flatMap((file) => JSON.parse(readFileSync(join(root, file), 'utf8')) as Mutant[])
  assert.ok(mutants.length > 200, `only ${mutants.length} mutants were found`)
  const problems = mutants.flatMap(({ name, edits, tests }) => {
    const lost = tests.filter((file) => !existsSync(join(root, file)))
    const unmade = edits.filter(({ file, from }) => {
      const path = join(root, file)
      return !existsSync(path) || readFileSync(path, 'utf8').split(from).length !== 2
    })
    return [...lost, ...unmade.map(({ file }) => file)].map((file) => `${name}: ${file}`)
  })
  assert.deepEqual(problems, [])
})
