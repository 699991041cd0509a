/** Ways in which what a server has stored goes back: a backup is restored, or a standby takes over that lacked commits. */
import { execFileSync } from 'node:child_process'
import type { Later } from '../../support/closers.ts'
import { promote, repeat } from './pair.ts'
import { startServer } from './server.ts'
import { asAdmin } from './stores.ts'

/** A server, at whatever address it is, that can go back to a moment. */
export interface ReturningServer {
  readonly url: string
  /** What is stored now is what `goBack` brings back. */
  mark(): Promise<void>
  goBack(): Promise<void>
}

/** Its data folder is copied, and later put in the place of the later one. */
async function restoredBackup(later: Later): Promise<ReturningServer> {
  const server = await startServer()
  later(() => server.stop('immediate'))
  const copy = `${server.data}.copy`
  return {
    url: server.url,
    async mark() {
      await server.stop('fast')
      execFileSync('cp', ['-a', server.data, copy])
      await server.start()
    },
    async goBack() {
      await server.stop('immediate')
      execFileSync('rm', ['-rf', server.data])
      execFileSync('cp', ['-a', copy, server.data])
      await server.start()
    },
  }
}

/** A standby that nobody waits for falls behind, and is made the primary. */
async function behindStandby(later: Later): Promise<ReturningServer> {
  const primary = await startServer()
  later(() => primary.stop('immediate'))
  await primary.stop('fast')
  const standby = await startServer({ standbyOf: primary })
  later(() => standby.stop('immediate'))
  await primary.start()
  return {
    url: `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres?target_session_attrs=read-write`,
    async mark() {
      await repeat(primary.url, 'select from pg_stat_replication where replay_lsn = pg_current_wal_lsn()')
      await standby.stop('fast')
    },
    async goBack() {
      await primary.stop('immediate')
      await standby.start()
      await promote(standby)
    },
  }
}

/** The tables are made again from a dump, on the server that runs. */
async function restoredDump(later: Later): Promise<ReturningServer> {
  const server = await startServer()
  later(() => server.stop('immediate'))
  const run = (sql: string) => asAdmin(server.url, (client) => client.query(sql))
  const tables = `select relname from pg_class where relkind = 'r' and relnamespace = 'witan'::regnamespace`
  const each = (sql: string) => `do $$ declare t text; begin for t in ${tables} loop ${sql} end loop; end $$`
  return {
    url: server.url,
    async mark() {
      await run(`create schema kept; ${each("execute format('create table kept.%1$I as table witan.%1$I', t);")}`)
    },
    async goBack() {
      const columns = `(select string_agg(quote_ident(attname), ', ') from pg_attribute
        where attrelid = ('witan.' || quote_ident(t))::regclass and attnum > 0 and not attisdropped and attgenerated = '')`
      const fill = `execute format('truncate witan.%1$I', t);
        execute format('insert into witan.%1$I (%2$s) overriding system value select %2$s from kept.%1$I', t, ${columns});`
      await run(each(fill))
    },
  }
}

export const waysBack = {
  'a backup is restored': restoredBackup,
  'a standby takes over that lacked commits': behindStandby,
  'a dump is restored on the server that runs': restoredDump,
} as const
