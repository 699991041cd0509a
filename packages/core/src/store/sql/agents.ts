/** Statements on agents and their revisions. */

const columns = 'select r.database, r.id, r.revision, r.source, r.data, r.warnings, r.changed'

/** Statements on agents and revisions. Parameters are numbered, `?1` being the first. */
export const agentSql = {
  listCurrent: 'select id, revision, first_revision from agents where database = ?1 order by id',
  listAgentIds: 'select distinct id from agent_revisions where database = ?1 order by id',
  getAgentRevision: `${columns}
from agent_revisions r where r.database = ?1 and r.id = ?2 and r.revision = ?3`,
  lastAgentRevision: `
select coalesce(max(revision), 0) as revision from agent_revisions where database = ?1 and id = ?2`,
  currentRevision: 'select revision from agents where database = ?1 and id = ?2',
  deleteAgent: 'delete from agents where database = ?1 and id = ?2',
  putAgent: `
insert into agents (database, id, revision, first_revision) values (?1, ?2, ?3, ?3)
on conflict (database, id) do update set revision = excluded.revision`,
  putAgentRevision: `
insert into agent_revisions (database, id, revision, source, data, warnings, changed) values (?1, ?2, ?3, ?4, ?5, ?6, ?7)
on conflict (database, id, revision) do update
set source = excluded.source, data = excluded.data, warnings = excluded.warnings, changed = excluded.changed`,
} as const
