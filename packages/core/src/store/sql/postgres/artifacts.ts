/** Statements on the index of artifacts. `$1` is the database. */
import { mostPlaces } from '../../artifact-records.ts'
import { isOver } from './clock.ts'

const found = `
select a.conversation, e.seq, e.text from {s}.artifacts a
join {s}.conversations c on c.database = a.database and c.id = a.conversation
join {s}.entries e on e.database = a.database and e.conversation = a.conversation and e.seq = a.seq`

/** Statements on the index of artifacts. */
export const artifactSql = {
  insertArtifacts: `
insert into {s}.artifacts (database, conversation, seq, id, run, agent)
select $1, n.conversation, n.seq, n.id, n.run, n.agent
from unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[]) as n (conversation, seq, id, run, agent)
on conflict do nothing`,
  /** The place of an artifact in its conversation, for a cursor. */
  artifactPlace: 'select seq from {s}.artifacts where database = $1 and conversation = $2 and id = $3',
  listArtifacts: `${found}
where a.database = $1 and a.conversation = $2 and a.seq > $3 and ($4::text is null or a.run = $4)
  and ($5::text is null or a.agent = $5) and not ${isOver}
order by a.seq limit $6`,
  findArtifact: `${found}
where a.database = $1 and a.id = $2 and not ${isOver}
order by c.created_at, c.number limit ${mostPlaces}`,
  /** Of the conversations `$2`. */
  deleteArtifacts: 'delete from {s}.artifacts where database = $1 and conversation = any($2)',
} as const
