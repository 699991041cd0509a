/** Finds where a text spells a pattern, in one pass that follows every reading of the text in parallel. */
import { type Pausable, runWithoutPause } from '../identity/pausable.ts'
import type { Automaton } from './automaton.ts'
import {
  backslash,
  createReadings,
  fold,
  isSpecial,
  isUnseen,
  mostBackslashes,
  plainUnits,
  type Readings,
  readingsAt,
} from './spelling.ts'
import { createTrail, type Trail } from './trail.ts'

/** A part of a text; `end` is exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

/**
 * The maximum number of open readings at one position. A text exceeds it only if the text and a value are crafted for that;
 * then the rest of the text is hidden. So the work is linear in the text for all values.
 */
const mostOpen = 32

/** No reading uses more characters per unit than `&#x0000002603;`, so no reading jumps further ahead than this. */
const ring = 32

/** One reading of the text up to a position: its state, the end of its last irregular character, and that character. */
interface Reading {
  readonly state: number
  readonly base: number
  readonly trail: number
}

interface Search {
  readonly text: string
  readonly automaton: Automaton
  readonly trail: Trail
  /** Those of one position, for the time of a step. */
  readonly readings: Readings
  /** The end of the last run of backslashes that was met where no reading was open. */
  backslashesUpTo: number
  /** Open readings by their position, in a ring buffer. */
  readonly open: (Reading[] | undefined)[]
  /** The number of open readings at all positions. */
  waiting: number
  /** Whether the search gave up: then the rest of the text is hidden. */
  isLost: boolean
  /** The end of the longest match, by its start. Created at the first match, since most texts have none. */
  reach: Int32Array | null
}

/** The parts of a text that spell a pattern, in order; overlapping parts are merged. */
export function spansOf(text: string, automaton: Automaton): readonly Span[] {
  return runWithoutPause(searching(text, automaton))
}

/** The same in pieces. */
export function* searching(text: string, automaton: Automaton): Pausable<readonly Span[]> {
  const search = searchIn(text, automaton)
  yield* reading(search, text.length)
  return search.reach === null ? [] : yield* joining(search.reach)
}

/** How many characters are read in one piece. */
const pieceLength = 2_048

function* reading(search: Search, upTo: number): Pausable<void> {
  for (let at = 0; at < upTo; yield) {
    const stop = Math.min(at + pieceLength, upTo)
    while (at < stop) at = advance(search, at, stop)
  }
}

/** What is known of a text whose end has not come yet. */
interface SettledSpans {
  /** The parts that spell a pattern, as far as they end before `settled`. */
  readonly spans: readonly Span[]
  /** Whatever follows changes nothing before this position. */
  readonly settled: number
  /** True if the search gave up: the text and all that follows is hidden from the last span on. */
  readonly isLost: boolean
}

/** The same for the beginning of a text. What follows may complete a pattern, or a character that is spelled with several. */
export function settledSpansOf(text: string, automaton: Automaton): SettledSpans {
  const upTo = firstSpecial(text, Math.max(0, text.length - ring))
  const search = searchIn(text, automaton)
  runWithoutPause(reading(search, upTo))
  const spans = search.reach === null ? [] : runWithoutPause(joining(search.reach))
  if (search.isLost) return { spans, settled: text.length, isLost: true }
  const open = firstOpen(search, upTo)
  const settled = spans.find(({ start, end }) => start < open && end > open)?.start ?? open
  return { spans: spans.filter(({ end }) => end <= settled), settled, isLost: false }
}

function firstSpecial(text: string, from: number): number {
  let at = from
  while (at < text.length && !isSpecial(text.charCodeAt(at))) at += 1
  return at
}

function searchIn(text: string, automaton: Automaton): Search {
  const [trail, readings] = [createTrail(), createReadings()]
  const none = { backslashesUpTo: 0, open: [], waiting: 0, isLost: false, reach: null }
  return { text, automaton, trail, readings, ...none }
}

