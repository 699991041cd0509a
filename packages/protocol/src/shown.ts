/** Text from outside as it may be shown: what would be obeyed by a terminal or not be seen by a reader is written as an escape. */

/**
 * Control characters, lone surrogates, and what has no form of its own: bidi marks, spaces without a width, joiners, tags, variation
 * selectors, fillers. The number signs of Arabic and its kin are format characters that are seen.
 */
const hidden =
  /(?![\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
const isAscii = /^[\x20-\x7e\n]*$/
/** Marks on one letter that are more than any script has: they would be drawn over the lines above and below. */
const piled = /(?<=\p{M}{6})\p{M}/gu

/**
 * A text that a terminal only shows: it moves no cursor, sets no colour or title, turns no direction of writing, and hides nothing.
 * Line ends stay, a tab becomes a space, joiners and variation selectors stay where a script or an emoji needs them, and every other
 * hidden character is written as `\u001b` or `\u{e0041}`. A text that was shown once stays as it is.
 */
export function shownText(text: string): string {
  if (isAscii.test(text)) return text
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/\t/g, ' ')
    .replace(hidden, (sign: string, at: number, whole: string) => (isNeeded(sign, at, whole) ? sign : escaped(sign)))
    .replace(piled, escaped)
}

/**
 * A text without what is hidden in it, for readers that need no escapes, such as models. All that ends a line becomes a line feed, a tab a
 * space; joiners and variation selectors go too. A second time it changes nothing.
 */
export function withoutHidden(text: string): string {
  if (isAscii.test(text)) return text
  return text
    .replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n')
    .replace(/\t/g, ' ')
    .replace(hidden, (sign) => (sign === '\n' ? sign : ''))
    .replace(piled, '')
}

/** A value as JSON that is safe on a terminal: the same value for a program, with every hidden character as an escape. */
export function shownJson(value: unknown, indent?: number): string {
  return shownJsonText(JSON.stringify(value, null, indent) ?? 'null')
}

/** JSON text, such as a line of a log, with every hidden character in its strings as an escape; a program reads the same value. */
export function shownJsonText(json: string): string {
  if (isAscii.test(json)) return json
  const inUnits = (sign: string) => (/[\n\t]/.test(sign) ? sign : sign.split('').map(unit).join(''))
  return json.replace(hidden, inUnits).replace(piled, inUnits)
}

const joiners = '\u200c\u200d'
/** Scripts that join their letters, and so need a sign for where they do not. */
const joining =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u
const pictured = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f/u

function isNeeded(sign: string, at: number, whole: string): boolean {
  if (sign === '\n') return true
  const before = /.$/su.exec(whole.slice(Math.max(0, at - 2), at))?.[0] ?? ''
  if (joiners.includes(sign)) {
    const after = String.fromCodePoint(whole.codePointAt(at + sign.length) ?? 0)
    const isInEmoji = sign === '\u200d' && pictured.test(before) && /\p{Extended_Pictographic}/u.test(after)
    return isInEmoji || (joining.test(before) && joining.test(after))
  }
  if (sign === '\ufe0e' || sign === '\ufe0f') return /[\p{Emoji}]/u.test(before)
  return /[\ufe00-\ufe0d\u{e0100}-\u{e01ef}]/u.test(sign) && /\p{Script=Han}/u.test(before)
}

/** How far a tool call has come, in one line: `3 of 10, reading`. What a server says of it is shown, never obeyed. */
export function progressText(of: {
  readonly progress: number
  readonly total: number | null
  readonly message: string | null
}): string {
  const { progress, total, message } = of
  const counts = total === null ? `${progress}` : `${progress} of ${total}`
  return message === null || message.trim() === ''
    ? counts
    : `${counts}, ${shownText(message.replace(/\s+/g, ' ').trim())}`
}

/** A character as an escape, such as `\\u001b` or `\\u{e0041}`. */
export function escaped(sign: string): string {
  return sign.length === 2 ? `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}` : unit(sign)
}

function unit(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
}
