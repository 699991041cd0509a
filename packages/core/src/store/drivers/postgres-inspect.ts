/** Looks at a PostgreSQL server in the way that a store takes to it, and makes and sets nothing there. */
import type { Client } from 'pg'
import { capacitySql, standbySql } from '../sql/postgres/inspect.ts'
import { migrations } from '../sql/postgres/schema.ts'
import { readSettings, type PostgresStoreOptions } from './postgres.ts'
import { clientConfig, connect, connectSession, type Pg, useParsers } from './postgres/connect.ts'
import { readSchema, unreachable } from './postgres/migrate.ts'
import { lookAtPeer } from './postgres/session-settings.ts'
import { createHistories } from './postgres/history.ts'
import type { ConnectionSettings } from './postgres/settings.ts'

/** A server that a store could be opened on. */
export interface StoreServerReport {
  /** The address, without password and options. */
  readonly address: string
  /** Of the schema: 0 if there is none yet, null if this user may not read it. */
  readonly version: number | null
  readonly knownVersion: number
  readonly connections: {
    /** How many one process takes at most. */
    readonly needed: number
    /** How many this user may open now, beside those that are open. */
    readonly free: number
  }
  /** The standbys that a commit waits for, and how many of them follow; null if it waits for none, or this user may not see it. */
  readonly standbys: { readonly needed: number; readonly following: number } | null
}

/** Connects as `open` of a store does. Throws what that would throw: `STORE_UNREACHABLE` or `SCHEMA_TOO_NEW`. */
export async function inspectStoreServer(options: PostgresStoreOptions): Promise<StoreServerReport> {
  const settings = { ...readSettings(options), observe: () => {}, histories: createHistories(() => {}) }
  const pg = (await import('pg')).default as unknown as Pg
  useParsers(pg.types)
  if (settings.isShared) await lookThroughPooler(pg, settings)
  const client = await connectSession(pg, settings).catch((error: unknown) => {
    throw unreachable(error, settings)
  })
  try {
    return await report(client, settings)
  } catch (error) {
    throw unreachable(error, settings)
  } finally {
    await client.end()
  }
}

async function lookThroughPooler(pg: Pg, settings: ConnectionSettings): Promise<void> {
  try {
    const client = await connect(pg, { way: settings.way, config: clientConfig(settings) }, lookAtPeer)
    await client.end()
  } catch (error) {
    throw unreachable(error, { listening: settings.way })
  }
}

async function report(client: Client, settings: ConnectionSettings): Promise<StoreServerReport> {
  const version = await readSchema(client, settings)
  const [capacity] = (await client.query<{ free: number }>(capacitySql)).rows
  const [waits] = (await client.query<{ names: string; following: number; hidden: number }>(standbySql)).rows
  const needed = waits === undefined || waits.hidden > 0 ? 0 : standbysIn(waits.names)
  return {
    address: settings.way.address.shown,
    version,
    knownVersion: migrations.length,
    connections: { needed: settings.poolSize + 1, free: capacity?.free ?? 0 },
    standbys: needed === 0 ? null : { needed, following: waits?.following ?? 0 },
  }
}

/** How many standbys `synchronous_standby_names` waits for: `a, b`, `FIRST 2 (a, b)`, `ANY 2 (a, b)` or `2 (a, b)`. */
function standbysIn(names: string): number {
  if (names.trim() === '') return 0
  return Number(/^\s*(?:(?:first|any)\s+)?(\d+)\s*\(/i.exec(names)?.[1] ?? 1)
}
