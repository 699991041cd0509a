/** A queue between a source of frames and a slower reader: in order, bounded in bytes. */

/** Frames in, chunks out. */
export interface FrameQueue {
  /** Adds a frame at once and never writes to it, since frames are shared. Returns a promise if the queue is full; it resolves when there is capacity. */
  push(frame: Buffer<ArrayBuffer> | string): Promise<void> | undefined
  /** Everything queued, in pieces of about 64 kB; waits for the next frame; null when closed and empty. */
  take(): Promise<Buffer<ArrayBuffer> | null>
  /** Accepts no more frames; queued frames are still delivered. */
  close(): void
  /** Drops the queued frames and closes with one last frame. */
  cut(last: string): void
  /** The reader waits for a frame. */
  hungry(): boolean
  full(): boolean
  empty(): boolean
  /** Queued bytes. */
  heldBytes(): number
  /** Bytes delivered so far. */
  takenBytes(): number
}

const CHUNK_BYTES = 65_536

/** A queue that is full from `maxBytes` on: the source has to wait; no frame is refused. */
export function createFrameQueue(maxBytes: number): FrameQueue {
  let frames: Buffer<ArrayBuffer>[] = []
  let [queued, taken, closed] = [0, 0, false]
  let reader: (() => void) | null = null
  let room = Promise.withResolvers<void>()
  const wakeReader = (): void => {
    reader?.()
    reader = null
  }
  const add = (frame: Buffer<ArrayBuffer> | string): void => {
    const bytes = typeof frame === 'string' ? Buffer.from(frame) : frame
    frames.push(bytes)
    queued += bytes.byteLength
    wakeReader()
  }
  const openRoom = (): void => {
    room.resolve()
    room = Promise.withResolvers<void>()
  }
  return {
    push(frame) {
      if (closed) return undefined
      add(frame)
      return queued > maxBytes ? room.promise : undefined
    },
    async take() {
      if (frames.length === 0 && !closed) await new Promise<void>((resolve) => (reader = resolve))
      if (frames.length === 0) return null
      const chunk = Buffer.concat(frames.splice(0, countFor(frames, CHUNK_BYTES)))
      queued -= chunk.byteLength
      taken += chunk.byteLength
      if (queued <= maxBytes) openRoom()
      return chunk
    },
    close() {
      closed = true
      wakeReader()
      openRoom()
    },
    cut(last) {
      ;[frames, queued, closed] = [[], 0, true]
      add(last)
      openRoom()
    },
    hungry: () => reader !== null,
    full: () => queued > maxBytes,
    empty: () => frames.length === 0,
    heldBytes: () => queued,
    takenBytes: () => taken,
  }
}

/** How many frames from the front make about `bytes`; at least one. */
function countFor(frames: readonly Buffer[], bytes: number): number {
  let total = 0
  for (const [index, frame] of frames.entries()) {
    total += frame.byteLength
    if (total >= bytes) return index + 1
  }
  return frames.length
}
