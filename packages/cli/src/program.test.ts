/** The program file itself. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../bin/witan.js', import.meta.url))
const { NODE_OPTIONS: _options, ...env } = process.env

test('it starts from source without any flag of Node', () => {
  const { status, stdout } = spawnSync(process.execPath, [program, '--version'], { env, encoding: 'utf8' })
  assert.equal(status, 0)
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
})

test('an older Node says which one is needed and how a clone brings it', () => {
  const older = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.9.0" } })'
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(older)}`]
  const { status, stderr } = spawnSync(process.execPath, [...flags, program, 'run'], { env, encoding: 'utf8' })
  assert.equal(status, 78)
  assert.match(stderr, /needs Node 24.*npx witan/s)
})
