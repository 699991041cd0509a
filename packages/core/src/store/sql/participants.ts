/** Statements on who takes part in conversations. */
import { isGone } from './log.ts'

const columns = 'p.user, p.name, p.roles, p.joined_at, p.left_at, p.position'

/** Statements on participants. Parameters are numbered, `?1` being the first. */
export const participantSql = {
  /** A person's position stays. */
  setParticipant: `
insert into participants (conversation, user, database, position, name, roles, joined_at, left_at)
values (?1, ?2, ?3, (select coalesce(max(position) + 1, 0) from participants where conversation = ?1), ?4, ?5, ?6, ?7)
on conflict (conversation, user) do update set name = ?4, roles = ?5, joined_at = ?6, left_at = ?7`,
  addParticipant: `
insert into participants (conversation, user, database, position, name, roles, joined_at, left_at)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
  /** A page of the people of a conversation that has not expired (`?5` is the time), behind the position `?3`. */
  listParticipants: `
select ${columns} from conversations c join participants p on p.conversation = c.number
where c.database = ?1 and c.id = ?2 and p.position > ?3 and not ${isGone('?5')}
order by p.position limit ?4`,
  getParticipant: `
select ${columns} from conversations c join participants p on p.conversation = c.number
where c.database = ?1 and c.id = ?2 and p.user = ?3 and not ${isGone('?4')}`,
  /** Whose the conversation `?2` is; `?3` is a person or null, `?4` the time. */
  readOwner: `
select c.id, c.agent, c.created_by, exists (select 1 from participants p
    where p.conversation = c.number and p.user = ?3 and p.left_at is null) as takes_part
from conversations c where c.database = ?1 and c.id = ?2 and not ${isGone('?4')}`,
  /** All people of the conversation with the number `?1`. */
  readParticipants: `select ${columns} from participants p where p.conversation = ?1 order by p.position`,
} as const
