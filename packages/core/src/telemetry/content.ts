/** The content of attributes: texts and values without hidden values, cut at a limit and marked [E81, D15]. */
import type { Scrubber } from '../parameter/scrub.ts'
import { scrubbedValue } from '../parameter/scrub-value.ts'

/** The most bytes of one attribute of content. */
const longestAttribute = 65_536
/** The most characters of content in one trace. Later attributes of it are cut to `shortAttribute` bytes. */
const longestTrace = 8 * 1024 * 1024
const shortAttribute = 1_024
/** Kept free for the mark of a cut. */
const markRoom = 64
/** The most characters that are scrubbed for one attribute: nothing behind them can be in it. */
const mostRead = 2 * longestAttribute
/** How much of a longer text is scrubbed at once. */
const pieceLength = 16_384

/** The longest name of a field, in bytes. */
const longestKey = 256

/** A text without hidden values, or the beginning of `whole`. */
interface Head {
  readonly text: string
  readonly whole: string | null
}

/** Writes the content of one trace. */
export class ContentWriter {
  readonly #scrub: Scrubber
  /** The characters that were written, and those that were looked at, roughly. */
  readonly count = { written: 0, read: 0 }

  constructor(scrub: Scrubber) {
    this.#scrub = scrub
  }

  /** A text. */
  text(text: string): string {
    this.count.read += text.length
    const limit = limitOf(this.count)
    return this.#keep(cutText(headOf(text, limit, this.#scrub), limit))
  }

  /** A value as JSON, a text as it is. */
  value(value: unknown): string {
    return typeof value === 'string' ? this.text(value) : this.#keep(this.#json(value, limitOf(this.count)))
  }

  /** A piece of what `list` joins: JSON that fits by itself. */
  piece(value: unknown): string {
    return this.#json(value, longestAttribute - 2 * markRoom)
  }

  /** A list of JSON pieces. Where they are too long together, the earlier ones are left out, and `mark` stands for them. */
  list(pieces: readonly string[], mark: (count: number) => string): string {
    const limit = limitOf(this.count) - 3 * markRoom
    const from = firstThatFits(pieces, limit)
    const kept = pieces.slice(from)
    return this.#keep(`[${(from === 0 ? kept : [mark(from), ...kept]).join(',')}]`)
  }

  #json(value: unknown, limit: number): string {
    const isLong = isLonger(value, limit)
    const written = isLong ? null : this.#clean(value)
    this.count.read += written?.length ?? longestTrace
    if (written !== null && fits(written, limit)) return written
    if (isLong && this.#scrub !== null && !isLonger(value, mostRead)) {
      // It may fit once it is scrubbed.
      const whole = scrubbedValue(value, this.#scrub)
      const clean = isLonger(whole, limit) ? null : this.#clean(whole)
      if (clean !== null && fits(clean, limit)) return clean
    }
    for (const most of shapes) {
      if (isLonger(value, limit, most)) continue
      const shorter = this.#clean(shortened(value, most, this.#scrub))
      if (fits(shorter, limit)) return shorter
    }
    return JSON.stringify('[cut]')
  }

  #clean(value: unknown): string {
    // JSON escapes lone surrogates and NUL.
    const written = JSON.stringify(value) ?? 'null'
    if (this.#scrub === null || this.#scrub(written) === written) return written
    // A number, or text that spells a value together with what follows it, would otherwise leave invalid JSON.
    return this.#scrub(JSON.stringify(scrubbedValue(value, this.#scrub)) ?? 'null')
  }

  #keep(text: string): string {
    this.count.written += text.length
    return text
  }
}

/** A value with its long texts, lists and objects cut and marked. */
function shortened(value: unknown, most: Shape, scrub: Scrubber): unknown {
  if (typeof value === 'string') return cutText(headOf(value, most.bytes, scrub), most.bytes + markRoom)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const kept = value.slice(0, most.items).map((item) => shortened(item, most, scrub))
    return kept.length === value.length ? kept : [...kept, `[cut: ${value.length - kept.length} more]`]
  }
  const fields = Object.entries(value)
  const kept = fields.slice(0, most.items).map(([key, one]) => {
    return [cutText(headOf(key, longestKey, scrub), longestKey), shortened(one, most, scrub)] as const
  })
  const rest = fields.length - kept.length
  return Object.fromEntries(rest === 0 ? kept : [...kept, ['[cut]', `${rest} more`]])
}

