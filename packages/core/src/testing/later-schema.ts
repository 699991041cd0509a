/** Makes this process act as a later version that knows further migrations, to test upgrades. */
import { type Migration, migrations as postgres } from '../store/sql/postgres/schema.ts'
import { migrations as sqlite } from '../store/sql/schema.ts'

/** The further migrations. */
export interface LaterSchema {
  /** The number of migrations that only add a column to every table, and an index. Older versions keep working beside them. */
  readonly migrations: number
  /** Whether a last migration follows that no older version can work with. Default false. */
  readonly contracts?: boolean
}

/** The schema versions that this process creates, for SQLite and PostgreSQL. */
export function schemaVersions(): { readonly sqlite: number; readonly postgres: number } {
  return { sqlite: sqlite.length, postgres: postgres.length }
}

const tables = ['conversations', 'entries', 'jobs', 'interruptions', 'agents', 'agent_revisions', 'replies']

/** Adds these migrations permanently, for every store that this process opens from now on. */
export function learnLaterSchema({ migrations, contracts = false }: LaterSchema): void {
  const worksFrom = postgres.at(-1)?.worksFrom ?? 1
  for (let number = 1; number <= migrations; number += 1) {
    ;(postgres as Migration[]).push({ sql: expansion('{s}.', number), worksFrom })
    ;(sqlite as string[]).push(expansion('', number))
  }
  if (!contracts) return
  const sql = tables.map((table) => `alter table {s}.${table} drop column later_1`).join(';\n')
  ;(postgres as Migration[]).push({ sql, worksFrom: postgres.length + 1 })
}

function expansion(schema: string, number: number): string {
  const column = `column later_${number} text not null default 'unknown'`
  const columns = tables.map((table) => `alter table ${schema}${table} add ${column};`)
  const index = `create index jobs_later_${number} on ${schema}jobs (later_${number}) where ended_at is null;`
  return [...columns, index].join('\n')
}
