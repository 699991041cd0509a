/** Servers and workers as processes of their own on one PostgreSQL database, with a played model: started, killed, frozen and thawed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { killedAtEnd } from '../../support/child.ts'
import { createTestDatabase, type TestDatabase } from '../../postgres/support/database.ts'
import { createModelServer, type ModelServer } from './model-server.ts'
import { commandLine } from './program.ts'
import { callsTo, type Stage } from './stage.ts'
import { type Answer, finish, openStream, readyUrl, request, type Witan } from './witan.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const readyWithinMs = 45_000

/** The lease of these processes: a dead one's jobs go on after that and a third of it. One that waits for the processor must not lose it. */
export const leaseMs = 2_000

/** The calls of a stage, made to one server. */
type Doors = Omit<Stage, 'model' | 'witan' | 'close'>

/** A process. `url` is empty for a worker. */
export interface Member extends Doors, Pick<Witan, 'call' | 'stream'> {
  readonly url: string
  readonly pid: number
  /** What it printed so far. */
  output(): string
  signal(signal: NodeJS.Signals): void
  kill(): Promise<void>
  /** Asks it to end in order; the exit code and the time it took in ms. */
  stop(): Promise<{ code: number | null; ms: number }>
}

export interface Cluster {
  readonly model: ModelServer
  readonly database: TestDatabase
  serve(extra?: string): Promise<Member>
  work(extra?: string): Promise<Member>
  close(): Promise<void>
}

/** A database of its own and a model; nothing runs yet. `lease` null: the default of a real server. `extra` of a member is further text of its `witan.config.ts`. */
export async function createCluster(lease: number | null = leaseMs): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'witan-cluster-'))
  const [model, database] = await Promise.all([createModelServer(), createTestDatabase('')])
  const running = new Set<ChildProcess>()
  let count = 0
  const start = async (word: 'serve' | 'work', extra = ''): Promise<Member> => {
    count += 1
    const file = join(folder, `${count}`, 'witan.config.ts')
    await mkdir(join(folder, `${count}`))
    await writeFile(file, configOf({ store: database.adminUrl, model: model.url, extra }))
    const member = launch({ file, words: word === 'serve' ? ['serve'] : ['work', '--json'], lease })
    running.add(member.child)
    member.child.once('exit', () => running.delete(member.child))
    await ready(member)
    return memberOf({ ...member, url: readyUrl(member.said.join('')) ?? '' })
  }
  return {
    model,
    database,
    serve: (extra) => start('serve', extra),
    work: (extra) => start('work', extra),
    async close() {
      await Promise.all([...running].map((child) => finish(child, 'SIGKILL')))
      await model.close()
      await database.drop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function configOf({ store, model, extra }: { readonly store: string; readonly model: string; readonly extra: string }) {
  return `export default {
  store: { url: ${JSON.stringify(store)} },
  auth: { mode: 'none' },
  connections: { play: { kind: 'openai-compatible', baseUrl: ${JSON.stringify(model)} } },
  ${extra}
}
`
}

interface Launched {
  readonly child: ChildProcess
  readonly said: string[]
}

interface Launch {
  readonly file: string
  readonly words: string[]
  readonly lease: number | null
}

function launch({ file, words, lease }: Launch): Launched {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(WITAN_|MAX_SUB_AGENT|NODE_(?!COMPILE_CACHE$))/.test(name),
  )
  const env = {
    ...Object.fromEntries(kept),
    WITAN_PORT: '0',
    ...(lease === null ? {} : { WITAN_LEASE_MS: String(lease) }),
  }
  const program = [...commandLine, ...words, '--config', file]
  const child = killedAtEnd(spawn(process.execPath, program, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] }))
  const said: string[] = []
  child.stdout?.on('data', (data) => said.push(String(data)))
  child.stderr?.on('data', (data) => said.push(String(data)))
  return { child, said }
}

async function ready({ child, said }: Launched): Promise<void> {
  const deadline = Date.now() + readyWithinMs
  while (!said.join('').includes('"type":"ready"')) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await finish(child, 'SIGKILL')
      throw new Error(`a process of the cluster is not ready:\n${said.join('')}`)
    }
    await delay(20)
  }
}

function memberOf({ child, said, url }: Launched & { readonly url: string }): Member {
  const call = <T>(method: string, path: string, options = {}): Promise<Answer<T>> =>
    request<T>(url, path, { method, ...options })
  return {
    url,
    pid: child.pid ?? 0,
    call,
    stream: (method, path, options = {}) => openStream(url + path, { method, ...options }),
    ...callsTo({ call }),
    output: () => said.join(''),
    signal: (signal) => void child.kill(signal),
    kill: () => finish(child, 'SIGKILL'),
    async stop() {
      const from = performance.now()
      await finish(child, 'SIGTERM')
      return { code: child.exitCode, ms: performance.now() - from }
    },
  }
}
