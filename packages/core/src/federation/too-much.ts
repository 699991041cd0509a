/** What another server sends is bounded: beyond a bound its call fails. */

/** The other server sent more than is taken. */
export class TooMuchError extends Error {
  constructor(message = 'it sent more than is taken') {
    super(message)
    this.name = 'TooMuchError'
  }
}

/** How much of what a server sends for one call is read. */
interface Allowance {
  /** Takes note of bytes that came, and of frames. Throws a `TooMuchError` if they come faster for longer than anybody needs. */
  take(bytes: number, frames?: number): void
}

/** So many bytes are read at once, and so many more for each second that the call takes. */
const burst = 256 * 1024 * 1024
const perSecond = 1024 * 1024
/** A frame costs as much as so many bytes, however short it is. */
const frameBytes = 4_000

/** Begins to count. A task may take days, and say each second how it stands; a stream that floods is left after a few seconds. */
export function createAllowance(now: () => number): Allowance {
  const began = now()
  let taken = 0
  return {
    take(bytes, frames = 0) {
      taken += bytes + frames * frameBytes
      if (taken > burst + ((now() - began) / 1_000) * perSecond) throw new TooMuchError()
    },
  }
}

/** A piece of a body costs as much as so many bytes, however short it is. */
const pieceBytes = 128

/** The bytes of a body, as far as they are allowed. */
export async function* allowed(body: AsyncIterable<Uint8Array>, { take }: Allowance): AsyncGenerator<Uint8Array> {
  for await (const bytes of body) {
    take(Math.max(bytes.byteLength, pieceBytes))
    yield bytes
  }
}
