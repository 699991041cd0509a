/**
 * Scrubs by value: removes what a model must not see from every text it will read, in every form the value may have [D15,
 * C17].
 */
import type { Parameter } from '@witan/protocol'
import { type Pausable, runAtOnce, runByPieces, runWithoutPause } from '../identity/pausable.ts'
import { type Automaton, building } from './automaton.ts'
import type { Bound } from './parameter.ts'
import { createPieceScrubber, type PieceScrubber } from './scrub-pieces.ts'
import { searching, type Span } from './spans.ts'
import { fold } from './spelling.ts'
import { isShown } from './visibility.ts'

/** Removes secrets from a text; null if there are none. */
export type Scrubber = Scrub | null

interface Scrub {
  (text: string): string
  /** The same for a long text, in as many turns of the event loop as it takes. It is known at once after that, until `forget(text)`. */
  remember(text: string): Promise<string>
  forget(text: string): void
  /** The same in pieces of work. */
  inPauses(text: string): Pausable<string>
  /** Prepares the search in turns: it takes its time for long values. Otherwise the first text waits for that. */
  prepared(): Promise<unknown>
  /** Whether the first text waits for nothing long. */
  readonly isPrepared: boolean
  /** The same for one text that comes in pieces. */
  inPieces(): PieceScrubber
}

/** Replaces a secret. */
export const scrubbed = '[hidden]'

/** Shorter values are not scrubbed, because that would damage ordinary text: only construction keeps them hidden. */
const shortest = 4

/** Values of fewer characters in all are prepared in less than a millisecond. */
const shortInAll = 500

/** So many characters of the forms of values count as one piece of work. */
const pieceLength = 4_096

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
  const texts = values.flatMap(textsOf)
  if (texts.length === 0) return null
  const most = texts.reduce((longest, { length }) => Math.max(longest, length), 0) * longestSpelling
  const isShort = texts.reduce((sum, { length }) => sum + length, 0) < shortInAll
  let automaton: Automaton | null = null
  function* preparing(): Pausable<Automaton> {
    if (automaton !== null) return automaton
    const patterns: Uint16Array[] = []
    let length = 0
    for (const text of texts) {
      for (const form of formsOf(text)) {
        patterns.push(unitsOf(form))
        for (length += form.length; length >= pieceLength; length -= pieceLength) yield
      }
    }
    automaton ??= yield* building(patterns)
    return automaton
  }
  function* scrubbing(text: string): Pausable<string> {
    const spans = yield* searching(text, yield* preparing())
    return withoutFragments(yield* replacing(text, spans), most)
  }
  let waiting: Promise<unknown> | null = null
  const prepared = () => {
    waiting ??= runByPieces(preparing())
    return waiting
  }
  const known = new Map<string, string>()
  const scrub = (text: string) => (known.size === 0 ? undefined : known.get(text)) ?? runAtOnce(scrubbing(text))
  const more = {
    prepared,
    async remember(text: string) {
      await prepared()
      const clean = known.get(text) ?? (await runByPieces(scrubbing(text)))
      known.set(text, clean)
      return clean
    },
    forget: (text: string) => void known.delete(text),
    inPauses: scrubbing,
    inPieces: () => createPieceScrubber(runWithoutPause(preparing()), without),
  }
  const made = Object.assign(scrub, more)
  return Object.defineProperty(made, 'isPrepared', { get: () => isShort || automaton !== null }) as typeof made & Scrub
}

/** A pattern of an automaton: case-folded units. */
function unitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length)
  for (let at = 0; at < text.length; at += 1) units[at] = fold(text.charCodeAt(at))
  return units
}

function without(text: string, spans: readonly Span[]): string {
  return runWithoutPause(replacing(text, spans))
}

function* replacing(text: string, spans: readonly Span[]): Pausable<string> {
  if (spans.length === 0) return text
  let clean = ''
  let from = 0
  for (const [at, { start, end }] of spans.entries()) {
    if (at % 4_096 === 4_095) yield
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

/** The first characters, at most `most`, of a text whose whole length is not known, with a mark that it was cut. */
export function cutOpen(text: string, most: number): string {
  const kept = text.slice(0, most).replace(/[\ud800-\udbff]$/, '')
  return `${kept} [cut: ${kept.length} of more than ${kept.length} characters]`
}

/** The most characters of texts that are joined for a reader: as many as one reply of a model may have. */
const mostJoinedCharacters = 1_000_000

/** Texts that are read together, such as the answers of several steps: if they are too long in all, the longest are cut, to one length, as results are. */
export function cutTogether(texts: readonly string[]): readonly string[] {
  const most = commonLength(texts.map(({ length }) => length))
  return texts.map((text) => cutTo(text, most))
}

/** The length to which the longest of several are cut, so that all together are not too long; the others stay whole. */
export function commonLength(lengths: readonly number[]): number {
  let room = mostJoinedCharacters
  for (const [at, length] of lengths.toSorted((one, other) => one - other).entries()) {
    const share = Math.floor(room / (lengths.length - at))
    if (length > share) return share
    room -= length
  }
  return Number.POSITIVE_INFINITY
}

/** The most characters of an error text. A longer one would be read again with each step of its run. */
const mostErrorCharacters = 16_000

/** An error text as it is scrubbed, stored and read: cut as results are, and earlier. */
export function errorText(text: string): string {
  return cutTo(text, mostErrorCharacters)
}

const cutMarks = / \[cut: \d+ of (?:more than )?\d+ characters\]/g

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
function* formsOf(text: string): Generator<string> {
  for (const one of new Set([text, text.toWellFormed()])) {
    yield one
    yield [...one].reverse().join('')
  }
  const bytes = Buffer.from(text, 'utf8')
  yield bytes.toString('hex')
  yield* base64Forms(bytes)
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
    if (core.length >= shortest * 1.5) forms.push(...new Set([core, core.replaceAll('+', '-').replaceAll('/', '_')]))
  }
  return forms
}
