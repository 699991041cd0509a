/** Reads the body of a reply chunk by chunk until it is complete, or reports why it cannot be. */
import { isTurnSpent, nextTurn } from '../../identity/turn.ts'
import type { ModelRequest } from '../model.ts'
import { ModelCallError } from '../model.ts'
import { replyExcess } from '../reply-limit.ts'
import type { Called } from './openai-compatible-error.ts'
import {
  errorOfEnd,
  errorOfExcess,
  errorOfNetwork,
  errorOfObject,
  errorOfSize,
  errorOfText,
} from './openai-compatible-error.ts'
import type { ReplySoFar } from './openai-compatible-reply.ts'
import { addDocument, emptyReply } from './openai-compatible-reply.ts'
import type { ReplyDocument } from './openai-compatible-stream.ts'
import { createDocumentReader } from './openai-compatible-stream.ts'
import type { CallWatch } from './openai-compatible-watch.ts'

/** A document that is larger ends the call. A streamed reply has many: each of a few letters takes hundreds of bytes. */
const maxDocumentBytes = 10 * 1024 * 1024
/** All documents of a reply together. */
const maxReplyBytes = 64 * 1024 * 1024
/** How long to wait for usage and the end of the stream once the server has named its finish reason. */
const tailMs = 5_000
/** How long the connection may take to end after the reply. After that it is closed and not reused. */
const drainMs = 1_000

/** What a reader needs to know of the call. */
interface ReadContext {
  readonly request: ModelRequest
  /** Whether people may read what the model reasons. */
  readonly shows: boolean
  readonly called: Called
  readonly watch: CallWatch
}

/** How far a reply has come: more is expected, all is there, or it failed. */
export type ReadState = 'open' | 'whole' | ModelCallError

/** Reads one body. After each `advance` the text that came lies in `reply`, also when the call has failed with it. */
export interface ReplyReader {
  readonly reply: ReplySoFar
  /** Waits for the next chunk and takes it in. It never rejects. */
  advance(): Promise<ReadState>
  /** Aborts an incomplete reply. A complete one may end by itself, so that the next call can reuse its connection. */
  close(): void
}

interface Progress {
  state: ReadState
  bytes: number
  /** Since the last whole document. */
  documentBytes: number
  ended: boolean
}

/** Begins to read. The reader must be closed. */
export function createReplyReader(stream: ReadableStream<Uint8Array>, context: ReadContext): ReplyReader {
  const { called, watch, shows } = context
  const body = stream.getReader()
  const reply = emptyReply(shows)
  const progress: Progress = { state: 'open', bytes: 0, documentBytes: 0, ended: false }
  const documents = createDocumentReader((document) => {
    progress.documentBytes = 0
    if (progress.state === 'open') progress.state = takeDocument(reply, document, context)
  })
  const take = (bytes: Uint8Array): void => {
    progress.bytes += bytes.byteLength
    progress.documentBytes += bytes.byteLength
    if (progress.bytes > maxReplyBytes) progress.state = errorOfSize(maxReplyBytes, called)
    if (progress.documentBytes > maxDocumentBytes) progress.state = errorOfSize(maxDocumentBytes, called)
    if (progress.state !== 'open') return
    const unfinished = reply.finishReason === null
    if (documents.push(bytes)) watch.received()
    if (unfinished && reply.finishReason !== null) watch.shorten(tailMs)
  }
  // A reply with a finish reason is complete: only usage may be missing, and usage may be unknown.
  const end = (failure: ModelCallError): void => {
    progress.ended = true
    if (progress.state === 'open') progress.state = reply.finishReason === null ? failure : 'whole'
  }
  const advance = async (): Promise<ReadState> => {
    try {
      // Chunks that have come already would all be read in this turn.
      if (isTurnSpent()) await nextTurn()
      watch.wait()
      const { value } = await body.read()
      watch.pause()
      if (value !== undefined) take(value)
      else {
        documents.measure()
        if (isTurnSpent()) await nextTurn()
        documents.end()
        end(errorOfEnd(called))
      }
    } catch (error) {
      end(error instanceof ModelCallError ? error : errorOfNetwork(error, called))
    }
    return progress.state
  }
  const close = (): void => {
    watch.close()
    if (progress.ended) return
    if (progress.state === 'whole') drain(body, watch)
    else watch.abort()
  }
  return { reply, advance, close }
}

function takeDocument(reply: ReplySoFar, document: ReplyDocument, { called, request }: ReadContext): ReadState {
  if (document.type === 'done') return 'whole'
  if (document.type === 'excess') return errorOfExcess(document.problem, called)
  if (document.type === 'broken') return errorOfText(document.text, called)
  addDocument(reply, document.value, request)
  const { length = 0, labelLength: labels = 0, count: calls = 0 } = reply.calls ?? {}
  const excess = replyExcess({ length: reply.text.length + length, labels, calls }, called.name)
  if (excess !== null) return excess
  return reply.error === undefined ? 'open' : errorOfObject(reply.error, called)
}

function drain(body: ReadableStreamDefaultReader<Uint8Array>, watch: CallWatch): void {
  const timer = setTimeout(() => watch.abort(), drainMs)
  const readOn = async (): Promise<void> => {
    while (!(await body.read()).done);
  }
  readOn()
    .catch(() => undefined)
    .finally(() => clearTimeout(timer))
}
