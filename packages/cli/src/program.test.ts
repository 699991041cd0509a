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

test('what was compiled is never kept beside whatever lies in the working directory', (context) => {
  const cwd = mkdtempSync(join(tmpdir(), 'witan-cache-'))
  context.after(() => rmSync(cwd, { recursive: true }))
  const start = (home: Readonly<Record<string, string>>) =>
    spawnSync(process.execPath, [program, '--version'], { cwd, env: { ...env, ...home }, encoding: 'utf8' })
  for (const home of [
    { HOME: '', XDG_CACHE_HOME: '' },
    { HOME: '', XDG_CACHE_HOME: 'caches' },
  ]) {
    assert.equal(start(home).status, 0)
    assert.deepEqual(readdirSync(cwd), [])
  }
})
