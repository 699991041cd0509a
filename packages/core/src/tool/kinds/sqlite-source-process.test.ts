import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { QuerySource } from '../source.ts'
import { createSqliteSource } from './sqlite-source.ts'

const RUNAWAY = 'with recursive c(n) as (select 1 union all select n + 1 from c) select count(*) from c'
const SOURCE = new URL('./sqlite-source.ts', import.meta.url).href

function database(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'witan-process-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'data.db')
  const opened = new DatabaseSync(file)
  opened.exec('create table t as select 1 as a')
  opened.close()
  return file
}

function ask(source: QuerySource, sql: string) {
  return source.run({ sql, bindings: new Map() }, { signal: new AbortController().signal })
}

/** The processes that read this file now, whoever started them. */
function readers(file: string): number[] {
  const { stdout } = spawnSync('ps', ['-A', '-ww', '-o', 'pid=,stat=,args='], { encoding: 'utf8' })
  const lines = stdout.split('\n').filter((line) => /sqlite-source-process\.[jt]s/.test(line) && line.includes(file))
  return lines.map((line) => Number.parseInt(line, 10))
}

/** Looks again and again; never before the events that wait now have been heard. The limit is far above a busy machine's delays. */
async function until(claim: () => boolean, limitMs = 30_000): Promise<void> {
  const end = performance.now() + limitMs
  do {
    assert.ok(performance.now() < end, `not so within ${limitMs} ms`)
    await wait(20)
  } while (!claim())
}

/** Runs a module as a process of its own, with `source` over the file in control. */
function runModule(file: string, body: string) {
  const head = `import { createSqliteSource } from ${JSON.stringify(SOURCE)}
    const source = createSqliteSource({ file: ${JSON.stringify(file)}, timeoutMs: 3000 })
    const ask = (sql) => source.run({ sql, bindings: new Map() }, { signal: new AbortController().signal });`
  return spawn(process.execPath, ['--input-type=module', '-e', head + body], { stdio: ['ignore', 'pipe', 'inherit'] })
}

test('a source has no process before its first query and none after close [D16]', async (context) => {
  const file = database(context)
  const source = createSqliteSource({ file, timeoutMs: 1_500 })
  assert.deepEqual(readers(file), [])
  await ask(source, 'select 1')
  assert.equal(readers(file).length, 1)
  const late = await ask(source, RUNAWAY)
  assert.equal(late.ok || late.reason, 'timeout')
  await Promise.all([ask(source, 'select 1'), ask(source, 'select 2')])
  await source.close()
  assert.deepEqual(readers(file), [])
})

test('a process that is killed fails the query it ran, and the next one runs', async (context) => {
  const file = database(context)
  const source = createSqliteSource({ file })
  context.after(() => source.close())
  await ask(source, 'select 1')
  const running = ask(source, RUNAWAY)
  const next = ask(source, 'select a from t')
  for (const pid of readers(file)) process.kill(pid, 'SIGKILL')
  const lost = await running
  assert.match(lost.ok ? '' : `${lost.reason}: ${lost.detail}`, /^failed: .* ended \(SIGKILL\)/)
  assert.deepEqual(await next, { ok: true, rows: [{ a: 1 }], truncated: false })
  for (const pid of readers(file)) process.kill(pid, 'SIGKILL')
  await until(() => readers(file).length === 0)
  await ask(source, 'select 1') // fails if the end has not been heard of yet
  assert.deepEqual(await ask(source, 'select a from t'), { ok: true, rows: [{ a: 1 }], truncated: false })
})

test('a query that takes too much memory ends its process, not ours', async (context) => {
  const source = createSqliteSource({ file: database(context), timeoutMs: 250_000 })
  context.after(() => source.close())
  const result = await ask(source, 'select length(hex(randomblob(250000000)))')
  assert.match(result.ok ? '' : result.detail, /512 MB/)
  assert.ok((await ask(source, 'select 1')).ok)
})

const needsProc = process.platform === 'linux' ? false : 'reads /proc'
test('the process is given nothing of our environment [D16]', { skip: needsProc }, async (context) => {
  process.env.WITAN_TEST_SECRET = 'canary-7f3a'
  context.after(() => delete process.env.WITAN_TEST_SECRET)
  const file = database(context)
  const source = createSqliteSource({ file })
  context.after(() => source.close())
  await ask(source, 'select 1')
  const environment = readFileSync(`/proc/${readers(file)[0]}/environ`, 'utf8')
  const names = environment.split('\0').map((entry) => entry.split('=')[0])
  const known = ['', 'TZ', 'NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE', 'NODE_V8_COVERAGE']
  assert.deepEqual(
    names.filter((name) => !known.includes(name ?? '')),
    [],
  )
})

test('an open source does not keep its process alive, and a query asked last is still answered', async (context) => {
  const file = database(context)
  const child = runModule(file, `ask('select a from t').then((result) => console.log(JSON.stringify(result.rows)))`)
  const output = child.stdout.toArray()
  const [code] = await once(child, 'exit')
  assert.deepEqual([code, Buffer.concat(await output).toString()], [0, '[{"a":1}]\n'])
  await until(() => readers(file).length === 0)
})

test('when the parent is killed, an idle process ends at once and a busy one soon after the time limit', async (context) => {
  for (const body of [
    `await ask('select 1'); console.log('idle'); setInterval(() => {}, 1000)`,
    `await ask('select 1'); ask(${JSON.stringify(RUNAWAY)}); setTimeout(() => console.log('busy'), 50)`,
  ]) {
    const file = database(context)
    const parent = runModule(file, body)
    await once(parent.stdout, 'data')
    assert.equal(readers(file).length, 1)
    parent.kill('SIGKILL')
    await until(() => readers(file).length === 0)
  }
})

test('built to JavaScript, the source finds its process too', async (context) => {
  const file = database(context)
  const built = join(file, '..', 'built')
  mkdirSync(join(built, 'kinds'), { recursive: true })
  writeFileSync(join(built, 'package.json'), '{"type":"module"}')
  for (const name of ['source', 'query-rows', 'query-text', 'kinds/sqlite-source', 'kinds/sqlite-source-process']) {
    const code = readFileSync(fileURLToPath(new URL(`../${name}.ts`, import.meta.url)), 'utf8')
    writeFileSync(join(built, `${name}.js`), stripTypeScriptTypes(code).replaceAll(/(from '\..*)\.ts'/g, "$1.js'"))
  }
  cpSync(file, join(built, 'copy.db'))
  const module: { createSqliteSource: typeof createSqliteSource } = await import(join(built, 'kinds/sqlite-source.js'))
  const source = module.createSqliteSource({ file: join(built, 'copy.db') })
  context.after(() => source.close())
  assert.deepEqual(await ask(source, 'select a from t'), { ok: true, rows: [{ a: 1 }], truncated: false })
})
