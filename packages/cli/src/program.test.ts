/** The program file itself. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../bin/witan.js', import.meta.url))
const { NODE_OPTIONS: _options, NODE_COMPILE_CACHE: _cache, ...env } = process.env

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

test('what was compiled is kept for the next start; where that cannot be it starts all the same, without a word', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'witan-cache-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const start = (cache: string) =>
    spawnSync(process.execPath, [program, '--version'], { env: { ...env, XDG_CACHE_HOME: cache }, encoding: 'utf8' })
  assert.equal(start(folder).status, 0)
  assert.ok(readdirSync(join(folder, 'witan'), { recursive: true }).length > 100)
  writeFileSync(join(folder, 'file'), '')
  const { status, stderr } = start(join(folder, 'file'))
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
})