function openAt({ open }: Search, place: number): Reading[] {
  const slot = place % ring
  open[slot] ??= []
  return open[slot]
}

/** Advances from a position and returns the next one. What needs no second look is read up to `stop` at once. */
function advance(search: Search, at: number, stop: number): number {
  const open = openAt(search, at)
  const isAlone = search.waiting === open.length && open.length < 2
  const code = search.text.charCodeAt(at)
  const isPlain = !isSpecial(code)
  if (isAlone && isPlain) return run(search, at, stop)
  const isNothing = open.length === 0 && (isPlain ? !isFirst(search.automaton, code) : skipped(search, at) > at)
  if (isNothing) return isAlone ? run(search, at, stop) : at + 1
  branch(search, at)
  if (open.length > mostOpen) return giveUp(search, at)
  search.waiting -= open.length
  open.length = 0
  return at + 1
}

/** The common case: a single reading, and characters that only represent themselves, or begin no pattern however they are read. */
function run(search: Search, from: number, stop: number): number {
  const { text } = search
  const { step, depth, longest, fromRoot, mayBegin } = search.automaton
  let { state, base, trail } = openAt(search, from).pop() ?? { state: 0, base: from, trail: 0 }
  search.waiting = 0
  let at = from
  for (; at < stop; at += 1) {
    const code = text.charCodeAt(at)
    const unit = code < 128 ? (plainUnits[code] as number) : fold(code)
    if (code < 128 ? unit === 255 : isUnseen(code)) {
      const next = state === 0 ? skipped(search, at) : at
      if (next === at) break
      at = next - 1
      continue
    }
    if (state === 0 && unit < 128) {
      if (fromRoot[unit] === 0) continue
      const following = at + 1 < text.length ? text.charCodeAt(at + 1) : 128
      const next = following < 128 ? (plainUnits[following] as number) : 255
      if (next !== 255 && !mayBegin(unit, next)) continue
    }
    state = step(state, unit)
    if (state === 0) {
      trail = 0
      continue
    }
    if ((longest[state] as number) > 0) found(search, { state, base, trail }, at + 1)
  }
  if (state !== 0) arrive(search, at, { state, base: trail === 0 ? at - (depth[state] as number) : base, trail })
  return at
}

/** The next position where a pattern may begin, after a special character where no reading is open; the same one if it may begin there. */
function skipped(search: Search, at: number): number {
  const { text, automaton, readings } = search
  if (isFirst(automaton, text.charCodeAt(at))) return at
  if (text.charCodeAt(at) === backslash) return skippedBackslashes(search, at)
  readingsAt(text, at, readings)
  return begins(search) ? at : at + 1
}

/** The last backslashes of a run all escape the same character. Those before them, and the run itself, stand for backslashes alone. */
function skippedBackslashes(search: Search, at: number): number {
  const { text, readings } = search
  if (at >= search.backslashesUpTo) {
    let end = at + 1
    while (text.charCodeAt(end) === backslash) end += 1
    search.backslashesUpTo = end
  }
  const end = search.backslashesUpTo
  readingsAt(text, end - 1, readings)
  return begins(search) ? Math.max(at, end - mostBackslashes) : end
}

/** Whether a pattern begins with a unit of the readings. */
function begins({ automaton, readings }: Search): boolean {
  for (let index = 0; index < readings.count; index += 1) {
    if (isFirst(automaton, readings.unit[index] as number)) return true
    const second = readings.second[index] as number
    if (second >= 0 && isFirst(automaton, second)) return true
  }
  return false
}

function isFirst({ fromRoot, step }: Automaton, code: number): boolean {
  const unit = fold(code)
  return (unit < 128 ? fromRoot[unit] : step(0, unit)) !== 0
}

