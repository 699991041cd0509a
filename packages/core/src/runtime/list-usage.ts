/** What a database has used, as lists read it: sums of stored rows, within a range of days [T27]. */
import { WitanError } from '@witan/protocol'
import { roundCost, type Writable } from '@witan/protocol/entries'
import { type UsageDimension, usageDimensions, type UsageItem } from '@witan/protocol/schemas'
import { addSums, dayOf, emptySums } from '../store/usage-count.ts'
import type { UsageRow, UsageSums } from '../store/usage-records.ts'
import type { Page, UsageQuery } from './contract.ts'
import type { Scope } from './scope.ts'
import { limitOf } from './page.ts'

/** How many rows are read at once, and for one page. With more, the page ends early. */
const rowsAtOnce = 500
const rowsPerPage = 5000
const dayMs = 86_400_000

/** A page of usage, in the order of keys. A page may be short and still have a cursor. */
export async function listUsage({ parts, principal, database }: Scope, query: UsageQuery): Promise<Page<UsageItem>> {
  if (!principal.roles.some((role) => role === 'admin' || role === 'read'))
    throw new WitanError('NOT_FOUND', 'There is no usage here.', { hint: 'It is for the roles `admin` and `read`.' })
  const { by, cursor = null } = query
  if (!usageDimensions.includes(by))
    throw invalid('by', `\`by\` must be one of ${usageDimensions.join(', ')}.`, 'Name one of them.')
  const limit = limitOf(query)
  const days = rangeOf(query)
  const page: UnderWay = { by, limit, days, items: [], open: null, done: cursor }
  let after = by === 'day' ? { key: '', day: dayBefore(days.from, cursor) } : afterKey(cursor)
  for (let read = 0; read < rowsPerPage || page.done === cursor; read += rowsAtOnce) {
    const rows = await parts.store.listUsage(database, { by, after, limit: rowsAtOnce })
    if (addRows(page, rows)) return { items: page.items, nextCursor: page.done }
    const last = rows.at(-1)
    if (last === undefined || rows.length < rowsAtOnce || (by === 'day' && last.day > days.to)) {
      close(page)
      return { items: page.items, nextCursor: null }
    }
    after = last
  }
  return { items: page.items, nextCursor: page.done }
}

interface Days {
  readonly from: number
  readonly to: number
}

/** A page that is being read: `open` is the key whose rows may go on, `done` the last one before it. */
interface UnderWay {
  readonly by: UsageDimension
  readonly limit: number
  readonly days: Days
  readonly items: UsageItem[]
  open: { readonly key: string; sums: Writable<UsageSums> | null } | null
  done: string | null
}

/** Adds rows to the page; true if it is full, and another key follows. */
function addRows(page: UnderWay, rows: readonly UsageRow[]): boolean {
  for (const row of rows) {
    const key = page.by === 'day' ? isoDay(row.day) : row.key
    if (page.open?.key !== key) {
      close(page)
      if (page.items.length === page.limit) return true
      page.open = { key, sums: null }
    }
    const { open } = page
    if (open === null || row.day < page.days.from || row.day > page.days.to) continue
    open.sums ??= emptySums()
    addSums(open.sums, row)
  }
  return false
}

function close(page: UnderWay): void {
  const { open } = page
  if (open === null) return
  if (open.sums !== null) page.items.push(itemOf(open.key, open.sums))
  page.done = open.key
  page.open = null
}

/** A sum with an unknown part is unknown, as in the usage of a run. */
function itemOf(key: string, sums: UsageSums): UsageItem {
  const { cacheWriteTokens, costUsd, unpriced, incomplete, priceDate } = sums
  const { modelCalls, toolCalls, inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = sums
  return {
    key,
    modelCalls,
    toolCalls,
    inputTokens,
    outputTokens,
    cachedInputTokens,
    reasoningTokens,
    totalTokens: inputTokens + outputTokens,
    ...(cacheWriteTokens > 0 ? { cacheWriteTokens } : {}),
    costUsd: (modelCalls === 0 && inputTokens === 0) || unpriced > 0 ? null : roundCost(costUsd),
    ...(priceDate === null ? {} : { priceDate }),
    complete: incomplete === 0,
  }
}

function afterKey(cursor: string | null): { readonly key: string; readonly day: number } | null {
  return cursor === null ? null : { key: cursor, day: lastDay }
}

function dayBefore(from: number, cursor: string | null): number {
  if (cursor === null) return from - 1
  const at = readTime(cursor)
  if (at === null || !isDate(cursor)) throw invalid('cursor', '`cursor` is not from this list.', 'Begin without one.')
  return Math.max(from - 1, dayOf(at))
}

const firstDay = -1_000_000
const lastDay = 1_000_000
const isoDay = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10)
const isDate = (text: string): boolean => text.length === 10

function rangeOf({ from: first, to: last }: UsageQuery): Days {
  const from = first === undefined ? firstDay : dayOf(timeOf('from', first))
  const to = last === undefined ? lastDay : dayOf(timeOf('to', last) - (isDate(last) ? 0 : 1))
  if (from > to) throw invalid('from', `\`from\` is after \`to\`.`, 'Both days belong to the range.')
  return { from, to }
}

function timeOf(name: string, text: string): number {
  const at = readTime(text)
  if (at !== null) return at
  const hint = 'Write a day such as `2026-11-25`, or a time with its zone such as `2026-11-25T10:00:00Z`.'
  throw invalid(name, `\`${name}\` must be a date.`, hint)
}

/** A day of a calendar, or a time of one with its zone; null for anything else. */
function readTime(text: string): number | null {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/.test(text)) return null
  const at = Date.parse(text)
  const isReal =
    !Number.isNaN(at) && new Date(Date.parse(text.slice(0, 10))).toISOString().startsWith(text.slice(0, 10))
  return isReal ? at : null
}

function invalid(path: string, detail: string, hint: string): WitanError {
  return new WitanError('RUN_INPUT_INVALID', detail, { path, hint })
}
