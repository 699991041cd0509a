/** Parses JSON without losing a digit: JavaScript's numbers hold whole numbers up to 2^53, and fractions up to 1.8e308. */

/**
 * Parses JSON; throws as `JSON.parse` does. A number that JavaScript would change becomes the text of its digits: a whole number
 * that would be written with other digits, such as 9007199254740993, and one that would become infinite or zero, such as 1e400. Any
 * other fraction is rounded to a double.
 */
export function parseExact(text: string): unknown {
  const exact = withTexts(text)
  if (exact === text) return JSON.parse(text)
  try {
    return JSON.parse(exact)
  } catch {
    // No JSON without the quotes either: the error is about the text as it was.
    return JSON.parse(text)
  }
}

/** What messages call a value for which {@link isNumberAsText} holds. */
export const numberAsText = 'a number whose digits only a string keeps'

/** Whether a text is a number that JavaScript would change, and that {@link parseExact} therefore reads as text. */
export function isNumberAsText(value: unknown): boolean {
  return typeof value === 'string' && numberPattern.test(value) && !isKept(value, !/[.eE]/.test(value))
}

const numberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * JSON text with each number that would change in quotes; the same text where there is none, which costs little to see. What is not JSON
 * does not become JSON.
 */
export function withTexts(text: string): string {
  return exponent.test(text) || hasLongRun(text) ? quoted(text) : text
}

/** Only a number with such an exponent, or with so many digits in a row, can change. */
const exponent = /\d[eE][+-]?\d{3}/
const longRun = 16

/** Whether the text has {@link longRun} digits in a row, in a string or outside. One of them stands at a multiple of that. */
function hasLongRun(text: string): boolean {
  for (let at = longRun - 1; at < text.length; at += longRun) {
    if (!isDigit(text.charCodeAt(at))) continue
    let from = at
    let to = at + 1
    while (isDigit(text.charCodeAt(from - 1))) from--
    while (isDigit(text.charCodeAt(to))) to++
    if (to - from >= longRun) return true
  }
  return false
}

function quoted(text: string): string {
  let result = ''
  let copied = 0
  for (let index = 0; index < text.length; index++) {
    let code = text.charCodeAt(index)
    if (code === 0x22) index = endOfString(text, index)
    if (code !== 0x2d && !isDigit(code)) continue
    const start = index
    let isWhole = true
    do {
      code = text.charCodeAt(++index)
      if (code === 0x2e || (code | 0x20) === 0x65) isWhole = false
    } while (isDigit(code) || code === 0x2e || (code | 0x20) === 0x65 || code === 0x2b || code === 0x2d)
    // The shortest number that changes is 1e400.
    if (index - start < (isWhole ? longRun : 5)) continue
    const written = text.slice(start, index)
    if (isKept(written, isWhole) || !numberPattern.test(written) || isBeforeColon(text, index)) continue
    result += `${text.slice(copied, start)}"${written}"`
    copied = index
  }
  return result + text.slice(copied)
}

/** Whether JavaScript writes a whole number with the same digits, and neither loses all of a fraction nor makes it infinite. */
function isKept(written: string, isWhole: boolean): boolean {
  if (isWhole && hasTooManyDigits(written)) return false
  const value = Number(written)
  if (!isWhole) return value === 0 ? /^[-0.]+(?:[eE]|$)/.test(written) : Number.isFinite(value)
  if (Number.isSafeInteger(value)) return true
  if (Math.abs(value) < 1e21) return String(value) === written
  const [digits = '', power = 0] = String(Math.abs(value)).split('e+')
  return written.replace('-', '') === digits.replace('.', '').padEnd(Number(power) + 1, '0')
}

/** JavaScript writes 17 digits of a number at most, and zeros behind them. This is seen much sooner than what it would write. */
function hasTooManyDigits(written: string): boolean {
  if (written.length < 18) return false
  let last = written.length - 1
  while (written.charCodeAt(last) === 0x30) last--
  return last >= (written.charCodeAt(0) === 0x2d ? 18 : 17)
}

/** A number in the place of a key is a mistake, and stays one. */
function isBeforeColon(text: string, from: number): boolean {
  let at = from
  while (text.charCodeAt(at) <= 0x20) at++
  return text.charCodeAt(at) === 0x3a
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** The index of the quote that closes the string which `start` opens. A search skips a long string, such as a file, at once. */
export function endOfString(text: string, start: number): number {
  const quote = text.indexOf('"', start + 1)
  if (quote < 0) return text.length
  return text.charCodeAt(quote - 1) === 0x5c ? endBehindEscapes(text, start + 1) : quote
}

const quoteOrSlash = /["\\]/g

/** Where an escape is, many more may follow: some characters are read one by one before the next search. */
function endBehindEscapes(text: string, from: number): number {
  for (let at = from; ; ) {
    quoteOrSlash.lastIndex = at
    if (!quoteOrSlash.test(text)) return text.length
    at = quoteOrSlash.lastIndex - 1
    for (const near = at + 64; at < near; ) {
      const code = text.charCodeAt(at)
      if (code === 0x22) return at
      at += code === 0x5c ? 2 : 1
    }
  }
}
