/** Statements on agents, their revisions, and remembered replies. The database comes first: `$1` is it. */

const columns = 'select r.database, r.id, r.revision, r.source, r.data, r.warnings, r.changed'

/** Statements on agents and revisions. */
export const agentSql = {
  listAgents: `${columns}, a.first_revision
from {s}.agents a join {s}.agent_revisions r on r.database = a.database and r.id = a.id and r.revision = a.revision
where a.database = $1
order by a.id`,
  listAgentIds: 'select distinct id from {s}.agent_revisions where database = $1',
  getAgentRevision: `${columns} from {s}.agent_revisions r where r.database = $1 and r.id = $2 and r.revision = $3`,
  lastAgentRevision: `
select coalesce(max(revision), 0) as revision from {s}.agent_revisions where database = $1 and id = $2`,
  lockAgents: 'select id, revision from {s}.agents where database = $1 and id = any($2) order by id for update',
  deleteAgent: 'delete from {s}.agents where database = $1 and id = $2',
  /** Fails for a concurrent second insert, whose writer then reads again. */
  insertAgent: 'insert into {s}.agents (database, id, revision, first_revision) values ($1, $2, $3, $3)',
  updateAgent: 'update {s}.agents set revision = $3 where database = $1 and id = $2',
  putAgentRevision: `
insert into {s}.agent_revisions (database, id, revision, source, data, warnings, changed) values ($1, $2, $3, $4, $5, $6, $7)
on conflict (database, id, revision) do update
set source = excluded.source, data = excluded.data, warnings = excluded.warnings, changed = excluded.changed`,
} as const

/** Statements on remembered replies. */
export const replySql = {
  /** Returns a row if the key is new, or its old row counts as removed. */
  beginReply: `
insert into {s}.replies as r (database, key, digest, at) values ($1, $2, $3, $4)
on conflict (database, key) do update
set digest = excluded.digest, at = excluded.at, status = null, body = null, note = null
where r.at < $5 or (r.status is null and r.note is null and r.at < $6 and r.digest = excluded.digest)
returning r.key`,
  getReply: 'select key, digest, status, body, note, at from {s}.replies where database = $1 and key = $2',
  finishReply: 'update {s}.replies set status = $4, body = $5 where database = $1 and key = $2 and at = $3',
  deleteReply: 'delete from {s}.replies where database = $1 and key = $2 and at = $3 and note is null',
  /** A few of the oldest at a time, so that no call is slow. Skips rows that another process sweeps. */
  sweepReplies: `
delete from {s}.replies where database = $1 and key in (
  select key from {s}.replies where database = $1 and at < $2 order by at limit 10 for update skip locked)`,
} as const
