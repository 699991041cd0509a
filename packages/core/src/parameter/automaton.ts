/**
 * Searches a text for many patterns in one pass (Aho–Corasick). Uses flat arrays, so that a long value costs bytes, not
 * objects.
 */

import { type Pausable, runWithoutPause } from '../identity/pausable.ts'

/**
 * States are numbers; 0 is the start. A state represents the longest prefix of a pattern that is a suffix of the units read
 * so far.
 */
export interface Automaton {
  /** The state after one more unit. */
  step(state: number, unit: number): number
  /** The next state from the start for units below 128, where most of a text is read. */
  readonly fromRoot: Int32Array
  /** False if a pattern cannot begin with `unit` where `next` follows; both below 128. Spares most steps from the start. */
  mayBegin(unit: number, next: number): boolean
  /** The number of units that a state represents. */
  readonly depth: Int32Array
  /** The length of the longest pattern that ends in a state; 0 if none does. */
  readonly longest: Int32Array
  /** True if the units of `inner` are a suffix of the units of `outer`, so that `outer` finds everything that `inner` would. */
  isSuffix(inner: number, outer: number): boolean
  /** The number of transitions examined so far: the cost of a search, independent of the machine's load. */
  steps(): number
}

/** Children of a state by unit: the first child is in `first` and `label`, further children are in `more` if `forks` is 1. */
interface Trie {
  count: number
  readonly label: Uint16Array
  readonly first: Int32Array
  readonly depth: Int32Array
  readonly longest: Int32Array
  readonly forks: Uint8Array
  readonly more: Map<number, Map<number, number>>
}

/** After this many suffix links, the resulting state is cached. */
const farthest = 16
const mostJumps = 10_000

/** Builds the automaton of these patterns. Time and memory are linear in their total length. */
export function createAutomaton(patterns: Iterable<Uint16Array>): Automaton {
  return runWithoutPause(building([...patterns]))
}

/** How many states are made or linked in one piece. */
const pieceLength = 4_096

/** The same in pieces. */
export function* building(patterns: readonly Uint16Array[]): Pausable<Automaton> {
  const trie = yield* grow(patterns)
  const { fail, pre, size } = yield* linked(trie)
  const { label, first, depth, longest, more, forks } = trie
  const fromRoot = Int32Array.from({ length: 128 }, (_, unit) => childOf(trie, 0, unit))
  const beginnings = beginningsOf(trie, fromRoot)
  let steps = 0
  const jumps = new Map<number, number>()
  /** Caches the result of a long chain of suffix links: several readings of one text may ask for it from the same state. */
  function far(from: number, unit: number, state: number): number {
    const key = from * 0x10000 + unit
    const kept = jumps.get(key)
    if (kept !== undefined) return kept
    const found = automaton.step(state, unit)
    if (jumps.size === mostJumps) jumps.clear()
    jumps.set(key, found)
    return found
  }
  const automaton: Automaton = {
    fromRoot,
    mayBegin: (unit, next) => (((beginnings[(unit << 2) | (next >> 5)] as number) >>> (next & 31)) & 1) === 1,
    depth,
    longest,
    steps: () => steps,
    step(from, unit) {
      let looked = 0
      for (let state = from; ; state = fail[state] as number) {
        steps += 1
        if (state === 0 && unit < 128) return fromRoot[unit] as number
        const child = first[state] as number
        if (child !== 0 && label[child] === unit) return child
        const other = forks[state] === 1 ? more.get(state)?.get(unit) : undefined
        if (other !== undefined) return other
        if (state === 0) return 0
        looked += 1
        if (looked === farthest) return far(from, unit, fail[state] as number)
      }
    },
    isSuffix(inner, outer) {
      const from = pre[inner] as number
      const at = pre[outer] as number
      return at >= from && at < from + (size[inner] as number)
    },
  }
  return automaton
}

function* grow(patterns: readonly Uint16Array[]): Pausable<Trie> {
  const room = 1 + patterns.reduce((sum, { length }) => sum + length, 0)
  const ints = () => new Int32Array(room)
  const trie: Trie = {
    count: 1,
    label: new Uint16Array(room),
    first: ints(),
    depth: ints(),
    longest: ints(),
    forks: new Uint8Array(room),
    more: new Map(),
  }
  for (const pattern of patterns) {
    let state = 0
    for (const [at, unit] of pattern.entries()) {
      if (at % pieceLength === pieceLength - 1) yield
      state = childOf(trie, state, unit) || born(trie, state, unit)
    }
    trie.longest[state] = pattern.length
  }
  return trie
}

