/** Readers of files in a process of their own, with limits for each file. */
import { type ChildProcess, fork } from 'node:child_process'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Block, DocumentReader, ReadDocument } from '@witan/core/knowledge'
import { essenceOf } from './decode.ts'
import type { FromProcess, ProcessSettings, ToProcess } from './process.ts'

/** A reader from code: a module that exports `read(content: Uint8Array, mediaType: string): Promise<ReadDocument>`. */
export interface ReaderModule {
  readonly mediaTypes: readonly string[]
  /** The address of the module, such as `new URL('./docx.ts', import.meta.url)`. */
  readonly module: URL
}

/** Readers from code, which come before those of this package, and limits other than 30 s and 512 MiB for each file. */
export interface ReadersOptions {
  readonly modules?: readonly ReaderModule[]
  readonly timeoutMs?: number
  readonly memoryBytes?: number
}

const ownTypes = ['text/plain', 'text/markdown', 'text/html', 'text/csv', 'application/json', 'application/pdf']
/** How many files are read at a time, each by a process of its own: a slow one does not hold up others. */
const mostProcesses = 2
const startMs = 30_000
const idleMs = 60_000
const partBytes = 524_288
const keptEnvironment = ['SystemRoot', 'TZ']

type Heard = FromProcess | 'gone' | 'late' | 'aborted'

interface Child {
  readonly process: ChildProcess
  /** Resolves when it is gone, or has never been. */
  readonly gone: Promise<void>
  readonly inbox: ('gone' | FromProcess)[]
  /** Set while somebody waits for what it says. */
  wake: (() => void) | null
  /** How many files it was sent. */
  files: number
}

interface State {
  readonly settings: Omit<ProcessSettings, 'parent'>
  readonly timeoutMs: number
  readonly living: Set<Child>
  child: Child | null
  /** Resolves when no file waits any more. */
  last: Promise<unknown>
  idle: NodeJS.Timeout | undefined
  readonly closed: AbortController
  /** How many files it reads, or has waiting. */
  files: number
}

interface File {
  readonly content: Uint8Array
  readonly mediaType: string
}

/**
 * Readers for plain text, Markdown, HTML, CSV, JSON and PDF, and readers from code. Files are read by processes of their own, up to two at a
 * time, which get nothing of the environment. One starts with the first file, a second with a file that would wait; each ends after an idle
 * minute, with this process, and with a file that takes too long or too much memory. None keeps this process alive.
 */
export function createReaders(options: ReadersOptions = {}): DocumentReader {
  const { modules = [], timeoutMs = 30_000, memoryBytes = 512 * 1024 * 1024 } = options
  const byType = modules.flatMap(({ mediaTypes, module }) =>
    mediaTypes.map((type) => [type.toLowerCase(), module.href] as const),
  )
  const states = Array.from({ length: mostProcesses }, (): State => {
    return {
      settings: { modules: Object.fromEntries(byType), memoryBytes },
      timeoutMs,
      living: new Set(),
      child: null,
      last: Promise.resolve(),
      idle: undefined,
      closed: new AbortController(),
      files: 0,
    }
  })
  return {
    mediaTypes: [...new Set([...byType.map(([type]) => type), ...ownTypes])],
    read: (content, mediaType, signal) => {
      const state = states.reduce((least, one) => (one.files < least.files ? one : least))
      const either = AbortSignal.any([signal, state.closed.signal])
      state.files += 1
      const reading = state.last
        .then(() => read(state, { content, mediaType }, either))
        .finally(() => {
          state.files -= 1
        })
      state.last = reading.catch(() => undefined)
      return reading
    },
    close: async () => {
      await Promise.all(states.map(close))
    },
  }
}

async function close(state: State): Promise<void> {
  state.closed.abort(new Error('The readers are closed.'))
  await state.last
  clearTimeout(state.idle)
  end(state)
  for (const { process: child } of state.living) child.ref() // else this process may end before its children have
  await Promise.all([...state.living].map(({ gone }) => gone))
}

/** Reads a file. What an earlier file has left behind may end a process, too: then a new one decides. */
async function read(state: State, file: File, signal: AbortSignal): Promise<ReadDocument> {
  clearTimeout(state.idle)
  try {
    for (;;) {
      signal.throwIfAborted()
      state.child ??= start(state)
      const isUsed = state.child.files > 0
      const document = await attempt(state, state.child, { file, signal })
      if (document !== null) return document
      if (!isUsed) throw new Error(endedOf(state, file))
    }
  } finally {
    state.idle = setTimeout(() => end(state), idleMs).unref()
  }
}

