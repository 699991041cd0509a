/** Shares each turn of the event loop among all work that outsiders can make long, so that no amount of it holds the process. */
import { steady, threadCpuMs } from './clock.ts'

/** How much of one turn such work may take, in ms of CPU, over all of it in this process. */
const shareMs = 8

/** The turn under way; null until work asks in it. */
let turn: { readonly began: number; readonly cpu: number } | null = null
const waiting: (() => void)[] = []
let isPlanned = false

/** How much counted work a turn takes. One unit is about 0.1 µs, so it is the share in other words. */
const shareUnits = 80_000
/** What is shorter is not counted. */
const shortUnits = 500
let counted = 0

/** Counts long work of a run in units of about 0.1 µs: what a check or a search of texts cost. */
export function countWork(units: number): void {
  if (units < shortUnits) return
  counted += units
  plan()
}

/**
 * Whether the counted work of this turn has used up the share. Runs ask this and not the clock: the order of what they record then depends
 * on what they do and not on how fast the machine is.
 */
export function isWorkSpent(): boolean {
  return counted >= shareUnits
}

/**
 * Whether this turn's share is used up. Work that can be long asks between its pieces, each a millisecond or less, and goes on after
 * `nextTurn()`. The time of the machine's other processes does not count.
 */
export function isTurnSpent(): boolean {
  if (turn === null) openTurn()
  const { began, cpu } = turn as NonNullable<typeof turn>
  return steady() - began >= shareMs && threadCpuMs() - cpu >= shareMs
}

/** Resolves in a later turn that still has a share to give. Work resumes in the order in which it asked. */
export function nextTurn(): Promise<void> {
  plan()
  return new Promise((resolve) => waiting.push(resolve))
}

/** Goes on at once while the turn has a share left: `if (isTurnSpent()) await nextTurn()` in one word, for loops that wait anyway. */
export async function pause(): Promise<void> {
  if (isTurnSpent()) await nextTurn()
}

/** Makes something of each item of a list; other work goes on in between. */
export async function mapInTurns<Item, Made>(list: readonly Item[], make: (item: Item) => Made): Promise<Made[]> {
  const made: Made[] = []
  for (const item of list) {
    if (isTurnSpent()) await nextTurn()
    made.push(make(item))
  }
  return made
}

function openTurn(): void {
  turn = { began: steady(), cpu: threadCpuMs() }
  plan()
}

function plan(): void {
  if (isPlanned) return
  isPlanned = true
  setImmediate(begin)
}

function begin(): void {
  isPlanned = false
  turn = null
  counted = 0
  if (waiting.length === 0) return
  openTurn()
  resumeNext()
}

/** Resumes one piece of work, lets it run up to its next wait, and then the next while the share lasts. */
function resumeNext(): void {
  if (waiting.length === 0 || isWorkSpent() || isTurnSpent()) return
  waiting.shift()?.()
  // What was resumed runs in microtasks, and `nextTick` callbacks begin when none is left.
  queueMicrotask(() => process.nextTick(resumeNext))
}
