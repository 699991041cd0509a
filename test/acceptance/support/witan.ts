/** The real server as a child process on a port that the system gives it, and the calls that an outside client makes to it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createParser } from 'eventsource-parser'
import { killedAtEnd, leaveChildren } from '../../support/child.ts'
import { startHosted } from './host.ts'
import { commandLine } from './program.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
/** A hang is found all the same; a busy machine has its time. */
const readyWithinMs = 45_000
const callWithinMs = 30_000

export interface Answer<T> {
  status: number
  headers: Headers
  body: T
  text: string
}

export interface CallOptions {
  body?: unknown
  raw?: string | Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
}

export interface Frame {
  id: string | undefined
  event: string | undefined
  data: string
}

export interface WitanOptions {
  modelUrl: string
  store?: 'memory' | 'file'
  /** Begins in a process that the tests of a file share. After `stop` or `kill` it goes on in one of its own, as any server does. */
  hosted?: true
  /** Puts files (a SQLite source, say) into the folder of the configuration and returns further configuration. */
  prepare?: (folder: string) => Record<string, unknown>
}

export interface Witan {
  readonly url: string
  readonly folder: string
  /** The id of the process. */
  readonly pid: number
  /** All that the process has printed. */
  readonly output: string
  call<T>(method: string, path: string, options?: CallOptions): Promise<Answer<T>>
  /** Opens an event stream; the frames end when the server ends them or the reader stops. */
  stream(
    method: string,
    path: string,
    options?: CallOptions,
  ): Promise<{ status: number; headers: Headers; frames: AsyncGenerator<Frame> }>
  /** Starts a second process on the same configuration and waits for its end. */
  second(): Promise<{ code: number | null; output: string }>
  start(): Promise<void>
  stop(): Promise<void>
  kill(): Promise<void>
  close(): Promise<void>
}

interface Running {
  child: ChildProcess
  output: string[]
  url: string
  /** Ends a server that shares its process, and does nothing once it has ended; absent for any other. */
  stop?: () => Promise<void>
}

after(leaveChildren)