/** A position with several readings: each continues with every character that may be read there. */
function branch(search: Search, at: number): void {
  const { text, readings } = search
  const { step } = search.automaton
  const code = text.charCodeAt(at)
  const unit = fold(code)
  const open = openAt(search, at)
  const before = open.length === 0 ? [{ state: 0, base: at, trail: 0 }] : open
  for (const reading of before) {
    const state = step(reading.state, unit)
    if (state !== 0) {
      const next = { state, base: reading.base, trail: reading.trail }
      found(search, next, at + 1)
      arrive(search, at + 1, next)
    }
    if (reading.state !== 0 && isUnseen(code))
      irregular(search, reading, { at, to: at + 1, state: reading.state, units: 0 })
  }
  if (!isSpecial(code)) return
  readingsAt(text, at, readings)
  for (let index = 0; index < readings.count; index += 1) {
    const to = at + (readings.length[index] as number)
    const first = fold(readings.unit[index] as number)
    const second = readings.second[index] as number
    for (const reading of before) {
      const half = step(reading.state, first)
      const state = second < 0 ? half : step(half, fold(second))
      if (state !== 0) irregular(search, reading, { at, to, state, units: second < 0 ? 1 : 2 })
    }
  }
}

/** A character that is spelled with several characters, or a character that represents nothing. */
function irregular(
  search: Search,
  { base, trail }: Reading,
  next: { readonly at: number; readonly to: number; readonly state: number; readonly units: number },
): void {
  const { at, to, state, units } = next
  const isMatch = units > 0 && (search.automaton.longest[state] as number) > 0
  const isCovered = isFollowed(search, to, state)
  if (isCovered && !isMatch) return
  const reading = { state, base: to, trail: search.trail.add({ from: at, base, units, parent: trail }) }
  if (isMatch) found(search, reading, to)
  if (!isCovered) enter(search, to, reading)
}

/** True if another reading finds everything that a reading in this state would. */
function isFollowed(search: Search, place: number, state: number): boolean {
  for (const other of openAt(search, place)) if (search.automaton.isSuffix(state, other.state)) return true
  return false
}

/** Opens a reading at a position, unless another reading covers it. */
function arrive(search: Search, place: number, reading: Reading): void {
  if (!isFollowed(search, place, reading.state)) enter(search, place, reading)
}

/** Opens a reading at a position; it replaces the readings that it covers. */
function enter(search: Search, place: number, reading: Reading): void {
  const open = openAt(search, place)
  let kept = 0
  for (const other of open) if (!search.automaton.isSuffix(other.state, reading.state)) open[kept++] = other
  search.waiting += kept + 1 - open.length
  open.length = kept
  open.push(reading)
}

function found(search: Search, reading: Reading, end: number): void {
  const units = search.automaton.longest[reading.state] as number
  if (units > 0) hide(search, search.trail.start(reading, end, units), end)
}

function hide(search: Search, start: number, end: number): void {
  search.reach ??= new Int32Array(search.text.length + 1)
  if ((search.reach[start] as number) < end) search.reach[start] = end
}

/** Hides everything from the start of any open match to the end of the text. */
function giveUp(search: Search, at: number): number {
  const { text } = search
  hide(search, firstOpen(search, at), text.length)
  search.isLost = true
  return text.length
}

/** Where the first match began that is still open at a position; the position itself if none is. */
function firstOpen(search: Search, at: number): number {
  const { trail, automaton } = search
  let first = at
  for (let place = at; place < at + ring; place += 1)
    for (const reading of openAt(search, place))
      first = Math.min(first, trail.start(reading, place, automaton.depth[reading.state] as number))
  return first
}

function* joining(reach: Int32Array): Pausable<readonly Span[]> {
  const spans: { start: number; end: number }[] = []
  for (let start = 0; start < reach.length; start += 1) {
    if (start % 65_536 === 65_535) yield
    const end = reach[start] as number
    if (end === 0) continue
    const last = spans.at(-1)
    if (last === undefined || last.end <= start) spans.push({ start, end })
    else if (last.end < end) last.end = end
  }
  return spans
}