/**
 * A text without hidden values. Of one that is much longer than `bytes` it is the beginning: it ends before whatever may be the
 * beginning of a hidden value, and what lies behind is not even read, since a reply may have ten megabytes.
 */
function headOf(text: string, bytes: number, scrub: Scrubber): Head {
  const enough = Math.min(mostRead, 2 * bytes)
  if (text.length <= enough) return { text: plain(scrub === null ? text : scrub(text)), whole: null }
  if (scrub === null) return { text: plain(text.slice(0, enough)), whole: text }
  const pieces = scrub.inPieces()
  let clean = ''
  for (let from = 0; from < enough && clean.length < bytes; from += pieceLength)
    clean += pieces.push(text.slice(from, Math.min(from + pieceLength, enough)))
  // A text that was cut earlier may end in a part of a value, before its mark. Only the scrubber of complete texts finds it.
  return { text: plain(clean.includes('[cut: ') ? scrub(clean) : clean), whole: text }
}

/** The JSON of values that never change, such as the instructions of a revision of an agent. */
const fixedValues = new WeakMap<object, string>()

/**
 * A value that belongs to an object that never changes, such as a revision of an agent: it is made and scrubbed once, and kept. So it must
 * not depend on the run, and hold nothing that is hidden. Without an owner it is made each time.
 */
export function fixedValue(writer: ContentWriter, owner: object | null, make: () => object): string {
  if (owner === null || limitOf(writer.count) < longestAttribute) return writer.value(make())
  const known = fixedValues.get(owner)
  if (known !== undefined) return writer.text(known)
  const made = writer.value(make())
  fixedValues.set(owner, made)
  return made
}

/** The most bytes of the next attribute of a trace. */
function limitOf({ written }: ContentWriter['count']): number {
  return written < longestTrace ? longestAttribute : shortAttribute
}

/** Without lone surrogates and NUL, for which a database behind a collector may refuse a whole batch. */
function plain(text: string): string {
  const whole = text.toWellFormed()
  return whole.includes('\0') ? whole.replaceAll('\0', '\uFFFD') : whole
}

/** The first of the last pieces that fit together. */
function firstThatFits(pieces: readonly string[], limit: number): number {
  let characters = 0
  for (const piece of pieces) characters += piece.length + 1
  if (characters * 3 <= limit) return 0
  let from = pieces.length
  for (let length = 0; from > 0; from -= 1) {
    length += Buffer.byteLength(pieces[from - 1] as string) + 1
    if (length > limit) break
  }
  return from
}

function fits(text: string, limit: number): boolean {
  return text.length * 3 <= limit || (text.length <= limit && Buffer.byteLength(text) <= limit)
}

/** Whether a value of that shape is written with more characters than `limit`, whatever they are. Stops as soon as it knows. */
function isLonger(value: unknown, limit: number, shape: Shape = anyShape): boolean {
  return leftOf(limit, value, shape) < 0
}

/** How many characters of a limit are left after a value; negative if the value is longer. What could be written into the log is not nested too deeply for recursion. */
function leftOf(characters: number, value: unknown, shape: Shape): number {
  let left = characters - 1
  if (typeof value === 'string') return left - Math.min(value.length, shape.bytes)
  if (typeof value !== 'object' || value === null) return left
  let { items } = shape
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && items > 0 && left >= 0; index += 1, items -= 1)
      left = leftOf(left, value[index], shape)
    return left
  }
  for (const key in value) {
    if (items === 0 || left < 0) break
    left = leftOf(left - key.length, (value as Readonly<Record<string, unknown>>)[key], shape)
    items -= 1
  }
  return left
}

/** A text of at most `limit` bytes; the mark says how many bytes were cut. */
function cutText({ text, whole }: Head, limit: number): string {
  if (whole === null && fits(text, limit)) return text
  const bytes = Buffer.byteLength(whole ?? text)
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

const anyShape: Shape = { bytes: Number.MAX_SAFE_INTEGER, items: Number.MAX_SAFE_INTEGER }

/** How a value is shortened until it fits: every next one leaves less. */
const shapes: readonly Shape[] = [
  { bytes: 40_000, items: 2_000 },
  { bytes: 10_000, items: 500 },
  { bytes: 2_000, items: 100 },
  { bytes: 400, items: 20 },
  { bytes: 100, items: 4 },
]
