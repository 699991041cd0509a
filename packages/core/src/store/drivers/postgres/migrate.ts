/** Migrates a server's schema before the store opens, and checks that the runtime roles can be assumed. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { isWitanError, WitanError } from '@witan/protocol'
import { createRole, rights } from '../../sql/postgres/roles.ts'
import { keySql, migrations, usageVersion, versionTable } from '../../sql/postgres/schema.ts'
import { steady } from '../../../identity/clock.ts'
import type { ConnectionSettings } from './settings.ts'
import { inSchema, quoted } from './statements.ts'
import { hintAtServer, schemaTooNew, sqlState, textOf, troubleOf } from './error.ts'
import { countLogs } from './count-logs.ts'

/** The schema version of a server. */
interface Version {
  readonly version: number
  readonly worksFrom: number
}

const denied = '42501'
/** Of `set role`. */
const noSuchRole = '22023'
/** How long a migration gives way to other transactions, and the pause before it tries again. */
const giveWay = { forMs: 60_000, pauseMs: 100 }

/**
 * Migrates if necessary, in one transaction that only one process runs at a time. Throws `SCHEMA_TOO_NEW` if a newer version has made
 * the schema unusable for this one, and `STORE_UNREACHABLE` for any other reason.
 */
export async function migrate(client: Client, settings: ConnectionSettings): Promise<void> {
  try {
    const found = await readVersion(client, settings)
    assertNotTooNew(found, settings)
    if (found.version < migrations.length) await bringUpToDate(client, settings)
    await assertRoles(client, settings)
    await restoreKey(client, settings)
  } catch (error) {
    throw isWitanError(error) ? error : unreachable(error, settings)
  }
}

/** Reads the version; 0 if there is no schema. A user with only the runtime role reads it in that role. */
async function readVersion(client: Client, settings: ConnectionSettings): Promise<Version> {
  const sql = inSchema('select version, works_from from {s}.schema_version', settings.schema)
  const ask = async () => {
    const { rows } = await client.query(sql)
    return { version: rows[0]?.version ?? 0, worksFrom: rows[0]?.works_from ?? 0 }
  }
  try {
    return await ask()
  } catch (error) {
    const state = sqlState(error)
    if (state === '42P01' || state === '3F000') return { version: 0, worksFrom: 0 }
    if (state !== denied) throw error
    return asRole(client, settings.roles.app, ask)
  }
}

/** Whether the user may read the version of the schema as itself, as one that does not inherit the rights of its roles may not. */
export async function readsVersion(client: Client, { schema }: Pick<ConnectionSettings, 'schema'>): Promise<boolean> {
  try {
    await client.query(inSchema('select from {s}.schema_version', schema))
    return true
  } catch (error) {
    if (sqlState(error) !== denied) throw error
    return false
  }
}

/**
 * The version of the schema, 0 if there is none, null if this user may not read it. Nothing is made. Throws `SCHEMA_TOO_NEW` as a
 * migration would.
 */
export async function readSchema(client: Client, settings: ConnectionSettings): Promise<number | null> {
  try {
    const found = await readVersion(client, settings)
    assertNotTooNew(found, settings)
    return found.version
  } catch (error) {
    if (sqlState(error) === denied || sqlState(error) === noSuchRole) return null
    throw error
  }
}

/** The key that seals notifications, as now stored; null if it was lost. */
export async function readNotificationKey(
  client: Client,
  { schema, roles }: ConnectionSettings,
): Promise<Buffer | null> {
  const read = () => client.query<{ key: Buffer }>(inSchema(keySql.read, schema))
  return (await asRole(client, roles.worker, read)).rows[0]?.key ?? null
}

/** Creates a new key if it was lost and this user may. If not, the store works without notifications and reports why. */
async function restoreKey(client: Client, settings: ConnectionSettings): Promise<void> {
  if ((await readNotificationKey(client, settings)) !== null) return
  try {
    await client.query(inSchema(keySql.restore, settings.schema))
  } catch (error) {
    if (sqlState(error) !== denied) throw error
  }
}

async function asRole<Result>(client: Client, role: string, work: () => Promise<Result>): Promise<Result> {
  await client.query('begin')
  try {
    await client.query("select set_config('role', $1, true)", [role])
    return await work()
  } finally {
    await client.query('rollback')
  }
}

/**
 * Other processes may use the older schema, or migrate it themselves. If a lock takes too long, or in a deadlock, this migration
 * lets the other one finish and starts again.
 */
