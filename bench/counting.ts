/** Counts what goes to a database, by standing in front of its driver: import this before anything that opens a store. */
import { DatabaseSync, StatementSync } from 'node:sqlite'
import pg from 'pg'

/** Since the start of the process. */
export interface Counts {
  statements: number
  commits: number
  /** How many times PostgreSQL was waited for: what is sent while a reply is awaited belongs to the same. */
  roundTrips: number
}

/** What was sent so far, by this process. */
export const counts: Counts = { statements: 0, commits: 0, roundTrips: 0 }

const texts = new WeakMap<StatementSync, string>()

function count(text: string): void {
  counts.statements += 1
  if (/^\s*commit/i.test(text)) counts.commits += 1
}

const { prepare, exec } = DatabaseSync.prototype
DatabaseSync.prototype.prepare = function (sql) {
  const statement = prepare.call(this, sql)
  texts.set(statement, sql)
  return statement
}
DatabaseSync.prototype.exec = function (sql) {
  count(sql)
  return exec.call(this, sql)
}
for (const method of ['run', 'get', 'all'] as const) {
  const original = StatementSync.prototype[method] as (...values: unknown[]) => unknown
  const counted = function (this: StatementSync, ...values: unknown[]) {
    count(texts.get(this) ?? '')
    return original.apply(this, values)
  }
  Object.assign(StatementSync.prototype, { [method]: counted })
}

const { query } = pg.Client.prototype
const awaited = new WeakMap<pg.Client, number>()
Object.assign(pg.Client.prototype, {
  query(this: pg.Client, ...given: unknown[]) {
    const [first] = given
    count(typeof first === 'string' ? first : ((first as { readonly text?: string }).text ?? ''))
    const before = awaited.get(this) ?? 0
    if (before === 0) counts.roundTrips += 1
    awaited.set(this, before + 1)
    const reply = (query as (...values: unknown[]) => unknown).apply(this, given)
    const replied = () => awaited.set(this, (awaited.get(this) ?? 1) - 1)
    if (reply instanceof Promise) reply.then(replied, replied)
    else replied()
    return reply
  },
})
