/** The model calls of a log in its order, each with what stands around it. */
import type { Entry, NoticeBody } from '@witan/protocol/entries'
import type { ModelMessage } from '../../model/message.ts'
import type { ModelCallFilter } from '../reading-contract.ts'
import { type Asked, askedModels, endsModelCall } from './asked.ts'
import type { LoadedLog } from './loaded-log.ts'

/** A request that was made again, or of another model. */
interface Retry {
  readonly at: number
  readonly detail: string
}

/** One model call, and what its readers see beside it. */
export interface ModelCallRow extends Asked {
  readonly id: string
  readonly place: Entry['place']
  /** Counts the model calls of its agent's call from 1. */
  readonly number: number
  readonly retries: readonly Retry[]
  /** What the last model call of its document had read before; empty for none. */
  readonly before: readonly ModelMessage[]
  /** The text of the summary that it gave. */
  readonly summary: string
  /** When its agent's call was last heard of: a call under way began then. */
  readonly since: number
}

const retrying: readonly NoticeBody['code'][] = ['MODEL_RETRIED', 'MODEL_FALLBACK']

/** All that match, in the order of the log; those under way come last. The log is folded once, as far as the reader goes. */
export async function* modelCallRows(
  log: LoadedLog,
  filter: ModelCallFilter,
): AsyncGenerator<ModelCallRow, void, void> {
  const asked = await askedModels(log)
  const { entries } = log
  const numbers = new Map<string, number>()
  const retries = new Map<string, Retry[]>()
  const read = new Map<string, readonly ModelMessage[]>()
  const since = new Map<string, number>()
  const rowOf = (one: Asked, place: Entry['place'], index: number): ModelCallRow => {
    const { call } = place
    const number = 1 + (numbers.get(call) ?? 0)
    numbers.set(call, number)
    const isTold = one.made !== null
    const told = (isTold ? retries.get(call) : undefined) ?? []
    if (isTold) retries.delete(call)
    const before = read.get(place.document) ?? []
    if (one.made !== null) read.set(place.document, one.made.request.messages)
    const id = one.entry === null ? call : String(one.entry.seq)
    const summary = one.entry?.body.purpose === 'summary' ? summaryBehind(entries, index) : ''
    return { ...one, id, place, number, retries: told, before, summary, since: since.get(call) ?? 0 }
  }
  for (const [index, entry] of entries.entries()) {
    const { place, at, type, body } = entry
    since.set(place.call, at)
    if (place.parentCall !== null) since.set(place.parentCall, at)
    if (type === 'notice' && retrying.includes(body.code))
      retries.set(place.call, [...(retries.get(place.call) ?? []), { at, detail: body.detail }])
    if (!endsModelCall(entry)) continue
    const row = rowOf(await asked.ended(index), place, index)
    if (matches(place, filter)) yield row
  }
  for await (const one of asked.underWay()) {
    const place = one.call?.place
    if (place !== undefined && matches(place, filter)) yield rowOf(one, place, entries.length)
  }
}

function matches({ run, call, document }: Entry['place'], filter: ModelCallFilter): boolean {
  return (
    (filter.run === undefined || run === filter.run) &&
    (filter.call === undefined || call === filter.call) &&
    (filter.document === undefined || document === filter.document)
  )
}

/** The summary stands right behind the reply that holds what it cost. */
function summaryBehind(entries: readonly Entry[], index: number): string {
  const { call } = (entries[index] as Entry).place
  const next = entries.slice(index + 1, index + 1 + mostBehind).find(({ place }) => place.call === call)
  return next?.type === 'summary' ? next.body.text : ''
}

/** Others may record something between both. */
const mostBehind = 100
