/** Looks for patterns in long texts on a thread of its own: started at the first one, and again if it died or hung. */
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { GuardQuestion } from '../guard/work.ts'
import type { PatternReply, SentQuestion } from './pattern-worker.ts'

/** How long the thread may be silent while somebody waits for it, in ms. */
const silentMs = 20_000
const memoryMb = 256
/** With this argument `@witan/…` means the source. A thread that runs from source needs it where its process did not get it as an argument. */
const fromSource = '--conditions=witan-source'

interface Waiting {
  readonly resolve: (found: boolean | string) => void
  readonly reject: (error: Error) => void
}

interface Running {
  readonly worker: Worker
  readonly waiting: Map<number, Waiting>
  timer: NodeJS.Timeout | null
}

let running: Running | null = null
let lastId = 0

/** Asks the thread. Rejects if it dies, or says nothing for 20 s. It keeps no process alive but while somebody waits. */
export function askThread(question: GuardQuestion): Promise<boolean | string> {
  running ??= start()
  const { worker, waiting } = running
  lastId += 1
  const id = lastId
  const found = new Promise<boolean | string>((resolve, reject) => waiting.set(id, { resolve, reject }))
  worker.ref()
  watch(running)
  worker.postMessage({ ...question, id } satisfies SentQuestion)
  return found
}

function start(): Running {
  const extension = extname(import.meta.url)
  const worker = new Worker(new URL(`./pattern-worker${extension}`, import.meta.url), {
    ...(extension === '.ts' && !process.execArgv.includes(fromSource) ? { execArgv: [fromSource] } : {}),
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    stdin: false,
  })
  const started: Running = { worker, waiting: new Map(), timer: null }
  worker.on('message', (reply: PatternReply) => receive(started, reply))
  worker.on('error', (error) => lose(started, `it died: ${error.message}`))
  worker.on('exit', () => lose(started, 'it ended'))
  return started
}

function receive(of: Running, reply: PatternReply): void {
  const { worker, waiting } = of
  const one = waiting.get(reply.id)
  waiting.delete(reply.id)
  if ('failed' in reply) one?.reject(new Error(reply.failed))
  else one?.resolve(reply.found)
  of.timer?.refresh()
  if (waiting.size > 0) return
  rest(of)
  worker.unref()
}

function watch(of: Running): void {
  of.timer ??= setTimeout(() => {
    lose(of, `it said nothing for ${silentMs / 1000} s`)
    of.worker.terminate().catch(() => {})
  }, silentMs)
}

function rest(of: Running): void {
  if (of.timer !== null) clearTimeout(of.timer)
  of.timer = null
}

/** Everybody who waits learns of it, and the next question starts another thread. */
function lose(of: Running, why: string): void {
  if (running === of) running = null
  rest(of)
  for (const { reject } of of.waiting.values()) reject(new Error(`the thread of patterns failed: ${why}`))
  of.waiting.clear()
}
