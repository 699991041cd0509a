/** Where a row's servers keep their things: a store of their own, and how the checker reads it in the end. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore, postgresStore, sqliteStore, type Store } from '@witan/core'
import { createTestDatabase } from '../../postgres/support/database.ts'

/** The stores of the matrix. `memory` is for rows without processes. */
export type LaneName = 'sqlite' | 'postgres' | 'memory'

/** A place for one row. */
export interface Lane {
  readonly name: LaneName
  readonly folder: string
  readonly storeUrl: string
  /** How many servers can share it. */
  readonly servers: 1 | 2
  /** Opens the store beside no server: on SQLite all of them must be gone. */
  openStore(): Promise<Store>
  /** Runs a statement as the owner of the database; PostgreSQL only. */
  execute(sql: string): Promise<unknown>
  close(): Promise<void>
}

/** Opens a fresh place. */
export async function openLane(name: LaneName): Promise<Lane> {
  const folder = mkdtempSync(join(tmpdir(), 'witan-faults-'))
  if (name === 'postgres') return postgresLane(folder)
  const file = join(folder, 'witan.db')
  return {
    name,
    folder,
    storeUrl: name === 'memory' ? 'memory:' : `file:${file}`,
    servers: 1,
    openStore: () => opened(name === 'memory' ? memoryStore() : sqliteStore({ file, synchronous: 'normal' })),
    execute: () => Promise.reject(new Error('only PostgreSQL is told statements')),
    close: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function postgresLane(folder: string): Promise<Lane> {
  const database = await createTestDatabase('select 1')
  return {
    name: 'postgres',
    folder,
    storeUrl: database.adminUrl,
    servers: 2,
    openStore: () => opened(postgresStore({ url: database.adminUrl })),
    execute: (sql) => database.execute(sql),
    async close() {
      await database.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A place on a server that is the caller's own. */
export async function openLaneAt(url: string): Promise<Lane> {
  const folder = mkdtempSync(join(tmpdir(), 'witan-faults-'))
  return {
    name: 'postgres',
    folder,
    storeUrl: url,
    servers: 2,
    openStore: () => opened(postgresStore({ url })),
    execute: () => Promise.reject(new Error('nobody tells this server statements')),
    close: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function opened(store: Store): Promise<Store> {
  await store.open()
  return store
}
