/** Statements on interruptions. */

const columns = `
select i.number, i.database, c.id as conversation, i.id, i.job, i.call, i.state, i.view, i.bound, i.terms, i.answer,
  i.answered_by, i.created_at, i.expires_at, i.settled_at
from interruptions i join conversations c on c.number = i.conversation`

/** Statements on interruptions. Parameters are numbered, `?1` being the first. */
export const interruptionSql = {
  getInterruption: `${columns} where i.database = ?1 and i.id = ?2`,
  interruptionState: 'select conversation, state from interruptions where database = ?1 and id = ?2',
  findInterruption: 'select number from interruptions where database = ?1 and id = ?2',
  insertInterruption: `
insert into interruptions (database, id, conversation, job, call, addressee, state, view, bound, terms, answer, answered_by,
  created_at, expires_at, settled_at)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)`,
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
  /** The addressees are a JSON array. */
  listInterruptionsFor: `${columns}
where i.database = ?1 and i.number > ?2 and i.addressee in (select value from json_each(?6))
  and (?4 is null or i.state = ?4) and (?5 is null or c.id = ?5)
order by i.number
limit ?3`,
  readInterruptions: `${columns} where i.conversation = ?1 order by i.number`,
  dueInterruptions: `${columns}
where i.state = 'open' and i.expires_at is not null and i.expires_at <= ?1
order by i.expires_at, i.number
limit ?2`,
} as const
