/** A process that reads files: one after the other, so that a crash, a loop or memory ends only the file that it reads. */
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import type { Block, ReadDocument } from '@witan/core/knowledge'
import { readCsv } from './csv.ts'
import { decode, essenceOf } from './decode.ts'
import { readHtml } from './html.ts'
import { readJson } from './json.ts'
import { readMarkdown } from './markdown.ts'
import { readPlain } from './plain.ts'
import { type Found, type Reading, UnreadableError } from './reading.ts'

/** The settings of the process, as JSON in its only argument. `modules`: the addresses of readers from code, by media type. */
export interface ProcessSettings {
  readonly modules: Readonly<Record<string, string>>
  readonly memoryBytes: number
  /** The process that it ends with. */
  readonly parent: number
}

/** What the process is sent: the parts of a file, the last with its type; then `more` for each further batch of blocks. */
export type ToProcess =
  | { readonly kind: 'part'; readonly bytes: Uint8Array }
  | { readonly kind: 'read'; readonly mediaType: string }
  | { readonly kind: 'more' }

/** What it sends. `isWorn`: it has so much memory that the next file had better have a new process. */
export type FromProcess =
  | { readonly kind: 'ready' }
  | { readonly kind: 'blocks'; readonly blocks: readonly Block[] }
  | { readonly kind: 'end'; readonly title: string | null; readonly isWorn: boolean }
  | { readonly kind: 'failed'; readonly detail: string; readonly isWorn: boolean }

const watchMs = 25
const mostBlocks = 200_000
const mostCharacters = 32_000_000
/** A batch is what the parent takes in one turn. */
const batchBlocks = 500
const batchCharacters = 65_536
const mostTitle = 300

const textReaders: Readonly<Record<string, (text: string) => Reading>> = {
  'text/plain': readPlain,
  'text/markdown': readMarkdown,
  'text/html': readHtml,
  'text/csv': readCsv,
  'application/json': readJson,
}

const settings = JSON.parse(process.argv[2] ?? '{}') as ProcessSettings
const pulse = isMainThread ? new Int32Array(new SharedArrayBuffer(4)) : (workerData as Int32Array)
let parts: Uint8Array[] = []
let wantMore: (() => void) | null = null

if (isMainThread) serve()
else watch()

function serve(): void {
  process.on('disconnect', () => process.exit())
  process.on('SIGINT', () => undefined) // an interrupt at the terminal is the parent's to handle; its end ends this process
  process.on('message', (message: ToProcess) => {
    if (message.kind === 'part') parts.push(message.bytes)
    else if (message.kind === 'more') wantMore?.()
    else void answer(message.mediaType)
  })
  new Worker(new URL(import.meta.url), { workerData: pulse, argv: process.argv.slice(2) }).unref()
  send({ kind: 'ready' })
}

function send(message: FromProcess): void {
  process.send?.(message)
}

/** Runs beside the reading, which may hold the main thread for long: ends the process for its memory, or if its parent is gone. */
function watch(): void {
  for (;;) {
    const seen = Atomics.load(pulse, 0)
    Atomics.wait(pulse, 0, seen, seen % 2 === 0 ? Number.POSITIVE_INFINITY : watchMs)
    const isOver = process.memoryUsage.rss() > settings.memoryBytes
    if (isOver || process.ppid !== settings.parent) process.kill(process.pid, 'SIGKILL')
  }
}

function beat(): void {
  Atomics.add(pulse, 0, 1)
  Atomics.notify(pulse, 0)
}

async function answer(mediaType: string): Promise<void> {
  beat() // odd: the watch looks
  const bytes = Buffer.concat(parts)
  parts = []
  const isWorn = () => process.memoryUsage.rss() > settings.memoryBytes / 2
  try {
    const title = await giveBlocks(await read(bytes, mediaType))
    send({ kind: 'end', title, isWorn: isWorn() })
  } catch (error) {
    const isTold = error instanceof Error && error.name === 'UnreadableError'
    const detail = isTold ? error.message : `It could not be read as ${essenceOf(mediaType)}.`
    send({ kind: 'failed', detail, isWorn: isWorn() })
  } finally {
    beat()
  }
}

async function read(bytes: Buffer, mediaType: string): Promise<Found | Reading> {
  const essence = essenceOf(mediaType)
  const module = settings.modules[essence]
  if (module !== undefined) {
    const { read } = (await import(module)) as { read(bytes: Uint8Array, mediaType: string): Promise<ReadDocument> }
    return await read(bytes, mediaType)
  }
  if (essence === 'application/pdf') {
    const { readPdf } = await import('./pdf.ts')
    return await readPdf(new Uint8Array(bytes))
  }
  const reader = textReaders[essence]
  if (reader === undefined) throw new UnreadableError('There is no reader for this media type.')
  return reader(decode(bytes, mediaType))
}

/** Sends all blocks in batches, each after the parent has taken the one before. Resolves with the title. */
async function giveBlocks(document: Found | Reading): Promise<string | null> {
  const reading = 'next' in document ? document : readingOf(document)
  let batch: Block[] = []
  let [count, characters, inBatch] = [0, 0, 0]
  for (;;) {
    const next = reading.next()
    const isFull = batch.length >= batchBlocks || inBatch > batchCharacters
    if (isFull || (next.done && batch.length > 0)) {
      const more = new Promise<void>((resolve) => (wantMore = resolve))
      send({ kind: 'blocks', blocks: batch })
      await more
      batch = []
      inBatch = 0
    }
    if (next.done) return next.value?.slice(0, mostTitle).toWellFormed() ?? null
    const block = checked(next.value)
    batch.push(block)
    inBatch += block.text.length
    characters += block.text.length
    if (++count > mostBlocks)
      throw new UnreadableError(`It has more than ${mostBlocks} parts. Divide it into several files.`)
    if (characters > mostCharacters)
      throw new UnreadableError(`It has more than ${mostCharacters} characters as text. Divide it.`)
  }
}

function* readingOf({ blocks, title }: Found): Reading {
  yield* blocks
  return typeof title === 'string' ? title : null
}

const kinds: ReadonlySet<string> = new Set(['heading', 'paragraph', 'list', 'code', 'row'] satisfies Block['kind'][])

/** A reader from code may give anything. */
function checked(block: Block): Block {
  const { kind, text } = block
  if (!kinds.has(kind) || typeof text !== 'string')
    throw new UnreadableError('Its reader gave something that is no block.')
  const whole = text.toWellFormed().replaceAll('\0', '\ufffd')
  return kind === 'heading' ? { kind, level: Number(block.level), text: whole } : { kind, text: whole }
}
