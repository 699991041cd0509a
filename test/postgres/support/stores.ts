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

const clean: string[] = []

/** A schema with nothing in it, which the test gives back: on a server of our own it is emptied and used again, which is faster. */
export async function emptySchema(context: TestContext): Promise<{ url: string; schema: string }> {
  const url = await testServer()
  const isOurs = (process.env.WITAN_TEST_POSTGRES ?? '') === ''
  const known = isOurs ? clean.pop() : undefined
  if (!isOurs) return freshSchema(context)
  const schema = known ?? `t_${randomBytes(8).toString('hex')}`
  context.after(() => clean.push(schema))
  if (known !== undefined) await empty(url, schema)
  return { url, schema }
}

async function empty(url: string, schema: string): Promise<void> {
  await asAdmin(url, async (client) => {
    const sql = "select tablename from pg_tables where schemaname = $1 and tablename <> 'schema_version'"
    const { rows } = await client.query(sql, [schema])
    await client.query(`truncate ${rows.map(({ tablename }) => `"${schema}".${tablename}`).join(', ')}`)
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
  const at = options.schema === undefined ? await freshSchema(context, options.url) : {}
  const store = postgresStore({ url: await testServer(), ...at, ...options })
  await store.open()
  context.after(() => store.close())
  return store
}
