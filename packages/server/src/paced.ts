/** Long replies: written as their reader takes them, bounded over all connections, and cut off for a reader that takes nothing. */

/** The bounds of long replies. Tests make them small. */
export interface Pacing {
  /** How many bytes all long replies hold together; beyond it, the one whose reader took nothing for longest is cut off. */
  readonly mostBytes: number
  /** A reader that takes less than `minBytes` in this time is disconnected. */
  readonly stallMs: number
  readonly minBytes: number
}

const defaults: Pacing = Object.freeze({ mostBytes: 256 * 1_048_576, stallMs: 10_000, minBytes: 65_536 })

/** How many bytes are written at once. Shorter replies are written whole. */
export const pieceBytes = 65_536

/** What a reply needs of its connection. */
export interface PacedOptions {
  /** Closes the connection. */
  readonly destroy: () => void
  /** Called when the reader was too slow, before its connection is closed. */
  readonly onSlow: () => void
  readonly pacing?: Pacing
}

interface Held {
  readonly bytes: number
  cut(): void
}

/** The replies that are being read, the one read last at the end. */
const open = new Set<Held>()
let heldBytes = 0

/** How many bytes long replies hold now. */
export function pacedBytes(): number {
  return heldBytes
}

/** The same reply, its body in pieces that wait for the reader. */
export async function paced(
  response: Response,
  { destroy, onSlow, pacing = defaults }: PacedOptions,
): Promise<Response> {
  if (response.body === null) return response
  let rest = new Uint8Array(await response.arrayBuffer())
  const length = rest.byteLength
  let taken = 0
  let takenBefore = 0
  const leave = (): void => {
    clearInterval(watch)
    if (open.delete(held)) heldBytes -= length
    rest = new Uint8Array()
  }
  const held: Held = {
    bytes: length,
    cut() {
      leave()
      onSlow()
      destroy()
    },
  }
  const watch = setInterval(() => {
    if (taken - takenBefore < pacing.minBytes) held.cut()
    takenBefore = taken
  }, pacing.stallMs).unref()
  open.add(held)
  heldBytes += length
  for (const oldest of open) {
    if (heldBytes <= pacing.mostBytes || oldest === held) break
    oldest.cut()
  }
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull(controller) {
        if (!open.has(held)) return controller.error(new Error('The reader of a reply was too slow.'))
        open.delete(held)
        open.add(held)
        controller.enqueue(rest.subarray(0, pieceBytes))
        taken += Math.min(pieceBytes, rest.byteLength)
        rest = rest.subarray(pieceBytes)
        if (taken < length) return
        leave()
        controller.close()
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  )
  const headers = new Headers(response.headers)
  headers.set('content-length', String(length))
  return new Response(body, { status: response.status, headers })
}
