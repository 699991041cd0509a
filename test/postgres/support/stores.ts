/** Stores for tests, each test with a schema and roles of its own, so that tests that run at once never meet. */
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import pg from 'pg'
import { postgresStore, type Store } from '@witan/core'
import { testServer } from './server.ts'

/** A schema of its own, dropped with its roles when the test is over. */
export async function freshSchema(context: TestContext, url?: string): Promise<{ url: string; schema: string }> {
  const at = url ?? (await testServer())
  const schema = `t_${randomBytes(8).toString('hex')}`
  context.after(() => drop(at, schema))
  return { url: at, schema }
}

/** Schemas that were given back, by server. */
const clean = new Map<string, string[]>()

/** A schema with nothing in it, which the test gives back: on a server of our own, or this one, it is emptied and used again, which is faster. */
export async function emptySchema(context: TestContext, server?: string): Promise<{ url: string; schema: string }> {
  const isOurs = server !== undefined || (process.env.WITAN_TEST_POSTGRES ?? '') === ''
  if (!isOurs) return freshSchema(context)
  const url = server ?? (await testServer())
  const given = clean.get(url) ?? []
  clean.set(url, given)
  const known = given.pop()
  const schema = known ?? `t_${randomBytes(8).toString('hex')}`
  context.after(() => given.push(schema))
  if (known !== undefined) await empty(url, schema)
  return { url, schema }
}

/** Row by row, in any order: a truncation makes new files for each table and index, which takes ten times as long. */
async function empty(url: string, schema: string): Promise<void> {
  await asAdmin(url, async (client) => {
    const sql = "select tablename from pg_tables where schemaname = $1 and tablename <> 'schema_version'"
    const { rows } = await client.query(sql, [schema])
    const deletions = rows.map(({ tablename }) => `delete from "${schema}".${tablename}`)
    await client.query(['set session_replication_role = replica', ...deletions].join('; '))
  })
}

/** Runs statements as the administrator. */
export async function asAdmin<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function drop(url: string, schema: string): Promise<void> {
  await asAdmin(url, async (client) => {
    await client.query('set client_min_messages = error')
    await client.query(`drop schema if exists "${schema}" cascade`)
    for (const role of [`${schema}_app`, `${schema}_worker`]) await client.query(`drop role if exists "${role}"`)
  })
}

/** An open store on a schema of its own; what it is given goes before the defaults. */
export async function openStore(
  context: TestContext,
  options: Partial<Parameters<typeof postgresStore>[0]> = {},
): Promise<Store> {
  const at = options.schema === undefined ? await emptySchema(context, options.url) : {}
  const store = postgresStore({ url: await testServer(), ...at, ...options })
  await store.open()
  context.after(() => store.close())
  return store
}
