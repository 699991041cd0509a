/** The folds of a log: each process that wrote to it folded what the others wrote some time later, and its entries say when. */
import type { Entry } from '@witan/protocol/entries'
import { type Pausable, runWithoutPause } from '../identity/pausable.ts'

/** How a model call ended: with a reply, or without one. */
export type ModelEntry = Entry & { readonly kind: 'model' }

/** One fold of a log, in the order in which its process folded the entries. */
export interface Fold {
  /** The indices of the entries. */
  readonly order: number[]
  /** How many of them a fork copied: they stand before it begins. */
  readonly copied: number
  /** The model calls of agents, by the number of entries that were folded before their requests. */
  readonly requests: Map<number, ModelEntry[]>
}

/** A fold while it is read from the log: the index up to which it has the entries of others, and the places of its own. */
interface OpenFold extends Fold {
  read: number
}

/** More entries than this are not folded for all processes together. */
const mostFolded = 20_000_000

/** The fold that wrote an entry, and the place of the entry in its order. */
export interface FoldPlace {
  readonly fold: Fold
  readonly place: number
}

/**
 * Which fold wrote each entry, by its index. Null if the log would have to be folded too often. A process that loaded the log goes on with the
 * fold of one that wrote no more by then: both have folded the same.
 */
export function foldsOf(entries: readonly Entry[], copied: number): readonly FoldPlace[] | null {
  return runWithoutPause(findingFolds(entries, copied))
}

/** How many entries are one piece of work. */
const pieceLength = 2_048

/** The same in pieces of work: a log may be long. */
export function* findingFolds(entries: readonly Entry[], copied: number): Pausable<readonly FoldPlace[] | null> {
  const names = yield* namesOf(entries)
  const last = new Map<string, number>()
  for (let index = copied; index < names.length; index += 1) last.set(names[index] as string, index)
  const home = begun(copied)
  const folds = new Map([['', home]])
  const wrote: FoldPlace[] = home.order.map((index) => ({ fold: home, place: index }))
  let count = 1
  for (let index = copied; index < entries.length; index += 1) {
    if (index % pieceLength === 0) yield
    const entry = entries[index] as Entry
    const name = names[index] as string
    const upTo = Math.min(entry.view?.upTo ?? 0, index)
    let fold = folds.get(name)
    if (fold === undefined) {
      const left = [...folds].find(([of, { read }]) => read <= upTo && (last.get(of) ?? -1) < upTo)
      if (left === undefined) count += 1
      else folds.delete(left[0])
      if (count > 2 && count * entries.length > mostFolded) return null
      fold = left?.[1] ?? begun(copied)
      folds.set(name, fold)
    }
    readOthers(fold, wrote, isProposed(entries, index) ? index : upTo)
    if (isOutcome(entry)) addRequest(fold, entry)
    wrote.push({ fold, place: fold.order.length })
    fold.order.push(index)
  }
  yield
  sortRequests(new Set(wrote.map(({ fold }) => fold)), yield* beginsOf(entries))
  return wrote
}

/** The name of the fold that wrote each entry. */
function* namesOf(entries: readonly Entry[]): Pausable<readonly string[]> {
  const byWriter = new Map<string, string>()
  const names: string[] = []
  for (const { view, job, epoch } of entries) {
    if (names.length % pieceLength === 0) yield
    const writer = `${job}/${epoch}`
    const name = view?.by ?? (epoch > 0 ? byWriter.get(writer) : undefined) ?? ''
    if (epoch > 0) byWriter.set(writer, name)
    names.push(name)
  }
  return names
}

function begun(copied: number): OpenFold {
  return { copied, order: Array.from({ length: copied }, (_, index) => index), requests: new Map(), read: copied }
}

function readOthers(fold: OpenFold, wrote: readonly FoldPlace[], upTo: number): void {
  for (; fold.read < upTo; fold.read += 1) if (wrote[fold.read]?.fold !== fold) fold.order.push(fold.read)
}

function addRequest({ order, requests }: Fold, entry: ModelEntry): void {
  const at = order.length - (entry.body.behind ?? 0)
  requests.set(at, [...(requests.get(at) ?? []), entry])
}

/** Those that stand at one place were asked in the order in which their calls began. */
function sortRequests(folds: Iterable<Fold>, begun: ReadonlyMap<string, number>): void {
  const beginOf = (one: ModelEntry) => begun.get(one.place.call) ?? 0
  for (const { requests } of folds)
    for (const asked of requests.values()) asked.sort((one, other) => beginOf(one) - beginOf(other))
}

/** Where each call begins. */
function* beginsOf(entries: readonly Entry[]): Pausable<ReadonlyMap<string, number>> {
  const begun = new Map<string, number>()
  for (const [index, { place, epoch }] of entries.entries()) {
    if (index % pieceLength === 0) yield
    if (epoch > 0 && !begun.has(place.call)) begun.set(place.call, index)
  }
  return begun
}

/** Whether an entry was folded only when it was stored, behind what others had stored by then: a command, or how a job parks or ends. */
function isProposed(entries: readonly Entry[], index: number): boolean {
  const { type, kind, epoch, place, job, appendNo, body } = entries[index] as Entry
  if (epoch === 0) return true
  if (type === 'task') return body.status === 'waiting'
  if (type === 'notice' && body.code === 'PROTOCOL_UNFINISHED') return true
  if (place.call === job && kind === 'agent' && type !== 'start') return true
  // A call that has control of a job ends together with it; a notice about its end stands before that.
  const isEnd = type === 'end' && kind === 'agent' && body.finishReason !== 'cancelled'
  if (!isEnd && (type !== 'notice' || body.code !== 'PLAN_UNFINISHED')) return false
  const next = entries[index + 1]
  const isLast = next?.job === job && next.epoch === epoch && next.appendNo === appendNo + 1
  return isLast && isProposed(entries, index + 1)
}

/** Whether an entry is how a model call of an agent ended that was made. */
function isOutcome(entry: Entry): entry is ModelEntry {
  return (
    entry.kind === 'model' && entry.body.purpose !== 'progress' && (entry.type === 'end' || entry.body.spent === true)
  )
}
