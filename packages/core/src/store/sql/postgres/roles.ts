/**
 * The two roles of the run time and the wall between databases (tenants) [D17]. `{app}` sees one database at a time, the one named
 * by the setting `witan.database`; `{worker}` looks table-wide at the few columns and rows that claiming and sweeping need.
 */
import { beginningTables, recordTables } from '../../record-tables.ts'
import { columnOf } from '../records.ts'
import { knowledgeRights } from './knowledge.ts'
import { tenantTables } from './schema.ts'

/** Creates a role without login. Concurrent calls do not conflict. */
export function createRole(role: string): string {
  const literal = role.replaceAll("'", "''")
  return `do $$ begin
  if not exists (select 1 from pg_roles where rolname = '${literal}') then
    create role "${role.replaceAll('"', '""')}" nologin nosuperuser nobypassrls;
  end if;
exception when duplicate_object or unique_violation then null;
end $$`
}

const tenant = `database = current_setting('witan.database', true)`

/** What is done to the rows of a record. */
const rightsOf = new Map(
  recordTables.map(({ name, latest, isDeleted }) => {
    const change = latest === undefined ? '' : `, update (${columnOf(latest)})`
    return [name, `select, insert${change}${isDeleted === true ? ', delete' : ''}`]
  }),
)

const walls = tenantTables.map(
  (table) => `
alter table {s}.${table} enable row level security;
alter table {s}.${table} force row level security;
drop policy if exists tenant on {s}.${table};
create policy tenant on {s}.${table} to {app} using (${tenant}) with check (${tenant});
grant ${rightsOf.get(table) ?? 'select, insert, update, delete'} on {s}.${table} to {app};`,
)

/** The worker's table-wide privileges: claim live jobs, see what is open or expired, and list the databases. */
const worker = `
drop policy if exists worker_looks on {s}.jobs;
create policy worker_looks on {s}.jobs for select to {worker} using (ended_at is null);
drop policy if exists worker_claims on {s}.jobs;
create policy worker_claims on {s}.jobs for update to {worker} using (ended_at is null) with check (ended_at is null);
grant select, update (status, owner, epoch, lease_until, wake, attempts, started_at) on {s}.jobs to {worker};
drop policy if exists worker_looks on {s}.live_jobs;
create policy worker_looks on {s}.live_jobs for select to {worker} using (true);
drop policy if exists worker_claims on {s}.live_jobs;
create policy worker_claims on {s}.live_jobs for update to {worker} using (true) with check (true);
grant select, update (due_at) on {s}.live_jobs to {worker};

drop policy if exists worker_looks on {s}.interruptions;
create policy worker_looks on {s}.interruptions for select to {worker} using (state = 'open');
grant select on {s}.interruptions to {worker};

drop policy if exists worker_looks on {s}.conversations;
create policy worker_looks on {s}.conversations for select to {worker} using (true);
grant select (database, id, number, expires_at, last_seq) on {s}.conversations to {worker};
drop policy if exists worker_looks on {s}.agent_revisions;
create policy worker_looks on {s}.agent_revisions for select to {worker} using (true);
grant select (database) on {s}.agent_revisions to {worker};
drop policy if exists worker_looks on {s}.replies;
create policy worker_looks on {s}.replies for select to {worker} using (true);
grant select (database) on {s}.replies to {worker};
${['memory_blocks', ...beginningTables]
  .map(
    (table) => `drop policy if exists worker_looks on {s}.${table};
create policy worker_looks on {s}.${table} for select to {worker} using (true);
grant select (database) on {s}.${table} to {worker};`,
  )
  .join('\n')}`

/** Selects the secrets that a transaction names. */
export const nameSecrets = "select set_config('witan.digests', $1, true)"

/** Who asks is known by the digest of a key, before there is a database. A transaction that names secrets reads their rows, no others. */
const secrets = recordTables.flatMap(({ name, secret }) =>
  secret === undefined
    ? []
    : `
drop policy if exists named on {s}.${name};
create policy named on {s}.${name} for select to {app}
using (${columnOf(secret)} = any (string_to_array(current_setting('witan.digests', true), ',')));`,
)

/** A role that may read all tables, such as one for reports, still does not see the key. */
const notificationKey = `
alter table {s}.notice_key enable row level security;
drop policy if exists worker_holds on {s}.notice_key;
create policy worker_holds on {s}.notice_key for select to {worker} using (true);
grant select on {s}.notice_key to {worker};`

/** Run after every migration: policies and rights of all tables, as this version wants them. */
export const rights = `
grant usage on schema {s} to {app}, {worker};
grant select on {s}.schema_version to {app}, {worker};
${walls.join('\n')}
${worker}
${secrets.join('')}
${knowledgeRights}
${notificationKey}`
