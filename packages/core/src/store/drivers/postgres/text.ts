/** Encodes text for PostgreSQL, which refuses NUL and lone surrogates. Ids and notes from outside may hold them. */

const mark = '\u001b'

/** The encoded text, nearly always unchanged. */
export function stored(text: string): string {
  if (!text.includes('\0') && !text.includes(mark) && text.isWellFormed()) return text
  let out = ''
  for (const char of text) {
    if (char === '\0') out += `${mark}0`
    else if (char === mark) out += `${mark}1`
    else out += char.isWellFormed() ? char : `${mark}${char.charCodeAt(0).toString(16)}`
  }
  return out
}

/** The decoded text. */
export function restored(text: string): string {
  if (!text.includes(mark)) return text
  const [head = '', ...parts] = text.split(mark)
  return parts.reduce((all, part) => all + restoredPart(part), head)
}

/** One-letter escapes; anything else is the code of a lone surrogate. */
const signs: Readonly<Record<string, string>> = { '0': '\0', '1': mark }

function restoredPart(part: string): string {
  const sign = signs[part.charAt(0)]
  if (sign !== undefined) return sign + part.slice(1)
  return String.fromCharCode(Number.parseInt(part.slice(0, 4), 16)) + part.slice(4)
}

/** Any JSON value as text on one line. A value that JSON cannot hold becomes null. NUL and lone surrogates are escaped. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value) ?? 'null'
}
