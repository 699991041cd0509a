/** A statement that fails or a process that is killed between a change and its entry in the audit: neither stands without the other. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { after, test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Runtime } from '@witan/core'
import { isWitanError } from '@witan/protocol'
import type pg from 'pg'
import { asAdmin, freshSchema } from '../postgres/support/stores.ts'
import { killedAtEnd, leaveChildren } from '../support/child.ts'
import { programOf } from '../support/one-piece.ts'
import { settle } from '../support/stage.ts'
import { assertTogether, changesOf, openAdmin } from './support/audited-changes.ts'
import type { Place } from './support/held-loop.ts'

const folder = mkdtempSync(join(tmpdir(), 'witan-together-'))
after(() => {
  leaveChildren()
  rmSync(folder, { recursive: true, force: true })
})
const timeout = 480_000
const names = Object.keys(changesOf(''))

let files = 0
function freshFile(): { readonly file: string } {
  files += 1
  return { file: join(folder, `${files}.db`) }
}

interface Kind {
  place(context: TestContext): Promise<Place> | Place
  /** Makes such statements fail in a store that nobody has open; returns how to mend it. */
  breakIn(place: Place, on: { readonly table: string; readonly operation: string }): Promise<() => Promise<void>>
}

const kinds: Readonly<Record<string, Kind>> = {
  SQLite: {
    place: freshFile,
    async breakIn(place, { table, operation }) {
      const run = async (sql: string) => {
        const db = new DatabaseSync('file' in place ? place.file : '')
        db.exec(sql)
        db.close()
      }
      await run(`create trigger broken before ${operation} on ${table} begin select raise(abort, 'broken'); end`)
      return () => run('drop trigger broken')
    },
  },
  PostgreSQL: {
    place: (context) => freshSchema(context),
    async breakIn(place, { table, operation }) {
      assert.ok('url' in place)
      const run = (sql: string) => asAdmin(place.url, async (client) => void (await client.query(sql)))
      const [at, broken] = [`"${place.schema}".${table}`, `"${place.schema}".broken`]
      const body = `language plpgsql as $$ begin raise exception 'broken'; end $$`
      await run(`create function ${broken}() returns trigger ${body};
create trigger broken before ${operation} on ${at} for each row execute function ${broken}()`)
      return () => run(`drop trigger broken on ${at}; drop function ${broken}`)
    },
  },
}

/** Statements of the changes, and of the audit beside them. */
const statements = [
  { table: 'audit', operation: 'insert' },
  { table: 'agents', operation: 'insert' },
  { table: 'agents', operation: 'update' },
  { table: 'agents', operation: 'delete' },
  { table: 'agent_revisions', operation: 'insert' },
  { table: 'keys', operation: 'insert' },
  { table: 'keys', operation: 'delete' },
] as const

/** Makes these changes; returns how many the store failed to make. */
async function make(runtime: Runtime, changes: readonly ((runtime: Runtime) => Promise<unknown>)[]): Promise<number> {
  let failed = 0
  for (const change of changes)
    await change(runtime).catch((error: unknown) => {
      assert.ok(isWitanError(error))
      if (error.code === 'STORE_UNAVAILABLE') failed += 1
      else assert.equal(error.code, 'NOT_FOUND')
    })
  return failed
}

for (const [kind, { place: placeOf, breakIn }] of Object.entries(kinds))
  for (const statement of statements) {
    const what = `${statement.operation} of ${statement.table}, ${kind}`
    test(`a statement fails: ${what}`, { timeout }, async (context) => {
      const place = await placeOf(context)
      const during = async (changes: readonly ((runtime: Runtime) => Promise<unknown>)[]) => {
        const runtime = openAdmin(place)
        const failed = await make(runtime, changes)
        await runtime.close()
        return failed
      }
      const known = Object.values(changesOf('known'))
      assert.equal(await during(known.slice(0, 3)), 0)
      const mend = await breakIn(place, statement)
      assert.ok((await during([...known.slice(3), ...Object.values(changesOf('new'))])) > 0, 'the fault did not fire')
      await mend()
      const count = await assertTogether(place, what)
      assert.equal(await during(Object.values(changesOf('next'))), 0)
      assert.equal(await assertTogether(place, `${what}, mended`), count + names.length)
    })
  }

const script = fileURLToPath(new URL('support/audited-changes.ts', import.meta.url))

/** A process that makes the next change when it is asked to. */
async function start(place: Place, name: string, faults = '') {
  const program = await programOf(script)
  const words = ['--conditions=witan-source', '--no-warnings', program, JSON.stringify(place), name]
  const env = { ...process.env, FAULTS: faults }
  const child = killedAtEnd(spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'], env }))
  child.stdin.on('error', () => {}) // it is killed while it is asked
  const ended = once(child, 'exit')
  const made: string[] = []
  const lines = createInterface({ input: child.stdout }).on('line', (line) => made.push(line))
  const told = once(lines, 'close')
  return {
    made,
    /** Resolves when the next change is made. */
    async change(): Promise<void> {
      const next = once(lines, 'line')
      child.stdin.write('\n')
      await next
    },
    ask: () => child.stdin.write('\n'),
    /** Ends it after what was asked; returns the signal that killed it, if one did. */
    async end(signal?: 'SIGKILL'): Promise<unknown> {
      if (signal === undefined) child.stdin.end()
      else child.kill(signal)
      const [, killedBy] = await ended
      await told
      return killedBy
    },
  }
}

test('kill -9 inside each transaction, SQLite', { timeout }, async (context) => {
  const place = freshFile()
  let [count, kills] = [0, 0]
  for (let at = 1; ; at += 1) {
    const program = await start(place, `killed-${at}`, `committing#${at}:kill9`)
    for (const _ of names) program.ask()
    const killedBy = await program.end()
    count += program.made.length
    assert.equal(await assertTogether(place, `commit ${at}`), count, 'what was told stands, and nothing else')
    if (killedBy === null) break
    kills += 1
  }
  context.diagnostic(`${kills} kills`)
  assert.ok(kills >= names.length, 'I17: a fault did not fire')
})

/** Resolves when somebody waits for the table, with the process id of the server that does. */
async function waiting(client: pg.Client, table: string): Promise<number> {
  for (;;) {
    const { rows } = await client.query('select pid from pg_locks where relation = $1::regclass and not granted', [
      table,
    ])
    if (rows[0] !== undefined) return rows[0].pid as number
    await settle()
  }
}

test('kill -9 between each change and its entry, PostgreSQL', { timeout }, async (context) => {
  const place = await freshSchema(context)
  const table = `"${place.schema}".audit`
  let count = await assertTogether(place, 'an empty store')
  for (const [index, what] of names.entries()) {
    const program = await start(place, `killed-${index}`)
    for (let made = 0; made < index; made += 1) await program.change()
    // The transaction of every second change goes on without its sender.
    const isLost = index % 2 === 0
    await asAdmin(place.url, async (client) => {
      await client.query(`begin; lock table ${table} in share mode`)
      program.ask()
      const server = await waiting(client, table)
      assert.equal(await program.end('SIGKILL'), 'SIGKILL')
      if (isLost) await client.query('select pg_terminate_backend($1, 10000)', [server])
      await client.query('rollback')
      while ((await client.query('select from pg_stat_activity where pid = $1', [server])).rowCount !== 0)
        await settle()
    })
    const now = await assertTogether(place, what)
    const done = now - count - index
    assert.ok(done === 0 || (done === 1 && !isLost), `${what}: ${now} entries`)
    count = now
  }
})
