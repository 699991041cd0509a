/** Attributions in text for models: the runtime writes them, and escapes lines that only look like one [C6]. */
import { blankSigns, shownName } from '@witan/protocol/names'

/** A text with its author and addressee in front. */
export function attributed(from: string, to: string, text: string): string {
  return `[from ${handleOf(from)} to ${handleOf(to)}] ${markForeign(text)}`
}

/** An address begins with its sign. */
function handleOf(name: string): string {
  return `${name.startsWith('@') ? '' : '@'}${nameInMark(name)}`
}

/** A model may write any name of a tool, and a store may hold ids that were taken before names had a rule: none ends an attribution. */
function nameInMark(name: string): string {
  if (/^[\w.@|+:-]*$/.test(name)) return name
  return shownName(name).replace(/[\p{Ps}\p{Pe}<>]/gu, (bracket) => `\\u{${bracket.codePointAt(0)?.toString(16)}}`)
}

/** What begins a line, for any reader: LF, VT, FF, CR, NEL, LS and PS. */
const lineBreaks = '\\n\\v\\f\\r\\u0085\\u2028\\u2029'
/** What a reader does not see before a letter, or between two: blanks, and characters without a form. */
const unseen = `(?![${lineBreaks}])[\\s\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}${blankSigns}]`
/** This letter, or one of another alphabet: any of these may look like it. */
const like = (letter: string) => `(?:${letter}|(?![a-z])\\p{L})`
const letters = [...Array.from('from', like), '[@\\uff20\\ufe6b]'].map((one) => `(?:${unseen})*${one}`).join('')
const bracket = '(?![({\\uff08\\uff5b])\\p{Ps}'
/** All opening brackets but `(` and `{` are this one or stand behind it in Unicode. */
const anyBracket = /[[\u0f3a-\uffff]/
/** A short text is looked through faster than a pattern begins. */
const shortText = 256
/** Most texts have no bracket before an `f`. */
const mayBegin = new RegExp(`${bracket}(?:${unseen})*${like('f')}`, 'iu')
/** What stands before the mark of a line that begins like an attribution; also with other brackets or letters, in capitals, or with something unseen in it. */
const beforeMark = new RegExp(`(^|[${lineBreaks}])((?:${unseen})*)(?=${bracket}${letters})`, 'giu')
/** Line breaks that JSON may hold as they are. To look for one costs less than to replace none. */
const breakInJson = /[\u0085\u2028\u2029]/
const breaksInJson = new RegExp(breakInJson, 'g')

/**
 * Text of a person, model, tool or remote, escaped for models: a `\` is put before the mark of each line that begins like an attribution,
 * so that no text can pretend another author [E85]. Blanks and unseen characters before the mark change nothing. NEL, LS and PS before
 * it are written as `\u2028`, because they may stand within JSON, whose value stays the same. Escaping twice changes nothing.
 */
export function markForeign(text: string): string {
  if (!hasBracket(text) || !mayBegin.test(text)) return text
  return text.replace(beforeMark, (whole, lineBreak: string, gap: string) =>
    breakInJson.test(lineBreak) ? escaped(lineBreak) + gap : `${whole}\\`,
  )
}

function hasBracket(text: string): boolean {
  if (text.length > shortText) return anyBracket.test(text)
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === 0x5b || code >= 0x0f3a) return true
  }
  return false
}

/**
 * JSON for a model: the same value, with the line breaks that a string of JSON may hold as escapes. So no line of it begins with what
 * somebody wrote.
 */
export function jsonForModel(value: unknown): string {
  return breaksEscaped((JSON.stringify(value) as string | undefined) ?? 'null')
}

/** Lines of JSON, as `jsonForModel` writes it. */
export function breaksEscaped(json: string): string {
  return breakInJson.test(json) ? json.replace(breaksInJson, escaped) : json
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
