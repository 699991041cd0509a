/** Reads rows up to a bound, so that the server does not send what is not wanted. */
import type { ReadBound } from '../../../identity/row-page.ts'
import type { PostgresSession } from './session.ts'
import type { Row, Statement, Value } from './statements.ts'

/** A query, and those of its columns that may be long. */
interface LongRows {
  readonly database: string
  readonly query: Statement
  readonly long: readonly string[]
}

/** The rows of a query, up to a bound. */
export async function someRows(
  session: PostgresSession,
  { database, query, long }: LongRows,
  bound: ReadBound | undefined,
): Promise<readonly Row[]> {
  if (bound === undefined) return (await session.read(database, query))[0] ?? []
  const [rows = []] = await session.read(database, boundedQuery(query, long, bound))
  const last = rows.at(-1)
  const total = ((last?.before as number | null) ?? 0) + lengthOf(last, long)
  if (total >= bound.characters) bound.cut()
  return rows
}

/**
 * A query whose rows end at a bound. PostgreSQL adds up the lengths in the order of the rows: `octet_length` reads no long value from
 * its table. A query over a query keeps the order of the inner one, which has a limit.
 */
export function boundedQuery(
  [sql, ...values]: Statement,
  long: readonly string[],
  { characters }: Pick<ReadBound, 'characters'>,
): Statement {
  const length = long.map((name) => `octet_length(q.${name})`).join(' + ')
  const before = `sum(${length}) over (rows between unbounded preceding and 1 preceding)`
  const within = `select w.* from (select q.*, ${before} as before from (${sql}) q) w
where coalesce(w.before, 0) < $${values.length + 1}`
  const all: Value[] = [...values, characters]
  return [within, ...all]
}

function lengthOf(row: Row | undefined, long: readonly string[]): number {
  let length = 0
  for (const name of long) length += Buffer.byteLength((row?.[name] as string | undefined) ?? '')
  return length
}
