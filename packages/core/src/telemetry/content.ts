/** The content of attributes: texts and values without hidden values, cut at a limit and marked [E81, D15]. */
import type { Scrubber } from '../parameter/scrub.ts'

/** The most bytes of one attribute of content. */
const longestAttribute = 65_536
/** The most characters of content in one trace. Later attributes of it are cut to `shortAttribute` bytes. */
const longestTrace = 8 * 1024 * 1024
const shortAttribute = 1_024
/** Kept free for the mark of a cut. */
const markRoom = 64

/** Writes the content of one trace. */
export class ContentWriter {
  readonly #scrub: Scrubber
  #written = 0

  constructor(scrub: Scrubber) {
    this.#scrub = scrub
  }

  /** A text. */
  text(text: string): string {
    return this.#keep(cutText(plain(this.#scrub === null ? text : this.#scrub(text)), this.#limit))
  }

  /** A value as JSON, a text as it is. */
  value(value: unknown): string {
    return typeof value === 'string' ? this.text(value) : this.#keep(this.#json(value, this.#limit))
  }

  /** A piece of what `list` joins: JSON that fits by itself. */
  piece(value: unknown): string {
    return this.#json(value, longestAttribute - 2 * markRoom)
  }

  /** A list of JSON pieces. Where they are too long together, the earlier ones are left out, and `mark` stands for them. */
  list(pieces: readonly string[], mark: (count: number) => string): string {
    const limit = this.#limit - 3 * markRoom
    let from = pieces.length
    for (let length = 0; from > 0; from -= 1) {
      length += Buffer.byteLength(pieces[from - 1] as string) + 1
      if (length > limit) break
    }
    const kept = pieces.slice(from)
    return this.#keep(`[${(from === 0 ? kept : [mark(from), ...kept]).join(',')}]`)
  }

  #json(value: unknown, limit: number): string {
    const isLong = isLonger(value, limit)
    const written = isLong ? null : this.#clean(value)
    if (written !== null && fits(written, limit)) return written
    // Of a long value every text is scrubbed once, and none is written whole: a reply may have ten megabytes.
    const whole = this.#scrub === null ? value : scrubbedValue(value, this.#scrub)
    if (isLong && this.#scrub !== null && !isLonger(whole, limit)) {
      const clean = this.#clean(whole)
      if (fits(clean, limit)) return clean
    }
    for (const most of shapes) {
      const shorter = this.#clean(shortened(whole, most))
      if (fits(shorter, limit)) return shorter
    }
    return JSON.stringify('[cut]')
  }

  #clean(value: unknown): string {
    const written = plain(JSON.stringify(value) ?? 'null')
    if (this.#scrub === null || this.#scrub(written) === written) return written
    // A number, or text that spells a value together with what follows it, would otherwise leave invalid JSON.
    return this.#scrub(plain(JSON.stringify(scrubbedValue(value, this.#scrub)) ?? 'null'))
  }

  get #limit(): number {
    return this.#written < longestTrace ? longestAttribute : shortAttribute
  }

  #keep(text: string): string {
    this.#written += text.length
    return text
  }
}

/** Without lone surrogates and NUL, for which a database behind a collector may refuse a whole batch. */
function plain(text: string): string {
  const whole = text.toWellFormed()
  return whole.includes('\0') ? whole.replaceAll('\0', '\uFFFD') : whole
}

function fits(text: string, limit: number): boolean {
  return text.length * 3 <= limit || (text.length <= limit && Buffer.byteLength(text) <= limit)
}

/** Whether a value is written with more characters than `limit`, whatever they are. Stops as soon as it knows. */
function isLonger(value: unknown, limit: number): boolean {
  const open = [value]
  let length = 0
  while (open.length > 0 && length <= limit) {
    const one = open.pop()
    length += 1
    if (typeof one === 'string') length += one.length
    else if (Array.isArray(one)) {
      if (one.length > limit) return true
      open.push(...one)
    } else if (typeof one === 'object' && one !== null)
      for (const [key, inner] of Object.entries(one)) {
        length += key.length
        open.push(inner)
      }
  }
  return length > limit
}

/** A text of at most `limit` bytes; the mark says how many bytes were cut. */
function cutText(text: string, limit: number): string {
  if (fits(text, limit)) return text
  const bytes = Buffer.byteLength(text)
  const kept = beginning(text, limit - markRoom)
  return `${kept}[cut: ${bytes - Buffer.byteLength(kept)} more bytes]`
}

/** The beginning of a text: at most so many bytes, and whole characters. */
function beginning(text: string, bytes: number): string {
  const head = Buffer.from(text.slice(0, bytes))
  let end = Math.min(bytes, head.length)
  while (end > 0 && end < head.length && ((head[end] as number) & 0xc0) === 0x80) end -= 1
  return head.toString('utf8', 0, end).toWellFormed()
}

interface Shape {
  /** The most bytes of a text, and the most items of a list or fields of an object. */
  readonly bytes: number
  readonly items: number
}

/** How a value is shortened until it fits: every next one leaves less. */
const shapes: readonly Shape[] = [
  { bytes: 40_000, items: 2_000 },
  { bytes: 10_000, items: 500 },
  { bytes: 2_000, items: 100 },
  { bytes: 400, items: 20 },
  { bytes: 100, items: 4 },
]

/** A value with its long texts, lists and objects cut and marked. */
function shortened(value: unknown, most: Shape): unknown {
  if (typeof value === 'string') return cutText(value, most.bytes + markRoom)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const kept = value.slice(0, most.items).map((item) => shortened(item, most))
    return kept.length === value.length ? kept : [...kept, `[cut: ${value.length - kept.length} more]`]
  }
  const fields = Object.entries(value)
  const kept = fields.slice(0, most.items).map(([key, one]) => [cutText(key, 256), shortened(one, most)] as const)
  const rest = fields.length - kept.length
  return Object.fromEntries(rest === 0 ? kept : [...kept, ['[cut]', `${rest} more`]])
}

/** A value with every hidden value in its texts, numbers and keys replaced. */
function scrubbedValue(value: unknown, scrub: (text: string) => string): unknown {
  if (typeof value === 'string') return scrub(value)
  if (typeof value === 'number' || typeof value === 'boolean') {
    const clean = scrub(String(value))
    return clean === String(value) ? value : clean
  }
  if (Array.isArray(value)) return value.map((item) => scrubbedValue(item, scrub))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [scrub(key), scrubbedValue(one, scrub)]))
}
