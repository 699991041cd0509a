/**
 * Translates a query for PostgreSQL: `$name` becomes `$1`, and positions in the server's errors map back to the original
 * text.
 */
import { placeholderNames, POSTGRES_LEXIS, possibleCalls, type QueryText } from '../query-text.ts'
import type { QueryMistake } from '../source.ts'

/** One statement with numbered parameters. */
export interface PostgresText {
  readonly statement: string
  /** The names of `$1`, `$2`, … */
  readonly names: readonly string[]
  /** Every name that the statement may call as a function. */
  readonly calls: readonly string[]
  /** The line and column, in the original text, of a character of `statement` as the server counts: code points from 1. */
  placeOf(position: number): { line: number; column: number }
}

/** Functions that affect more than rows, or that run SQL passed as text. The server is asked about all others. */
const EFFECTS = new RegExp(
  `^(?:${[
    'dblink(?:_\\w+)?|crosstab\\w*|connectby|xpath_table',
    '(?:query|cursor)_to_xml\\w*|ts_stat|ts_rewrite',
    'nextval|setval|set_config|setseed|loread|lowrite',
    'lo_(?:close|creat|create|export|from_bytea|get|import|lseek|lseek64|open|put|tell|tell64|truncate|truncate64|unlink)',
    'pg_(?:try_)?advisory_\\w+',
    'pg_(?:read|ls|file|logical|create|drop|copy|replication|wal_replay|stat_reset|stat_clear|stat_force)_\\w+|pg_stat_reset',
    'pg_(?:backup|start_backup|stop_backup|import|restore|clear|log|rotate|reload|switch|sync)_\\w+|pg_(?:start|stop)_backup',
    'pg_(?:terminate|cancel)_backend|pg_promote|pg_notify|pg_sleep(?:_for|_until)?|pg_stat_file|pg_export_snapshot',
    'pg_extension_config_dump|pg_nextoid|pg_prewarm|binary_upgrade_\\w+|brin_(?:de)?summarize_\\w+|gin_clean_pending_list',
  ].join('|')})$`,
)

/** Functions that PostgreSQL calls volatile, although they change nothing. */
export const HARMLESS: readonly string[] = [
  ...['random', 'random_normal', 'array_shuffle', 'array_sample', 'clock_timestamp', 'timeofday'],
  ...['gen_random_uuid', 'uuidv4', 'uuidv7', 'uuid_generate_v4', 'system', 'bernoulli', 'system_rows', 'system_time'],
  ...['pg_relation_size', 'pg_table_size', 'pg_indexes_size', 'pg_total_relation_size', 'pg_database_size'],
]

/** Replaces names by numbers, except in quotes and comments. `text` contains no mistakes. */
export function postgresText(sql: string, text: QueryText): PostgresText {
  const names = placeholderNames(text)
  const marks = text.placeholders.map(({ name, start, end }) => ({ start, end, mark: `$${names.indexOf(name) + 1}` }))
  let [statement, last] = ['', 0]
  for (const { start, end, mark } of marks) {
    statement += text.statement.slice(last, start) + mark
    last = end
  }
  statement += text.statement.slice(last)
  return {
    statement,
    names,
    calls: [...new Set(possibleCalls(sql, POSTGRES_LEXIS).map((call) => call.name))],
    placeOf(position) {
      const offset = [...statement].slice(0, position - 1).join('').length
      return placeAt(sql, text.start + offsetBefore(marks, offset))
    },
  }
}

/** The first function in the text that is known to affect more than rows. */
export function findEffect(sql: string): QueryMistake | undefined {
  const call = possibleCalls(sql, POSTGRES_LEXIS).find(({ name }) => EFFECTS.test(name))
  if (call === undefined) return undefined
  const { name, line, column } = call
  return { problem: 'not-read-only', detail: effectDetail(name), line, column }
}

/** Why a query is refused because of a function. */
export function effectDetail(name: string): string {
  return `A query may only read rows; the function \`${name.slice(0, 63)}\` is not allowed.`
}

/** Maps an offset in the numbered text to the offset in the text with names. */
function offsetBefore(
  marks: readonly { readonly start: number; readonly end: number; readonly mark: string }[],
  offset: number,
): number {
  let grown = 0
  for (const { start, end, mark } of marks) {
    if (offset < start + grown) break
    if (offset < start + grown + mark.length) return start
    grown += mark.length - (end - start)
  }
  return offset - grown
}

function placeAt(sql: string, offset: number): { line: number; column: number } {
  const before = sql.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}
