/** A PgBouncer before a PostgreSQL server, with the configuration that Debian brings except for its mode and its size. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import pg from 'pg'
import { freePort } from '../../support/free-port.ts'

/** How connections are shared. */
interface BouncerOptions {
  readonly mode: 'session' | 'transaction'
  /** The address of the server. */
  readonly url: string
  /** The most connections to the server; default 20. */
  readonly size?: number
}

/** Starts one that ends with the test; returns the address that leads through it. */
export async function startBouncer(context: TestContext, { mode, url, size = 20 }: BouncerOptions): Promise<string> {
  const program = process.env.WITAN_PGBOUNCER
  if (program === undefined) throw new Error('These tests need PgBouncer: run them by `npm run test:pgbouncer`.')
  const server = new URL(url)
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'witan-pgbouncer-'))
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(join(folder, 'users.txt'), `"${server.username}" ""\n`)
  writeFileSync(
    file,
    `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users.txt')}
pool_mode = ${mode}
default_pool_size = ${size}
`,
  )
  const user = unprivileged()
  if (user !== null) for (const path of [folder, file, join(folder, 'users.txt')]) chownSync(path, user.uid, user.gid)
  const child = spawn(program, ['-q', file], { ...user, cwd: folder, stdio: 'ignore' })
  context.after(async () => {
    const ended = once(child, 'exit')
    if (child.kill('SIGKILL')) await ended
    rmSync(folder, { recursive: true })
  })
  const through = new URL(url)
  through.port = String(port)
  await untilAnswers(through.href)
  return through.href
}

/** PgBouncer does not run as root. */
function unprivileged(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((one) => one.startsWith('nobody:'))
  const [, , uid, gid] = (line ?? 'nobody:x:65534:65534').split(':')
  return { uid: Number(uid), gid: Number(gid) }
}

async function untilAnswers(url: string): Promise<void> {
  for (;;) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    const isThere = await client.connect().then(
      () => true,
      () => false,
    )
    await client.end()
    if (isThere) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** What the next client of the pool finds on a connection, beside the temporary objects: all as a fresh one has it. */
export async function leftBehind(url: string): Promise<Record<string, unknown>> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const names = ['lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout', 'jit', 'role']
    const all = [...names, 'default_transaction_read_only', 'witan.database'].map(
      (name) => `current_setting('${name}', true) as "${name}"`,
    )
    const { rows } = await client.query(
      `select ${all.join(', ')}, (select count(*)::int from pg_prepared_statements) as prepared`,
    )
    return rows[0]
  } finally {
    await client.end()
  }
}

/** A connection as it is before anybody has used it. `jit` is as the server has it. */
export const untouched = {
  ...{ lock_timeout: '0', statement_timeout: '0', idle_in_transaction_session_timeout: '0', role: 'none' },
  ...{ default_transaction_read_only: 'off', prepared: 0 },
} as const
