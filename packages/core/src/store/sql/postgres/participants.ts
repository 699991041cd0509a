/** Statements on who takes part in conversations. `$1` is the database. */
import { isOver } from './clock.ts'

const columns = 'p.person, p.name, p.roles, p.joined_at, p.left_at, p.position'

/** Statements on participants. */
export const participantSql = {
  /** The rows of people, of several conversations; a person's position stays. The conversations are locked, so nobody else counts. */
  setParticipants: `
insert into {s}.participants (database, conversation, person, position, number, name, roles, joined_at, left_at)
select $1, n.conversation, n.person, n.place + coalesce(m.position, 0), c.number, n.name, n.roles, n.joined_at, n.left_at
from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[])
  with ordinality as n (conversation, person, name, roles, joined_at, left_at, place)
join {s}.conversations c on c.database = $1 and c.id = n.conversation
left join (select p.conversation, max(p.position) as position from {s}.participants p
  where p.database = $1 and p.conversation = any($2) group by p.conversation) m on m.conversation = n.conversation
on conflict (database, conversation, person)
do update set name = excluded.name, roles = excluded.roles, joined_at = excluded.joined_at, left_at = excluded.left_at`,
  listParticipants: `
select ${columns} from {s}.conversations c
join {s}.participants p on p.database = c.database and p.conversation = c.id
where c.database = $1 and c.id = $2 and p.position > $3 and not ${isOver} order by p.position limit $4`,
  getParticipant: `
select ${columns} from {s}.conversations c
join {s}.participants p on p.database = c.database and p.conversation = c.id
where c.database = $1 and c.id = $2 and p.person = $3 and not ${isOver}`,
  /** Of the conversations `$2`; `$3` is a person, or null. */
  readOwners: `
select c.id, c.agent, c.created_by, exists (select from {s}.participants p
    where p.database = c.database and p.conversation = c.id and p.person = $3 and p.left_at is null) as takes_part
from {s}.conversations c where c.database = $1 and c.id = any($2) and not ${isOver}`,
  deleteParticipants: 'delete from {s}.participants where database = $1 and conversation = any($2)',
} as const
