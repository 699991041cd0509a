/** Text from outside as text that is safe to show: without control characters, bidi marks and other characters that nobody sees. */

const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
const hiddenButBreaks = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** One line of at most `max` characters. Line breaks become spaces, other hidden characters visible escapes. */
export function plainLine(text: string, max = 200): string {
  const flat = text
    .slice(0, max * 4)
    .replace(/\s+/g, ' ')
    .replace(hidden, escaped)
    .trim()
    .toWellFormed()
  return flat.length <= max ? flat : `${flat.slice(0, max - 1)}…`
}

/** Text of several lines, at most `max` characters; what was cut is said. */
export function plainText(text: string, max: number): string {
  const cut = text.slice(0, max).replaceAll('\r\n', '\n').replace(hiddenButBreaks, escaped).trim().toWellFormed()
  return text.length <= max ? cut : `${cut}\n[cut: ${text.length} characters in all]`
}

/** True if a text has line breaks or characters that nobody sees. */
export function hasHidden(text: string): boolean {
  return text.search(hidden) !== -1
}

function escaped(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
}
