/** Events as frames; one that many readers get at once is encoded once for all of them. */
import { type AnyEvent, type ErrorCode, isWitanError } from '@witan/protocol'
import { encodeFrame } from './sse.ts'

/** A frame as it is sent. It is shared between readers, so never write into it. */
export type EncodedFrame = Buffer<ArrayBuffer>

/** The cache for readers of the same event. They all read it within one turn of the event loop, or are behind anyway. */
const most = { frames: 64, bytes: 1_000_000 }

let recent = new Map<AnyEvent, EncodedFrame>()
let recentBytes = 0

/**
 * An event as a frame; a delta has no id, so that a reader resumes after the last stored event [D8]. A frozen event is one that several
 * readers may get, and that never changes: its frame is kept for a while, at most 64 of them and a megabyte.
 */
export function eventFrame(event: AnyEvent): EncodedFrame {
  const known = recent.get(event)
  if (known !== undefined) return known
  const frame = encode(event)
  if (!Object.isFrozen(event) || frame.byteLength > most.bytes) return frame
  if (recent.size === most.frames || recentBytes + frame.byteLength > most.bytes) {
    recent = new Map()
    recentBytes = 0
  }
  recent.set(event, frame)
  recentBytes += frame.byteLength
  return frame
}

/** The last frames of a stream, by the error that ends it. */
const lastWords: Partial<Record<ErrorCode, string>> = { EVENT_ID_AHEAD: 'went_back', SCHEMA_TOO_NEW: 'taken_over' }

/**
 * The last frame of a stream whose reader has what is no longer stored, or reads from a process that is too old to read more: a browser goes on from its
 * id. `read` is the seq of the last event that it got, if the error does not say where to go on. Null for any other error.
 */
export function lastFrame(error: unknown, read: number | null = null): string | null {
  const event = isWitanError(error) ? lastWords[error.code] : undefined
  if (event === undefined || !isWitanError(error)) return null
  const { from = error.code === 'SCHEMA_TOO_NEW' ? read : null } = error.details
  if (typeof from !== 'number') return null
  return encodeFrame({ id: String(from), event, data: JSON.stringify({ from, detail: error.message }) })
}

function encode(event: AnyEvent): EncodedFrame {
  const named = { event: event.type, data: JSON.stringify(event) }
  return Buffer.from(encodeFrame(event.seq === undefined ? named : { id: String(event.seq), ...named }))
}
