/** What differs between two agents, field by field. Pure. */
import { isDeepStrictEqual } from 'node:util'

/** One difference. `undefined` on a side: it is not there. */
export interface Change {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

/** Every difference, in the order of the fields. Lists of named things are compared by name, and their order is a difference too. */
export function changesBetween(before: unknown, after: unknown): readonly Change[] {
  const changes: Change[] = []
  compare({ path: '', before, after }, changes)
  return changes
}

function compare(change: Change, into: Change[]): void {
  const { path, before, after } = change
  if (isDeepStrictEqual(before, after)) return
  if (isRecord(before) && isRecord(after)) return compareFields(path, [before, after], into)
  const hasRecords = [before, after].some((list) => Array.isArray(list) && list.some(isRecord))
  const [was, is] = hasRecords ? [byName(before), byName(after)] : [null, null]
  if (was === null || is === null) {
    into.push(change)
    return
  }
  compareFields(path, [Object.fromEntries(was), Object.fromEntries(is)], into)
  const [first, second] = [orderOf(was, is), orderOf(is, was)]
  if (!isDeepStrictEqual(first, second)) into.push({ path: `${path} (order)`, before: first, after: second })
}

type Fields = Readonly<Record<string, unknown>>

function compareFields(path: string, [before, after]: readonly [Fields, Fields], into: Change[]): void {
  for (const key of new Set([...Object.keys(after), ...Object.keys(before)])) {
    const at = path === '' ? key : `${path}.${key}`
    compare({ path: at, before: own(before, key), after: own(after, key) }, into)
  }
}

function own(fields: Fields, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined
}

/** The items of a list by the name that identifies each. An item may be only a name. Null if they have no names. */
function byName(list: unknown): ReadonlyMap<string, unknown> | null {
  if (!Array.isArray(list)) return null
  const named = new Map<string, unknown>()
  for (const item of list as readonly unknown[]) {
    const name = isRecord(item) ? (item['agent'] ?? item['name'] ?? item['id'] ?? item['tool']) : item
    if (typeof name !== 'string' || named.has(name)) return null
    named.set(name, item)
  }
  return named
}

function orderOf(list: ReadonlyMap<string, unknown>, other: ReadonlyMap<string, unknown>): readonly string[] {
  return [...list.keys()].filter((name) => other.has(name))
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
