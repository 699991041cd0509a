/** Keeps servers for torture: warm ones in stock, started on an address, armed, killed, frozen and thawed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { killedAtEnd } from '../../support/child.ts'
import type { Doom } from './doom.ts'
import { patienceMs } from './patience.ts'
import { faultProgram, type Program } from './program.ts'

/** A server process. What it said so far is kept: it is a sink like any other. */
export interface Server {
  readonly pid: number
  /** Empty until it is ready. */
  readonly url: string
  readonly said: readonly string[]
  /** Resolves with the signal or the exit code. */
  readonly gone: Promise<NodeJS.Signals | number | null>
  readonly isGone: boolean
  /** When it was gone, by this machine's clock; 0 while it is there. */
  readonly goneAt: number
  arm(faults: string): Promise<void>
  /** Has it await these deaths instead of whatever it was armed with. */
  expect(doom: Doom): Promise<void>
  /** Puts its wall clock ahead, or behind; nobody else's. */
  skew(skewMs: number): Promise<void>
  signal(signal: NodeJS.Signals): void
  /** What it holds for readers of its streams, in bytes: read ahead, queued, and written to sockets that take nothing. */
  held(): Promise<number>
  /** Kills it and waits for its end. */
  kill(): Promise<void>
  /** Asks it to end in order; the time it took in ms. */
  stop(): Promise<number>
}

/** A server before it serves. */
interface Warm extends Server {
  serve(env: Readonly<Record<string, string>>, armed: Omit<StartOptions, 'env'>): Promise<void>
}

/** What servers run on. */
export interface Ground {
  readonly storeUrl: string
  readonly ledgerUrl: string
  readonly leaseMs: number
}

/** What a server starts with. */
interface StartOptions {
  readonly faults?: string
  readonly doom?: Doom
  readonly env?: Readonly<Record<string, string>>
}

/** Starts servers, of which some are always warm. */
interface Supervisor {
  /** Resolves when it serves, or is gone. */
  start(options?: StartOptions): Promise<Server>
  /** Everything that any of its servers printed. */
  said(): readonly string[]
  close(): Promise<void>
}

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** A supervisor over one ground. `stock` warm processes wait at any time. */
export async function createSupervisor({ storeUrl, ledgerUrl, leaseMs }: Ground, stock = 1): Promise<Supervisor> {
  const program = await faultProgram()
  const warm: Warm[] = []
  const all: Warm[] = []
  const add = (): Warm => {
    const one = warmUp(program)
    all.push(one)
    return one
  }
  const fill = (): void => {
    while (warm.length < stock) warm.push(add())
  }
  fill()
  const own = { WITAN_STORE_URL: storeUrl, TORTURE_LEDGER: ledgerUrl, WITAN_LEASE_MS: String(leaseMs), WITAN_PORT: '0' }
  return {
    async start({ env = {}, ...armed } = {}) {
      const one = warm.shift() ?? add()
      fill()
      await one.serve({ ...own, ...env }, armed)
      return one
    },
    said: () => all.flatMap(({ said }) => said),
    async close() {
      await Promise.all(all.map((one) => one.kill()))
    },
  }
}

/** Starts a process that has everything loaded and waits for orders. */
function warmUp({ script, compiled }: Program): Warm {
  const child = killedAtEnd(
    spawn(process.execPath, ['--conditions=witan-source', script], {
      cwd: root,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], WITAN_LOG_LEVEL: 'debug', NODE_COMPILE_CACHE: compiled },
    }),
  )
  const state = { url: '', said: [] as string[], goneAt: 0 }
  const { onLine, gone } = watch(child, state)
  const order = (what: unknown): void => void child.stdin?.write(`${JSON.stringify(what)}\n`)
  /** A server that dies at once is one too: whoever armed it expects that. */
  const heard = (start: string): Promise<unknown> => Promise.race([onLine(start), gone])
  const obeyed = async (what: unknown): Promise<void> => {
    const armed = heard('{"type":"armed"')
    order(what)
    await armed
  }
  const kill = async (): Promise<void> => {
    if (state.goneAt === 0) child.kill('SIGKILL')
    await gone
  }
  return {
    pid: child.pid ?? 0,
    get url() {
      return state.url
    },
    said: state.said,
    gone,
    get isGone() {
      return state.goneAt !== 0
    },
    get goneAt() {
      return state.goneAt
    },
    async serve(env, armed) {
      const late = setTimeout(() => child.kill('SIGKILL'), patienceMs)
      const ready = heard('{"type":"ready"')
      order({ ...armed, env })
      await ready
      clearTimeout(late)
    },
    arm: (faults) => obeyed({ faults }),
    expect: (doom) => obeyed({ doom }),
    skew: (skewMs) => obeyed({ skewMs }),
    signal: (signal) => void child.kill(signal),
    async held() {
      const told = heard('{"type":"held"')
      order({ held: true })
      await told
      const line = state.said.findLast((said) => said.startsWith('{"type":"held"')) ?? '{"bytes":0}'
      return (JSON.parse(line) as { readonly bytes: number }).bytes
    },
    kill,
    async stop() {
      const from = Date.now()
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), patienceMs)
      await gone
      clearTimeout(late)
      return Date.now() - from
    },
  }
}

/** Hears what a process says, and of its end. */
function watch(child: ChildProcess, state: { url: string; readonly said: string[]; goneAt: number }) {
  const waiting = new Map<string, () => void>()
  const hear = (line: string): void => {
    state.said.push(line)
    if (line.startsWith('{"type":"ready"')) state.url = (JSON.parse(line) as { readonly url: string }).url
    for (const [start, tell] of waiting) if (line.startsWith(start)) tell()
  }
  child.stdin?.on('error', () => {})
  if (child.stdout !== null) createInterface({ input: child.stdout }).on('line', hear)
  child.stderr?.on('data', (data) => state.said.push(String(data)))
  child.once('exit', () => {
    state.goneAt = Date.now()
  })
  // What it said last may come after its exit.
  const gone = once(child, 'close').then(
    ([code, signal]) => (signal as NodeJS.Signals | null) ?? (code as number | null),
  )
  const onLine = (start: string): Promise<void> =>
    new Promise((resolve) => {
      waiting.set(start, () => {
        waiting.delete(start)
        resolve()
      })
    })
  return { onLine, gone }
}