function endedOf({ settings }: State, { mediaType }: File): string {
  const megabytes = Math.round(settings.memoryBytes / 1024 / 1024)
  return `It could not be read as ${essenceOf(mediaType)}: its reader ended, or took more than ${megabytes} MiB of memory.`
}

/** Reads a file in a process; null if the process ended by itself. */
async function attempt(
  state: State,
  child: Child,
  { file, signal }: { readonly file: File; readonly signal: AbortSignal },
): Promise<ReadDocument | null> {
  const isNew = child.files === 0
  child.files += 1
  let heard = isNew ? await hear(child, startMs, signal) : null
  const deadline = performance.now() + state.timeoutMs
  const blocks: Block[] = []
  if (heard === null || typeof heard === 'object') await sendFile(child, file)
  for (;;) {
    if (heard === null || typeof heard === 'object') heard = await hear(child, deadline - performance.now(), signal)
    if (typeof heard === 'string') {
      end(state)
      if (heard === 'gone') return null
      throw heard === 'late' ? new Error(`It took longer than ${state.timeoutMs / 1000} s to read.`) : signal.reason
    }
    if (heard.kind === 'blocks') {
      for (const block of heard.blocks) blocks.push(block)
      send(child, { kind: 'more' })
    } else if (heard.kind !== 'ready') {
      if (heard.isWorn) end(state)
      if (heard.kind === 'failed') throw new Error(heard.detail)
      return { title: heard.title, blocks }
    }
  }
}

/** In parts, each sent in a turn of its own. */
async function sendFile(child: Child, { content, mediaType }: File): Promise<void> {
  for (let from = 0; from < content.byteLength; from += partBytes) {
    send(child, { kind: 'part', bytes: content.subarray(from, from + partBytes) })
    await nextTurn()
  }
  send(child, { kind: 'read', mediaType })
}

/** A message that cannot be sent means that the process is ending, which is heard. */
function send({ process: child }: Child, message: ToProcess): void {
  child.send(message, () => undefined)
}

/** The next thing that a process says, or why nothing is heard. The timer keeps this process alive; the other one does not. */
function hear(child: Child, withinMs: number, signal: AbortSignal): Promise<Heard> {
  return new Promise((resolve) => {
    const settle = (heard: Heard) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      child.wake = null
      resolve(heard)
    }
    const abort = () => settle('aborted')
    const timer = setTimeout(() => settle('late'), Math.max(withinMs, 0))
    signal.addEventListener('abort', abort)
    child.wake = () => {
      const first = child.inbox.shift()
      if (first !== undefined) settle(first)
    }
    if (signal.aborted) abort()
    else child.wake()
  })
}

function end(state: State): void {
  state.child?.process.kill('SIGKILL')
  state.child = null
}

/** The process gets no environment, no debugger and no file but the channel. */
function start(state: State): Child {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const script = fileURLToPath(new URL(`./process.${extension}`, import.meta.url))
  const kept = keptEnvironment.map((name) => [name, process.env[name]]).filter(([, value]) => value !== undefined)
  const settings: ProcessSettings = { ...state.settings, parent: process.pid }
  const forked = fork(script, [JSON.stringify(settings)], {
    env: Object.fromEntries(kept),
    execArgv: [`--max-old-space-size=${Math.round(settings.memoryBytes / 1024 / 1024)}`],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const inbox: Child['inbox'] = []
  const say = (heard: 'gone' | FromProcess) => {
    inbox.push(heard)
    child.wake?.()
  }
  const gone = untilGone(forked).then(() => {
    state.living.delete(child)
    if (state.child === child) state.child = null
    say('gone')
  })
  const child: Child = { process: forked, gone, inbox, wake: null, files: 0 }
  state.living.add(child)
  forked.on('message', say)
  forked.unref()
  forked.channel?.unref()
  return child
}

function untilGone(child: ChildProcess): Promise<void> {
  return new Promise((gone) => {
    child.once('exit', () => gone())
    child.on('error', () => {
      if (child.pid === undefined) gone()
      else child.kill('SIGKILL')
    })
  })
}
