/** Statements on interruptions. */
import { conversationsOf } from './conversations-of.ts'

const columns = `
select i.number, i.database, c.id as conversation, i.id, i.job, i.call, i.state, i.view, i.bound, i.terms, i.answer,
  i.answered_by, i.created_at, i.expires_at, i.settled_at
from interruptions i join conversations c on c.number = i.conversation`

/** A condition on the addressee: it is in a JSON array; with `nobody` also rows without an addressee. */
const isFor = (addressees: string, nobody: string) =>
  `i.addressee in (select value from json_each(${addressees})) or (${nobody} and i.addressee is null)`

/** `?4` is the state, `?5` the conversation; `?6` are the addressees, `?7` says whether nobody is one; null for all. */
const filter = `(?4 is null or i.state = ?4) and (?5 is null or c.id = ?5) and (?6 is null or ${isFor('?6', '?7')})`

/** Those of conversations that `?8` created, or in which the person `?9` takes part. */
const isReached = `i.conversation in (${conversationsOf('?8', '?9')})`

/** The same, and those for the addressees `?10`; `?11` says whether nobody is one. */
const isSeen = `(${isFor('?10', '?11')} or ${isReached})`

/** Statements on interruptions. Parameters are numbered, `?1` being the first. */
export const interruptionSql = {
  getInterruption: `${columns} where i.database = ?1 and i.id = ?2`,
  interruptionState: `
select i.conversation, i.state from interruptions i join conversations c on c.number = i.conversation
where i.database = ?1 and i.id = ?2`,
  /** How many interruptions the conversation with this number has. */
  countInterruptions: 'select count(*) from interruptions where conversation = ?1',
  findInterruption: 'select number from interruptions where database = ?1 and id = ?2',
  /** It replaces one of its id that belongs to no conversation. */
  insertInterruption: `
insert or replace into interruptions (database, id, conversation, job, call, addressee, state, view, bound, terms, answer, answered_by,
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
  /** Found by their addressee. */
  listInterruptionsFor: `${columns}
where i.database = ?1 and i.number > ?2 and i.addressee in (select value from json_each(?6))
  and (?4 is null or i.state = ?4) and (?5 is null or c.id = ?5)
order by i.number
limit ?3`,
  /** Walks all from a number on, or all of a state, until a page is full. */
  listInterruptionsFiltered: `${columns} where i.database = ?1 and i.number > ?2 and ${filter} order by i.number limit ?3`,
  listInterruptionsSeen: `${columns}
where i.database = ?1 and i.number > ?2 and ${filter} and ${isSeen}
order by i.number
limit ?3`,
  listInterruptionsSeenByState: `${columns}
where i.database = ?1 and i.number > ?2 and i.state = ?4 and ${filter} and ${isSeen}
order by i.number
limit ?3`,
  /** Found by their conversation. */
  listInterruptionsReached: `${columns} where i.number > ?2 and ${filter} and ${isReached} order by i.number limit ?3`,
  /** One row for each. */
  openOnes: `
select 1 as one from interruptions i join conversations c on c.number = i.conversation
where i.database = ?1 and i.state = 'open' limit ?2`,
  numbersOf: 'select number from interruptions where conversation = ?1 order by number',
  dueInterruptions: `${columns}
where i.state = 'open' and i.expires_at is not null and i.expires_at <= ?1
order by i.expires_at, i.number
limit ?2`,
} as const
