/** Scrubbing by value: what a model must not see is taken out of every text on its way to it, in every form it may have [D15, C17]. */
import type { Parameter } from '@witan/protocol'
import type { Bound } from './parameter.ts'
import { isShown } from './visibility.ts'

/** Takes secrets out of a text; null where there are none. */
export type Scrubber = ((text: string) => string) | null

/** What stands in place of a secret. */
export const scrubbed = '[hidden]'

/** Shorter values would mangle ordinary text; they are hidden by construction only. */
const shortest = 4

/** In a longer value letters and digits stand as they are, next to each other: a pattern that knew all else would be many times its length. */
const longestSpelled = 256

/** What one character takes at most in a form that is known here, such as `&#x0000002603;`; unseen ones between are not counted. */
const longestSpelling = 16

/** The scrubber of an agent: values that are secret, or hidden from it and forbidden to models. */
export function scrubberOf(declared: readonly Parameter[], bound: Bound): Scrubber {
  return scrubberFor(
    declared.filter(
      (parameter) => parameter.secret || (!isShown(parameter, bound) && parameter.policy === 'forbidModelGeneration'),
    ),
    bound,
  )
}

/** The scrubber of what others said, where an agent reads it: every value that is secret or hidden from it. */
export function overhearingScrubber(declared: readonly Parameter[], bound: Bound): Scrubber {
  return scrubberFor(
    declared.filter((parameter) => parameter.secret || !isShown(parameter, bound)),
    bound,
  )
}

function scrubberFor(hidden: readonly Parameter[], bound: Bound): Scrubber {
  if (hidden.length === 0) return null
  const patterns = new Set<string>()
  let longest = 0
  for (const parameter of hidden) {
    const value = bound.get(parameter.name)?.box.reveal()
    for (const text of textsOf(value)) {
      longest = Math.max(longest, text.length)
      for (const pattern of patternsOf(text)) patterns.add(pattern)
    }
  }
  if (patterns.size === 0) return null
  const longestFirst = [...patterns].sort((a, b) => b.length - a.length)
  const pattern = new RegExp(longestFirst.join('|'), 'gi')
  return (text) => withoutFragments(text.replace(pattern, scrubbed), longest * longestSpelling)
}

/** Stands at the end of a text that was too long: how much of it there is. */
export function cutMark(kept: number, whole: number): string {
  return ` [cut: ${kept} of ${whole} characters]`
}

const cutMarks = / \[cut: \d+ of \d+ characters\]/g

/** A text that was cut may end within a secret, which nothing would know by its beginning: as much as one can take goes before each mark. */
function withoutFragments(text: string, most: number): string {
  if (!text.includes(' [cut: ')) return text
  let clean = ''
  let from = 0
  for (const { 0: mark, index } of text.matchAll(cutMarks)) {
    clean += text.slice(from, Math.max(from, index - most)) + scrubbed + mark
    from = index + mark.length
  }
  return clean + text.slice(from)
}

function textsOf(value: unknown): string[] {
  const all = Array.isArray(value) ? value : [value]
  return all
    .filter((one) => typeof one === 'string' || typeof one === 'number')
    .map(String)
    .filter((text) => text.length >= shortest)
}

/** The value as it is, and as JSON, HTML, URLs, base64, hex and mirrors would carry it. Case is ignored when they are looked for. */
function patternsOf(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8')
  const encoded = [bytes.toString('hex'), ...base64Forms(bytes)]
  return [spelled(text), spelled([...text].reverse().join('')), ...encoded.map(escapePattern)]
}

/** Format characters that a reader does not see between two others. */
const unseen = '[\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff]*'

/** A text in which each character may stand as itself or as URLs, JSON and HTML escape it, with unseen ones between. */
function spelled(text: string): string {
  const characters = [...text]
  if (text.length <= longestSpelled) return characters.map(spellings).join(unseen)
  return characters.map((one) => (/[a-z0-9]/i.test(one) ? one : spellings(one))).join('')
}

const escapes: Readonly<Record<string, string>> = { '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't' }
const entities: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }

function spellings(character: string): string {
  const code = character.codePointAt(0) ?? 0
  const units = [...Array(character.length).keys()].map((at) => hex(character.charCodeAt(at), 4))
  const url = [...Buffer.from(character, 'utf8')].map((byte) => `%${hex(byte, 2)}`).join('')
  const forms = [
    escapePattern(character),
    url,
    units.map((unit) => `\\\\{1,8}u${unit}`).join(''),
    `&#0{0,6}${code};`,
    `&#x0{0,6}${code.toString(16)};`,
  ]
  if (character === ' ') forms.push('\\+')
  if ('"\\/'.includes(character)) forms.push(`\\\\{1,8}${escapePattern(character)}`)
  if (Object.hasOwn(escapes, character)) forms.push(`\\\\{1,8}${escapes[character]}`)
  if (Object.hasOwn(entities, character)) forms.push(`&${entities[character]};`)
  return `(?:${forms.join('|')})`
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0')
}

/** Base64 of the value at each of the three places it can start within a longer text, without what its neighbours decide. */
function base64Forms(bytes: Buffer): string[] {
  const forms: string[] = []
  for (const lead of [0, 1, 2]) {
    const whole = Buffer.concat([Buffer.alloc(lead), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const from = Math.ceil((lead * 4) / 3)
    const upTo = whole.length - ((lead + bytes.length) % 3 === 0 ? 0 : 1)
    const core = whole.slice(from, upTo)
    if (core.length >= shortest * 1.5) forms.push(core, core.replaceAll('+', '-').replaceAll('/', '_'))
  }
  return forms
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