async function bringUpToDate(client: Client, settings: ConnectionSettings): Promise<void> {
  for (const from = steady(); ; await sleep(giveWay.pauseMs)) {
    try {
      return await migrateOnce(client, settings)
    } catch (error) {
      if (isWitanError(error) || troubleOf(error) !== 'conflict' || steady() - from > giveWay.forMs) throw error
    }
  }
}

async function migrateOnce(client: Client, settings: ConnectionSettings): Promise<void> {
  const { schema, roles } = settings
  const run = (sql: string) => {
    const named = sql.replaceAll('{app}', quoted(roles.app)).replaceAll('{worker}', quoted(roles.worker))
    return client.query(inSchema(named, schema))
  }
  await client.query('begin')
  try {
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`witan migration ${schema}`])
    await makeRoles(run, settings)
    await run('create schema if not exists {s}')
    await run(versionTable)
    // Every transaction reads it when it begins: those that are under way end first, and later ones see the new version.
    await run('lock table {s}.schema_version in access exclusive mode')
    const found = await readVersion(client, settings)
    assertNotTooNew(found, settings)
    for (const { sql } of migrations.slice(found.version)) await run(sql)
    if (found.version < usageVersion) await countLogs(client, schema)
    await run(rights)
    const worksFrom = migrations.at(-1)?.worksFrom ?? 0
    await run(`
insert into {s}.schema_version (version, works_from) values (${migrations.length}, ${worksFrom})
on conflict (only_row) do update set version = excluded.version, works_from = excluded.works_from
where schema_version.version < excluded.version`)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

/** The user of the URL must be able to assume both roles; a superuser always can. */
async function makeRoles(run: (sql: string) => Promise<unknown>, settings: ConnectionSettings) {
  const { roles } = settings
  try {
    for (const role of [roles.app, roles.worker]) await run(createRole(role))
    await run(`do $$ begin
  if not (select rolsuper from pg_roles where rolname = current_user) then
    execute format('grant {app}, {worker} to %I', current_user);
  end if;
exception when insufficient_privilege then null; -- an administrator may have granted them; that is looked at later
end $$`)
  } catch (error) {
    if (sqlState(error) !== denied) throw error
    throw roleError(settings, error)
  }
}

/** Assumes each role once, so that a missing privilege is reported at `open`. */
async function assertRoles(client: Client, settings: ConnectionSettings): Promise<void> {
  const { schema, roles } = settings
  for (const role of [roles.app, roles.worker]) {
    try {
      await asRole(client, role, () => client.query(inSchema('select from {s}.schema_version', schema)))
    } catch (error) {
      throw roleError(settings, error)
    }
  }
}

function roleError({ roles, listening }: ConnectionSettings, error: unknown): WitanError {
  const { user } = listening.address
  const [app, worker] = [quoted(roles.app), quoted(roles.worker)]
  const detail = `The PostgreSQL user \`${user}\` cannot act as the roles that keep tenants apart: ${textOf(error)}.`
  const make = `create role ${app} nologin; create role ${worker} nologin;`
  const hint = `Run once as an administrator, leaving out what exists: ${make} grant ${app}, ${worker} to ${quoted(user)};`
  return new WitanError('STORE_UNREACHABLE', detail, { hint, details: { sqlState: sqlState(error) } })
}

function assertNotTooNew({ worksFrom, version }: Version, { schema }: ConnectionSettings): void {
  if (worksFrom > migrations.length) throw schemaTooNew({ schema, has: `version ${version}`, known: migrations.length })
}

/** The server could not be used. No part of the error contains the password. */
export function unreachable(
  error: unknown,
  { listening: { address } }: Pick<ConnectionSettings, 'listening'>,
): WitanError {
  if (isWitanError(error)) return error
  const state = sqlState(error)
  const hint =
    hintAtServer(error) ??
    (state?.startsWith('28') === true
      ? 'Look at the user, the password and `pg_hba.conf`.'
      : state === '3D000'
        ? 'Make the database first: `createdb`.'
        : state === denied
          ? 'The user needs the right to create a schema in that database: `grant create on database … to …`.'
          : state === '55P03'
            ? 'Something holds a table of the schema for long: look for old transactions in `pg_stat_activity`.'
            : 'Check that the server runs, that the address is right, and that no firewall is between.')
  const detail = `PostgreSQL at \`${address.shown}\` cannot be used: ${textOf(error)}.`
  const details = { address: address.shown, ...(state === null ? {} : { sqlState: state }) }
  return new WitanError('STORE_UNREACHABLE', detail, { hint, cause: new Error(textOf(error)), details })
}
