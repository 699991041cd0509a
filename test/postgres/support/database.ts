/** A database of its own on a PostgreSQL server, for one file of tests. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { testServer } from './server.ts'

/** A fresh database; `adminUrl` owns everything in it, `readerUrl` may only read what it was granted. */
export interface TestDatabase {
  readonly adminUrl: string
  readonly readerUrl: string
  readonly reader: string
  /** Runs statements as the owner. */
  execute(sql: string): Promise<Record<string, unknown>[]>
  drop(): Promise<void>
}

/** Makes the database, with this SQL run in it, and a role that may log in and nothing else. */
export async function createTestDatabase(sql: string): Promise<TestDatabase> {
  const server = await testServer()
  const name = `witan_test_${randomBytes(6).toString('hex')}`
  const reader = `${name}_reader`
  await once(server, `create database ${name}`)
  const adminUrl = withPath(server, name)
  const admin = new pg.Client({ connectionString: adminUrl })
  await admin.connect()
  await admin.query(`create role ${reader} login password 'secret-of-reader'`)
  await admin.query(sql)
  const readerUrl = new URL(adminUrl)
  readerUrl.username = reader
  readerUrl.password = 'secret-of-reader'
  return {
    adminUrl,
    readerUrl: readerUrl.href,
    reader,
    async execute(text) {
      const { rows } = await admin.query<Record<string, unknown>>(text)
      return rows
    },
    async drop() {
      await admin.end()
      await once(server, `drop database ${name} with (force)`)
      await once(server, `drop role ${reader}`)
    },
  }
}

async function once(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

function withPath(server: string, database: string): string {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}
