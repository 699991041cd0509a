/** The program file itself. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../bin/witan.js', import.meta.url))
const { NODE_OPTIONS: _options, NODE_COMPILE_CACHE: _cache, ...env } = process.env

test('it starts from source without any flag of Node', () => {
  const { status, stdout } = spawnSync(process.execPath, [program, '--version'], { env, encoding: 'utf8' })
  assert.equal(status, 0)
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
})

test('a thread that it starts finds its modules without any flag of Node', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'witan-thread-'))
  context.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(
    join(folder, 'witan.config.json'),
    '{ "store": { "url": "file:./w.db" }, "knowledge": [{ "id": "house" }] }',
  )
  writeFileSync(join(folder, 'roof.md'), 'The roof is red.')
  const run = (...words: readonly string[]) =>
    spawnSync(process.execPath, [program, 'knowledge', ...words], { cwd: folder, env, encoding: 'utf8' })
  const { status, stdout, stderr } = run('add', 'house', 'roof.md')
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
  assert.match(stdout, /^added 1, /)
  assert.match(run('search', 'house', 'roof').stdout, /The roof is red/)
})

/** What the program says under a Node that calls itself older. */
function underOlderNode(file: string) {
  const older = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.9.0" } })'
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(older)}`]
  return spawnSync(process.execPath, [...flags, file, 'run'], { env, encoding: 'utf8' })
}

test('an older Node says which one is needed and how a clone brings it', () => {
  const { status, stderr } = underOlderNode(program)
  assert.equal(status, 78)
  assert.match(stderr, /^witan needs Node 24 .*npx witan.*\n$/)
})

test('outside a clone an older Node says one sentence, and no stack', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'witan-packed-'))
  context.after(() => rmSync(folder, { recursive: true }))
  cpSync(dirname(program), join(folder, 'bin'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const { status, stderr } = underOlderNode(join(folder, 'bin/witan.js'))
  assert.equal(status, 78)
  assert.match(stderr, /^witan needs Node 24 or newer, and this is v[\d.]+: install it from https:\/\/nodejs\.org\.\n$/)
})

test('what looks at the version is JavaScript that the oldest Node reads', () => {
  const code = readFileSync(program, 'utf8').replace(/^(#!|\/\/).*$/gm, '')
  const later = /=>|`|\b(?:import|export|let|const|class|async|await|of)\b|\.\.\.|\?\?|\?\.|\*\*|,\s*\)/.exec(code)
  assert.equal(later, null, `too new: ${later?.[0]}`)
  assert.deepEqual(JSON.parse(readFileSync(join(dirname(program), 'package.json'), 'utf8')), { type: 'commonjs' })
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