/** The next state for a unit; 0 if there is none. */
function childOf({ first, label, forks, more }: Trie, state: number, unit: number): number {
  const child = first[state] as number
  if (child === 0 || label[child] === unit) return child
  return forks[state] === 0 ? 0 : (more.get(state)?.get(unit) ?? 0)
}

/** The first two units of patterns, one bit for each pair of units below 128. A pattern of one unit may be followed by any. */
function beginningsOf({ first, label, longest, forks, more }: Trie, fromRoot: Int32Array): Uint32Array {
  const pairs = new Uint32Array(128 * 4)
  const add = (unit: number, next: number) => {
    if (next < 128) pairs[(unit << 2) | (next >> 5)] = (pairs[(unit << 2) | (next >> 5)] as number) | (1 << (next & 31))
  }
  for (const [unit, state] of fromRoot.entries()) {
    if (state === 0) continue
    if ((longest[state] as number) > 0) pairs.fill(0xffffffff, unit << 2, (unit + 1) << 2)
    if (first[state] !== 0) add(unit, label[first[state] as number] as number)
    if (forks[state] === 1) for (const next of more.get(state)?.keys() ?? []) add(unit, next)
  }
  return pairs
}

function born(trie: Trie, parent: number, unit: number): number {
  const child = trie.count
  trie.count += 1
  trie.label[child] = unit
  trie.depth[child] = (trie.depth[parent] as number) + 1
  if (trie.first[parent] === 0) trie.first[parent] = child
  else if (trie.forks[parent] === 1) trie.more.get(parent)?.set(unit, child)
  else {
    trie.forks[parent] = 1
    trie.more.set(parent, new Map([[unit, child]]))
  }
  return child
}

interface Links {
  /** The state that replaces a state that lacks a unit; states that lack it too are skipped. */
  readonly fail: Int32Array
  /** The tree of suffixes in preorder, and the size of each subtree. */
  readonly pre: Int32Array
  readonly size: Int32Array
}

function* linked(trie: Trie): Pausable<Links> {
  const { count, longest } = trie
  const suffix = new Int32Array(count)
  const order = yield* byBreadth(trie, suffix)
  const fail = new Int32Array(count)
  const size = new Int32Array(count).fill(1)
  const pre = new Int32Array(count)
  const free = new Int32Array(count).fill(1)
  for (const state of order) {
    if (state % pieceLength === 0) yield
    const shorter = suffix[state] as number
    fail[state] = shorter !== 0 && isCovered(trie, shorter, state) ? (fail[shorter] as number) : shorter
    if (longest[state] === 0) longest[state] = longest[shorter] as number
  }
  for (let at = order.length - 1; at >= 0; at -= 1) {
    if (at % pieceLength === 0) yield
    const state = order[at] as number
    size[suffix[state] as number] = (size[suffix[state] as number] as number) + (size[state] as number)
  }
  for (const state of order) {
    if (state % pieceLength === 0) yield
    const shorter = suffix[state] as number
    pre[state] = free[shorter] as number
    free[shorter] = (free[shorter] as number) + (size[state] as number)
    free[state] = (pre[state] as number) + 1
  }
  return { fail, pre, size }
}

/** All states except the start, shorter ones first. Fills in the longest proper suffix of each. */
function* byBreadth(trie: Trie, suffix: Int32Array): Pausable<Int32Array> {
  const { first, label, forks, more } = trie
  const order = new Int32Array(trie.count - 1)
  let known = 0
  const meet = (parent: number, child: number) => {
    order[known++] = child
    if (parent === 0) return
    const unit = label[child] as number
    let shorter = suffix[parent] as number
    let found = childOf(trie, shorter, unit)
    while (found === 0 && shorter !== 0) {
      shorter = suffix[shorter] as number
      found = childOf(trie, shorter, unit)
    }
    suffix[child] = found
  }
  const meetAll = (parent: number) => {
    if (first[parent] !== 0) meet(parent, first[parent] as number)
    if (forks[parent] === 1) for (const child of more.get(parent)?.values() ?? []) meet(parent, child)
  }
  meetAll(0)
  for (let at = 0; at < known; at += 1) {
    if (at % pieceLength === pieceLength - 1) yield
    meetAll(order[at] as number)
  }
  return order
}

/** True if `state` has a child for every unit for which `shorter` has one: if `state` cannot continue, neither can `shorter`. */
function isCovered(trie: Trie, shorter: number, state: number): boolean {
  const { first, label, forks, more } = trie
  const child = first[shorter] as number
  if (child === 0) return true
  if (childOf(trie, state, label[child] as number) === 0) return false
  if (forks[shorter] === 0) return true
  const others = more.get(shorter)
  if (others === undefined || others.size > (more.get(state)?.size ?? 0)) return false
  for (const unit of others.keys()) if (childOf(trie, state, unit) === 0) return false
  return true
}
