/** Counts what serial runs of three levels cost on a PostgreSQL server of our own. */
import { counts } from './counting.ts'
import pg from 'pg'
import { postgresStore } from '@witan/core'
import { startServer } from '../test/postgres/support/server.ts'
import { runOnce } from './measure.ts'
import { threeLevels } from './scenario.ts'
import type { Subject } from './subject.ts'
import { witanOn } from './witan.ts'

/** For each run. */
export interface RunCost {
  readonly statements: number
  readonly commits: number
  readonly roundTrips: number
  /** Bytes of the texts of its entries. */
  readonly texts: number
  /** Bytes of the write-ahead log by table, its indexes included; `all` and `rest` too. Pages are never written whole. */
  readonly log: Readonly<Record<string, number>>
  /** Updates of rows by table, and how many of them touched no index; of the runs that warm up too. */
  readonly updates: Readonly<Record<string, { readonly all: number; readonly hot: number }>>
}

const schema = 'cost'
const warmUp = 50

/** Makes this number of runs, one after the other. Some runs before them warm the process up. */
export async function runCost(runs: number): Promise<RunCost> {
  const server = await startServer()
  const admin = new pg.Client({ connectionString: server.url })
  await admin.connect()
  const subject = await witanOn(threeLevels, postgresStore({ url: server.url, schema }), { ms: 0 })
  try {
    await admin.query('alter system set full_page_writes = off')
    await admin.query('alter system set autovacuum = off')
    await admin.query('select pg_reload_conf()')
    await admin.query('create extension pg_walinspect')
    await repeat(subject, warmUp)
    const before = {
      ...counts,
      at: await position(admin),
      texts: await textsOf(admin),
    }
    await repeat(subject, runs)
    const { statements, commits, roundTrips } = counts
    const each = (after: number, from: number) => (after - from) / runs
    const log = await logOf(admin, [before.at, await position(admin)])
    const bytes = each(await textsOf(admin), before.texts)
    await subject.close()
    const updates = Object.entries(await updatesOf(admin)).map(([table, { all, hot }]) => {
      return [table, { all: all / (runs + warmUp), hot: hot / (runs + warmUp) }] as const
    })
    return {
      statements: each(statements, before.statements),
      commits: each(commits, before.commits),
      roundTrips: each(roundTrips, before.roundTrips),
      texts: bytes,
      log: Object.fromEntries(Object.entries(log).map(([table, size]) => [table, size / runs])),
      updates: Object.fromEntries(updates.filter(([, { all }]) => all > 0)),
    }
  } finally {
    await subject.close()
    await admin.end()
    await server.stop('fast')
  }
}

/** More than a second passes in the end, so that what is done once a second is counted. */
async function repeat(subject: Subject, runs: number): Promise<void> {
  for (let left = runs; left > 0; left -= 1) await runOnce(threeLevels, subject)
  await new Promise((resolve) => setTimeout(resolve, 2_500))
}

async function position(admin: pg.Client): Promise<string> {
  return (await admin.query<{ at: string }>('select pg_current_wal_insert_lsn() as at')).rows[0]?.at ?? ''
}

async function textsOf(admin: pg.Client): Promise<number> {
  const sql = `select sum(octet_length(text))::float8 as bytes from ${schema}.entries`
  return (await admin.query<{ bytes: number }>(sql)).rows[0]?.bytes ?? 0
}

async function logOf(admin: pg.Client, range: readonly [from: string, to: string]): Promise<Record<string, number>> {
  const sql = `
select coalesce(t.relname, c.relname, 'rest') as table, sum(i.record_length)::float8 as bytes
from pg_get_wal_records_info($1, $2) i
left join pg_class c on c.relfilenode = substring(i.block_ref from 'rel \\d+/\\d+/(\\d+)')::oid
  and c.relnamespace = '${schema}'::regnamespace
left join pg_index x on x.indexrelid = c.oid
left join pg_class t on t.oid = x.indrelid
group by 1 order by 2 desc`
  const { rows } = await admin.query<{ table: string; bytes: number }>(sql, [...range])
  const sizes = Object.fromEntries(rows.map(({ table, bytes }) => [table, bytes]))
  return { all: rows.reduce((sum, { bytes }) => sum + bytes, 0), ...sizes }
}

/** A server process has said what it did once it has ended. */
async function updatesOf(admin: pg.Client): Promise<RunCost['updates']> {
  const others = 'select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
  while (((await admin.query(others)).rowCount ?? 0) > 0) await new Promise((resolve) => setTimeout(resolve, 50))
  const sql = `select relname, n_tup_upd::float8 as all, n_tup_hot_upd::float8 as hot from pg_stat_user_tables where schemaname = $1`
  const { rows } = await admin.query<{ relname: string; all: number; hot: number }>(sql, [schema])
  return Object.fromEntries(rows.map(({ relname, all, hot }) => [relname, { all, hot }]))
}
