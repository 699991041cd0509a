/** Statements on conversations and their entries. A key is the conversation's number times 2^20, plus the seq. */

const conversationColumns = `
select number, database, id, agent, created_by, created_at, last_message_at, last_seq, parameters, max_iterations
from conversations`

/** Statements on conversations and entries. Parameters are numbered, `?1` being the first. */
export const logSql = {
  /** What an append must know of its conversation, with the job that is live in it. */
  readHead: `
select c.number, c.last_seq, c.last_message_at, c.job_count, c.live_job,
  j.key, j.id, j.status, j.owner, j.epoch, j.lease_until, j.wake, j.attempts, j.started_at, j.ended_at, j.first_seq,
  j.result
from conversations c left join jobs j on j.key = c.live_job
where c.database = ?1 and c.id = ?2`,
  lastConversationNumber: 'select coalesce(max(number), 0) as number from conversations',
  insertConversation: `
insert into conversations (number, database, id, agent, created_by, created_at, last_message_at, last_seq, job_count,
  live_job, parameters, max_iterations)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)`,
  updateHead: `
update conversations set last_seq = ?2, last_message_at = ?3, job_count = ?4, live_job = ?5 where number = ?1`,
  insertEntry: 'insert into entries (key, text) values (?1, ?2)',
  readEntries: `
select e.key & 1048575 as seq, e.text
from conversations c join entries e on e.key > c.number * 1048576 + ?3 and e.key < (c.number + 1) * 1048576
where c.database = ?1 and c.id = ?2
order by e.key
limit ?4`,
  getConversation: `${conversationColumns} where database = ?1 and id = ?2`,
  listConversations: `${conversationColumns}
where database = ?1 and number < ?2 and (?3 is null or agent = ?3) and (?4 is null or created_by = ?4)
order by number desc
limit ?5`,
  findConversation: 'select number from conversations where database = ?1 and id = ?2',
  /** Everything of one conversation, by its number. */
  deleteConversation: [
    'delete from entries where key >= ?1 * 1048576 and key < (?1 + 1) * 1048576',
    'delete from jobs where key >= ?1 * 1048576 and key < (?1 + 1) * 1048576',
    'delete from interruptions where conversation = ?1',
    'delete from conversations where number = ?1',
  ],
} as const
