/**
 * Scrubs by value: removes what a model must not see from every text it will read, in every form the value may have [D15,
 * C17].
 */
import type { Parameter } from '@witan/protocol'
import { createAutomaton } from './automaton.ts'
import type { Bound } from './parameter.ts'
import { createPieceScrubber, type PieceScrubber } from './scrub-pieces.ts'
import { type Span, spansOf } from './spans.ts'
import { fold } from './spelling.ts'
import { isShown } from './visibility.ts'

/** Removes secrets from a text; null if there are none. */
export type Scrubber = Scrub | null

interface Scrub {
  (text: string): string
  /** The same for one text that comes in pieces. */
  inPieces(): PieceScrubber
}

/** Replaces a secret. */
export const scrubbed = '[hidden]'

/** Shorter values are not scrubbed, because that would damage ordinary text: only construction keeps them hidden. */
const shortest = 4

/** The longest known spelling of one character, such as `&#x0000002603;`, not counting invisible characters in between. */
const longestSpelling = 16

/**
 * The parameters whose values an agent's scrubber removes: those that are secret, or hidden from its model and forbidden to
 * models.
 */
export function scrubbedInOwn(declared: readonly Parameter[], bound: Bound): readonly Parameter[] {
  return declared.filter(
    (parameter) => parameter.secret || (!isShown(parameter, bound) && parameter.policy === 'forbidModelGeneration'),
  )
}

/**
 * The parameters whose values are removed from the text of others before an agent reads it: all that are secret or hidden
 * from it.
 */
export function scrubbedInOthers(declared: readonly Parameter[], bound: Bound): readonly Parameter[] {
  return declared.filter((parameter) => parameter.secret || !isShown(parameter, bound))
}

/** The scrubber for the values of these parameters. */
export function scrubberOf(hidden: readonly Parameter[], bound: Bound): Scrubber {
  return hidden.length === 0 ? null : scrubberOfValues(hidden.map(({ name }) => bound.get(name)?.box.reveal()))
}

/** The scrubber for these values. */
export function scrubberOfValues(values: readonly unknown[]): Scrubber {
  const patterns: Uint16Array[] = []
  let longest = 0
  for (const value of values) {
    for (const text of textsOf(value)) {
      longest = Math.max(longest, text.length)
      for (const form of formsOf(text)) patterns.push(unitsOf(form))
    }
  }
  if (patterns.length === 0) return null
  const automaton = createAutomaton(patterns)
  const scrub = (text: string) => withoutFragments(without(text, spansOf(text, automaton)), longest * longestSpelling)
  return Object.assign(scrub, { inPieces: () => createPieceScrubber(automaton, without) })
}

/** A pattern of an automaton: case-folded units. */
function unitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length)
  for (let at = 0; at < text.length; at += 1) units[at] = fold(text.charCodeAt(at))
  return units
}

function without(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text
  let clean = ''
  let from = 0
  for (const { start, end } of spans) {
    clean += text.slice(from, start) + scrubbed
    from = end
  }
  return clean + text.slice(from)
}

/** Ends a text that was cut, and says how much of it is kept. */
export function cutMark(kept: number, whole: number): string {
  return ` [cut: ${kept} of ${whole} characters]`
}

/** A text of at most so many characters; a longer one is cut there, with a mark. Nothing is left of half a surrogate pair. */
export function cutTo(text: string, most: number): string {
  if (text.length <= most) return text
  const kept = text.slice(0, most).replace(/[\ud800-\udbff]$/, '')
  return kept + cutMark(kept.length, text.length)
}

/** The most characters of an error text. A longer one would be read again with each step of its run. */
const mostErrorCharacters = 16_000

/** An error text as it is scrubbed, stored and read: cut as results are, and earlier. */
export function errorText(text: string): string {
  return cutTo(text, mostErrorCharacters)
}

const cutMarks = / \[cut: \d+ of \d+ characters\]/g

/**
 * A cut text may end inside a secret, which no pattern would match. So the longest possible fragment is removed before each
 * mark.
 */
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

/**
 * The value and its reverse, which are also found when escaped for JSON, HTML or URLs; and the value in hex and base64. The
 * search ignores case. URLs and bytes cannot hold half a surrogate pair: a replacement character takes its place.
 */
function formsOf(text: string): ReadonlySet<string> {
  const bytes = Buffer.from(text, 'utf8')
  const whole = text.toWellFormed()
  const mirrored = [text, whole].map((one) => [...one].reverse().join(''))
  return new Set([text, whole, ...mirrored, bytes.toString('hex'), ...base64Forms(bytes)])
}

/** Base64 of the value at each of the three offsets in a longer text, without the characters that depend on its neighbours. */
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
