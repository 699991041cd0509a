/** Statements on interruptions. */

const columns = `
select i.number, i.database, c.id as conversation, i.id, i.job, i.call, i.state, i.view, i.bound, i.answer, i.answered_by,
  i.created_at, i.settled_at
from interruptions i join conversations c on c.number = i.conversation`

/** Statements on interruptions. Parameters are numbered, `?1` being the first. */
export const interruptionSql = {
  getInterruption: `${columns} where i.database = ?1 and i.id = ?2`,
  interruptionState: 'select state from interruptions where database = ?1 and id = ?2',
  findInterruption: 'select number from interruptions where database = ?1 and id = ?2',
  insertInterruption: `
insert into interruptions (database, id, conversation, job, call, state, view, bound, answer, answered_by, created_at,
  settled_at)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)`,
  settleInterruption: `
update interruptions set state = ?3, answer = ?4, answered_by = ?5, settled_at = ?6 where database = ?1 and id = ?2`,
  listInterruptions: `${columns}
where i.database = ?1 and i.number > ?2
order by i.number
limit ?3`,
  listInterruptionsByState: `${columns}
where i.database = ?1 and i.number > ?2 and i.state = ?4
order by i.number
limit ?3`,
  listInterruptionsOfConversation: `${columns}
where i.conversation = (select number from conversations where database = ?1 and id = ?5) and i.number > ?2
  and (?4 is null or i.state = ?4)
order by i.number
limit ?3`,
} as const
