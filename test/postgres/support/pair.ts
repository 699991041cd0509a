/** A primary and the standby that follows it. */
import type { TestContext } from 'node:test'
import { startServer, type TestServer } from './server.ts'
import { asAdmin } from './stores.ts'

/** Two servers, each ended with the test. */
export interface Pair {
  readonly primary: TestServer
  readonly standby: TestServer
}

/** Starts a primary whose commits wait for its standby. */
export async function startPair(context: TestContext): Promise<Pair> {
  const primary = await startServer()
  context.after(() => primary.stop('immediate'))
  await primary.stop('fast')
  const standby = await startServer({ standbyOf: primary })
  context.after(() => standby.stop('immediate'))
  await primary.start()
  await asAdmin(primary.url, async (client) => {
    await client.query("alter system set synchronous_standby_names = 'standby'")
    await client.query('select pg_reload_conf()')
  })
  await repeat(primary.url, "select from pg_stat_replication where sync_state = 'sync'")
  return { primary, standby }
}

/** Makes the standby a primary. */
export async function promote({ url }: TestServer): Promise<void> {
  await asAdmin(url, (client) => client.query('select pg_promote()'))
}

/** Runs a statement again and again: until it returns a row, or until `over` settles. */
export async function repeat(url: string, sql: string, over?: Promise<unknown>): Promise<void> {
  const state = { isOver: false }
  void over?.finally(() => {
    state.isOver = true
  })
  await asAdmin(url, async (client) => {
    while (!state.isOver) {
      const { rows } = await client.query(sql)
      if (over === undefined && rows.length > 0) return
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })
}
