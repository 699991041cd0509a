/** Text at the border: PostgreSQL refuses NUL and halves of surrogate pairs, which ids and notes from outside may hold. */

const mark = '\u001b'

/** The text as it may be stored; nearly always itself. */
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

/** The text that was stored. */
export function restored(text: string): string {
  if (!text.includes(mark)) return text
  const [head = '', ...parts] = text.split(mark)
  return parts.reduce((all, part) => all + restoredPart(part), head)
}

/** Signs that stand for one character; anything else is the code of half a pair. */
const signs: Readonly<Record<string, string>> = { '0': '\0', '1': mark, '2': '\u001e', '3': '\u001f' }

function restoredPart(part: string): string {
  const sign = signs[part.charAt(0)]
  if (sign !== undefined) return sign + part.slice(1)
  return String.fromCharCode(Number.parseInt(part.slice(0, 4), 16)) + part.slice(4)
}

/** What stands between the items and the fields of a notice. */
export const separators = { item: '\u001e', field: '\u001f' } as const

/** The text without separators, NUL and half pairs; `restored` gives it back. */
export function fieldOf(text: string): string {
  const { item, field } = separators
  return stored(text).replaceAll(item, `${mark}2`).replaceAll(field, `${mark}3`)
}

/** Any JSON value as text on one line; what JSON cannot say becomes null. NUL and half pairs are escapes in it. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value) ?? 'null'
}
