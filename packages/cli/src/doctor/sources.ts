/** Each source of queries: whether it can be read, and whether its role could write. */
import { createPostgresSource, createSqliteSource, type QuerySource } from '@witan/core'
import { type Config, type SourceConfig, sourceUrlOf } from '@witan/server'
import { plural } from '../tree/phrase.ts'
import { bad, type DoctorFinding, good, refused, warning } from './finding.ts'

const RIGHTS = `select current_setting('server_version') as version, current_user::text as role,
  (select rolsuper from pg_roles where rolname = current_user) as "isSuper",
  (select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname !~ '^pg_'
    and has_table_privilege(c.oid, 'insert, update, delete, truncate')) as writable`

/** Opens every source, reads once, and closes it. */
export async function lookAtSources(config: Config): Promise<DoctorFinding[]> {
  const entries = Object.entries(config.sources)
  return await Promise.all(entries.map(([name, source]) => lookAt(name, source, config)))
}

async function lookAt(name: string, config: SourceConfig, { env }: Config): Promise<DoctorFinding> {
  const area = `source ${name}`
  let source: QuerySource
  try {
    source =
      config.kind === 'sqlite'
        ? createSqliteSource({ file: config.file })
        : createPostgresSource({ url: sourceUrlOf(name, config.urlEnv, env), connectTimeoutMs: 3_000 })
  } catch (error) {
    return refused(area, error, `Correct sources.${name}.`)
  }
  try {
    return config.kind === 'sqlite'
      ? await lookAtFile(area, source, config.file)
      : await lookAtRole(area, source, config.urlEnv)
  } finally {
    await source.close()
  }
}

async function lookAtFile(area: string, source: QuerySource, file: string): Promise<DoctorFinding> {
  const answer = await read(source, 'select count(*) as tables from sqlite_schema')
  if (answer.ok) return good(area, `${file}, opened read-only`)
  return bad(area, `${answer.detail} (${file})`, 'Give the path of an SQLite file that this user may read.')
}

async function lookAtRole(area: string, source: QuerySource, variable: string): Promise<DoctorFinding> {
  const answer = await read(source, RIGHTS)
  if (!answer.ok) return bad(area, answer.detail, `Start the database, or correct ${variable}.`)
  const { version, role, isSuper, writable } = answer.rows[0] ?? {}
  const where = `PostgreSQL ${version}, role ${role}`
  const fix = 'Give it a role of its own: `create role … login`, and `grant select` on what the queries read.'
  if (isSuper === true) return warning(area, `${where} is a superuser; queries still cannot write.`, fix)
  if (Number(writable) > 0)
    return warning(area, `${where} could write ${plural(Number(writable), 'table')}; queries still cannot.`, fix)
  return good(area, `${where}, which can write no table`)
}

function read(source: QuerySource, sql: string) {
  return source.run({ sql, bindings: new Map() }, { signal: new AbortController().signal })
}
