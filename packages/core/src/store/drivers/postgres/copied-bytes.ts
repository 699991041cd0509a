/** Collects the bytes that a server sends for `copy … to stdout (format binary)`, whose rows have one column each. */

/** A signature of 11 bytes, flags, and the length of an extension that no version sends. */
const headerLength = 19
/** The number of columns, or -1 behind the last row; then the length of the value. */
const columnsLength = 2
const rowLength = 6

/** The values of all rows, one behind the other. Where a message ends says nothing. */
export class CopiedBytes {
  readonly #parts: Uint8Array[] = []
  #ahead: Uint8Array = new Uint8Array()
  #isBegun = false
  #valueLeft = 0

  /** Takes the bytes of a message. They are copied: what reads the connection uses its memory again. */
  take(message: Uint8Array): void {
    let rest = message
    while (rest.length > 0) rest = this.#valueLeft > 0 ? this.#value(rest) : this.#head(rest)
  }

  /** All bytes that came. */
  joined(): Uint8Array {
    const length = this.#parts.reduce((sum, part) => sum + part.length, 0)
    const all = new Uint8Array(length)
    let at = 0
    for (const part of this.#parts) {
      all.set(part, at)
      at += part.length
    }
    return all
  }

  #value(rest: Uint8Array): Uint8Array {
    const part = rest.subarray(0, this.#valueLeft)
    this.#parts.push(new Uint8Array(part))
    this.#valueLeft -= part.length
    return rest.subarray(part.length)
  }

  #head(rest: Uint8Array): Uint8Array {
    const wanted = this.#isBegun ? rowLength : headerLength
    const missing = wanted - this.#ahead.length
    this.#ahead = Buffer.concat([this.#ahead, rest.subarray(0, missing)])
    if (this.#ahead.length === wanted) {
      const view = new DataView(this.#ahead.buffer, this.#ahead.byteOffset)
      this.#valueLeft = this.#isBegun ? view.getInt32(columnsLength) : 0
      this.#isBegun = true
      this.#ahead = new Uint8Array()
    }
    return rest.subarray(missing)
  }
}
