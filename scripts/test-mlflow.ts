/**
 * Runs test/mlflow against a real MLflow server on this machine. `WITAN_MLFLOW_URL` is the address of one; without it, MLflow is
 * installed from PyPI, once, into `node_modules/.cache`, and started on a free port. Where nothing answers it says so and exits 3,
 * which means "did not run" and not "passed".
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { venvOf } from './venv.ts'

const version = '3.17.2'
/** What a server imports. All that `mlflow` asks for is three times as large: the rest is for training models. */
const imported = [
  'alembic',
  'aiohttp',
  'cryptography',
  'Flask',
  'flask-cors',
  'graphene',
  'huey',
  'pandas',
  'SQLAlchemy',
]
const packages = [`mlflow-skinny==${version}`, ...imported]
const bare = [`mlflow==${version}`]
const installsWithinMs = 400_000
const startsWithinMs = 240_000

async function main(): Promise<number> {
  const given = process.env.WITAN_MLFLOW_URL
  if (given !== undefined) return (await answers(given)) ? testWith(given) : couldNotRun('nothing answers there')
  const venv = venvOf({ name: 'witan-mlflow', packages, bare, withinMs: installsWithinMs })
  if (venv instanceof Error) return couldNotRun(`${venv.message}; or set WITAN_MLFLOW_URL to a server`)
  const folder = mkdtempSync(join(tmpdir(), 'witan-mlflow-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const server = startServer(venv.python, { folder, port })
  try {
    return (await isUp(url, server)) ? testWith(url) : couldNotRun('the server did not start')
  } finally {
    await stop(server)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** In a process group of its own: it starts a worker. Without those for jobs, which nothing here asks for and which cost most of a start. */
function startServer(
  python: string,
  { folder, port }: { readonly folder: string; readonly port: number },
): ChildProcess {
  const store = ['--backend-store-uri', `sqlite:///${join(folder, 'mlflow.db')}`]
  const artifacts = ['--serve-artifacts', '--artifacts-destination', join(folder, 'artifacts')]
  const address = ['--host', '127.0.0.1', '--port', `${port}`, '--workers', '1']
  return spawn(python, ['-m', 'mlflow', 'server', ...store, ...artifacts, ...address], {
    cwd: folder,
    detached: true,
    stdio: 'ignore',
    env: {
      ...process.env,
      MLFLOW_DISABLE_TELEMETRY: 'true',
      MLFLOW_SERVER_ENABLE_JOB_EXECUTION: 'false',
      DO_NOT_TRACK: 'true',
    },
  })
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.pid === undefined) return
  const ended = once(server, 'exit')
  process.kill(-server.pid, 'SIGTERM')
  await Promise.race([ended, delay(5_000)])
  if (server.exitCode === null && server.signalCode === null) process.kill(-server.pid, 'SIGKILL')
}

async function isUp(url: string, server: ChildProcess): Promise<boolean> {
  const until = performance.now() + startsWithinMs
  while (performance.now() < until && server.exitCode === null) {
    if (await answers(url)) return true
    await delay(200)
  }
  return false
}

async function answers(url: string): Promise<boolean> {
  if (!URL.canParse(url)) return false
  // A question to its database: the first one takes its time.
  const path = '/api/2.0/mlflow/experiments/search?max_results=1'
  return await fetch(`${url.replace(/\/+$/, '')}${path}`, { signal: AbortSignal.timeout(10_000) }).then(
    ({ ok }) => ok,
    () => false,
  )
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

function testWith(url: string): number {
  console.log(`MLflow: ${new URL(url).host}`)
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const words = ['--conditions=witan-source', '--no-warnings', '--test', '--test-timeout=120000']
  const ended = spawnSync(process.execPath, [...words, ...globSync('test/mlflow/*.test.ts')], {
    stdio: 'inherit',
    env: { ...env, WITAN_MLFLOW_URL: url },
  })
  return ended.status ?? 1
}

function couldNotRun(reason: string): number {
  console.error(`MLflow: COULD NOT RUN: ${reason}`)
  return 3
}

process.exitCode = await main()