/** Writes a configuration into a temporary folder and starts the server on it. */
export async function createWitan(options: WitanOptions): Promise<Witan> {
  const folder = await mkdtemp(join(tmpdir(), 'witan-acceptance-'))
  const connection = { kind: 'openai-compatible', baseUrl: options.modelUrl }
  const config = {
    store: { url: options.store === 'file' ? `file:${join(folder, 'witan.db')}` : 'memory:' },
    auth: { mode: 'none' },
    connections: { play: connection, keyed: { ...connection, apiKeyEnv: 'PLAY_KEY' } },
    ...options.prepare?.(folder),
  }
  await writeFile(join(folder, 'witan.config.json'), JSON.stringify(config, null, 2))
  let running = options.hosted === true ? await host(folder) : await launch(folder)
  const end = async (signal: NodeJS.Signals) => {
    const { child, stop } = running
    const isGone = child.exitCode !== null || child.signalCode !== null
    if (signal !== 'SIGTERM' || stop === undefined || isGone) return finish(child, signal)
    running = { ...running, stop: async () => {} }
    await stop()
  }
  return {
    get url() {
      return running.url
    },
    folder,
    get pid() {
      return running.child.pid ?? 0
    },
    get output() {
      return running.output.join('')
    },
    call: (method, path, call = {}) => request(running.url, path, { method, ...call }),
    stream: (method, path, call = {}) => openStream(running.url + path, { method, ...call }),
    second: () => untilExit(folder),
    start: async () => {
      running = await launch(folder)
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    close: async () => {
      await end('SIGTERM')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** What a server reads of the environment: nothing that this machine has set for another. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(WITAN_|MAX_SUB_AGENT|NODE_(?!COMPILE_CACHE$)|OPENAI_|ANTHROPIC_|GOOGLE_)/.test(name),
  )
  return { ...Object.fromEntries(kept), WITAN_PORT: '0', PLAY_KEY: 'key-of-the-play' }
}

async function host(folder: string): Promise<Running> {
  const output: string[] = []
  const file = join(folder, 'witan.config.json')
  const { process: child, url, stop } = await startHosted(file, environment(), (text) => output.push(text))
  return { child, output, url, stop }
}

function spawnServer(folder: string): Omit<Running, 'url'> {
  const words = ['serve', '--config', join(folder, 'witan.config.json')]
  const child = killedAtEnd(
    spawn(process.execPath, [...commandLine, ...words], {
      cwd: root,
      env: environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  const output: string[] = []
  child.stdout?.on('data', (data) => output.push(String(data)))
  child.stderr?.on('data', (data) => output.push(String(data)))
  return { child, output }
}

async function launch(folder: string): Promise<Running> {
  const running = spawnServer(folder)
  const deadline = Date.now() + readyWithinMs
  while (Date.now() < deadline) {
    if (running.child.exitCode !== null) break
    const url = readyUrl(running.output.join(''))
    if (url !== undefined) return { ...running, url }
    await delay(20)
  }
  const why = running.child.exitCode === null ? 'is not ready' : `ended with ${running.child.exitCode}`
  await finish(running.child, 'SIGKILL')
  throw new Error(`the server ${why}:\n${running.output.join('')}`)
}

/** Where a server says that it is ready, if it has said so. */
export function readyUrl(output: string): string | undefined {
  return /"type":"ready","url":"([^"]+)"/.exec(output)?.[1]
}

async function untilExit(folder: string): Promise<{ code: number | null; output: string }> {
  const { child, output } = spawnServer(folder)
  const timer = setTimeout(() => child.kill('SIGKILL'), readyWithinMs)
  await once(child, 'close')
  clearTimeout(timer)
  return { code: child.exitCode, output: output.join('') }
}

/** A server says itself by when it ends in order: a hang is found after much more than that. */
const endsWithinMs = 40_000

/** Ends a process by this signal; after forty seconds by force. */
export async function finish(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill(signal)
  const timer = setTimeout(() => child.kill('SIGKILL'), endsWithinMs)
  await gone
  clearTimeout(timer)
}

function init(options: CallOptions & { method: string }): RequestInit {
  const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body))
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
  return { method: options.method, headers: { ...type, ...options.headers }, ...(body === undefined ? {} : { body }) }
}

/** One call to a server. */
export async function request<T>(
  base: string,
  path: string,
  options: CallOptions & { method: string },
): Promise<Answer<T>> {
  const signal = AbortSignal.timeout(callWithinMs)
  const response = await fetch(base + path, { ...init(options), signal })
  const text = await response.text()
  const json = /json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, text, body: (json ? JSON.parse(text) : undefined) as T }
}

/** An event stream of a server. */
export async function openStream(
  url: string,
  options: CallOptions & { method: string },
): Promise<{ status: number; headers: Headers; frames: AsyncGenerator<Frame> }> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new Error('the stream did not end in time')), callWithinMs)
  const headers = { accept: 'text/event-stream', ...options.headers }
  const response = await fetch(url, { ...init({ ...options, headers }), signal: controller.signal })
  return {
    status: response.status,
    headers: response.headers,
    frames: frames(response, () => {
      clearTimeout(timer)
      controller.abort()
    }),
  }
}

async function* frames(response: Response, leave: () => void): AsyncGenerator<Frame> {
  const ready: Frame[] = []
  const parser = createParser({
    onEvent: (event) => ready.push({ id: event.id, event: event.event, data: event.data }),
  })
  const decoder = new TextDecoder()
  try {
    for await (const bytes of response.body ?? []) {
      parser.feed(decoder.decode(bytes, { stream: true }))
      while (ready.length > 0) yield ready.shift() as Frame
    }
  } finally {
    leave()
  }
}
