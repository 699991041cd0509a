/**
 * Statements on conversations and their entries. A key is the number of the conversation times 2^20, plus the seq: so the last seq
 * is found without a search and is stored nowhere else, and an append touches one page less.
 */
import { beginningCharacters } from '../entry-text.ts'
import { beginningTables } from '../record-tables.ts'
import { conversationsOf } from './conversations-of.ts'
import { jobColumns, latestRun, liveTasks } from './jobs.ts'
import { usageSql } from './usage.ts'

const lastSeq = `(select coalesce(max(e.key) & 1048575, 0) from entries e
    where e.key >= c.number * 1048576 and e.key < (c.number + 1) * 1048576)`

const columns = `
select c.number, c.database, c.id, c.agent, c.created_by, c.created_at, c.last_message_at, ${lastSeq} as last_seq,
  c.parameters, c.max_iterations, c.expires_at`

/** Whether conversation `c` has expired, and has no live job and no interruption that can still be answered. */
export const isGone = (now: string) => `(c.expires_at is not null and c.expires_at <= ${now}
  and not exists (select 1 from jobs r where r.key = ${latestRun('c.number')} and r.ended_at is null)
  and not exists (select 1 from jobs t where ${liveTasks('c.number')})
  and not exists (select 1 from interruptions i
    where i.conversation = c.number and i.state = 'open' and (i.expires_at is null or i.expires_at > ${now})))`

const someUses = 'select content from content_uses where conversation = ?1 order by content limit ?2'

/** The conversation `?1` no longer refers to some content. What nobody else refers to is unused from now on. */
const releaseContents = [
  `
update contents set unused_since = 0
where number in (${someUses})
  and not exists (select 1 from content_uses o where o.content = contents.number and o.conversation <> ?1)`,
  `delete from content_uses where conversation = ?1 and content in (${someUses}) returning 1`,
]

/** Deletes `?2` rows of the number `?1` from a table whose keys begin with it. */
const deleteKeys = (table: string) => `
delete from ${table} where key in (
  select key from ${table} where key >= ?1 * 1048576 and key < (?1 + 1) * 1048576 limit ?2) returning 1`

/** The first words and the latest run of conversation `c`. */
const latest = `
  (select substr(e.text, 1, ${beginningCharacters}) from entries e where e.key = c.number * 1048576 + 1) as beginning,
  j.id as run_id, j.status as run_status, j.created_at as run_created_at, j.ended_at as run_ended_at, j.about as run_about`

/** Statements on conversations and entries. Parameters are numbered, `?1` being the first. */
export const logSql = {
  /** What an append must know of its conversation, with its latest run. */
  readHead: `
select c.number, ${lastSeq}, c.expires_at, ${jobColumns}, ${isGone('?3')}
from conversations c left join jobs j on j.key = ${latestRun('c.number')}
where c.database = ?1 and c.id = ?2`,
  lastConversationNumber: `
select max(coalesce((select max(number) from conversations), 0), coalesce((select max(number) from unlinked), 0)) as number`,
  insertConversation: `
insert into conversations (number, database, id, agent, created_by, created_at, last_message_at, parameters,
  max_iterations, expires_at)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)`,
  setLastMessageAt: 'update conversations set last_message_at = ?2 where number = ?1',
  readParameters: 'select parameters from conversations where number = ?1',
  setParameters: 'update conversations set parameters = ?2 where number = ?1',
  insertEntry: 'insert into entries (key, text) values (?1, ?2)',
  readEntries: `
select e.key & 1048575 as seq, e.text
from conversations c join entries e on e.key > c.number * 1048576 + ?3 and e.key < (c.number + 1) * 1048576
where c.database = ?1 and c.id = ?2
order by e.key
limit ?4`,
  getConversation: `${columns}
from conversations c where c.database = ?1 and c.id = ?2 and not ${isGone('?3')}`,
  /** By their numbers, the newest first, until a page is full: the `+` keeps the index by id from being read whole and sorted. */
  listConversations: `${columns}, ${latest}
from conversations c left join jobs j on j.key = ${latestRun('c.number')}
where +c.database = ?1 and c.number < ?2 and (?3 is null or c.agent = ?3) and not ${isGone('?5')}
order by c.number desc
limit ?4`,
  /** The same for those that `?6` created, or in which the person `?7` takes part. */
  listConversationsOf: `${columns}, ${latest}
from conversations c left join jobs j on j.key = ${latestRun('c.number')}
where c.number in (${conversationsOf('?6', '?7', '?2')}) and (?3 is null or c.agent = ?3) and not ${isGone('?5')}
order by c.number desc
limit ?4`,
  isGone: `select ${isGone('?2')} as gone from conversations c where c.number = ?1`,
  listDatabases: `
${['conversations', 'agent_revisions', 'replies', 'memory_blocks', ...beginningTables].map((table) => `select database from ${table}`).join(' union ')}
order by 1`,
  findState: `
select c.number, c.created_at, ${lastSeq} as last_seq from conversations c where c.database = ?1 and c.id = ?2`,
  findConversation: 'select number from conversations where database = ?1 and id = ?2',
  /** Expired conversations, the longest expired first. */
  goneConversations: `
select c.number, c.database, c.id from conversations c where ${isGone('?1')} order by c.expires_at, c.number limit ?2`,
  /** Takes the conversation `?1` from every reader: what is left belongs to no conversation, and none of it is live. */
  unlinkConversation: [
    `delete from jobs where ended_at is null
  and key in (select ${latestRun('?1')} union all select t.key from jobs t where ${liveTasks('?1')})`,
    `delete from interruptions where conversation = ?1 and state = 'open'`,
    usageSql.deleteUsage,
    'insert into unlinked (number) values (?1)',
    'delete from conversations where number = ?1',
  ],
  /** Each deletes `?2` rows of the number `?1`, which belong to no conversation; the last of its statements returns a row for each. */
  deleteRows: [
    releaseContents,
    [
      'delete from artifacts where conversation = ?1 and seq in (select seq from artifacts where conversation = ?1 limit ?2) returning 1',
    ],
    [deleteKeys('entries')],
    [deleteKeys('jobs')],
    [
      'delete from interruptions where number in (select number from interruptions where conversation = ?1 limit ?2) returning 1',
    ],
    [
      'delete from participants where conversation = ?1 and user in (select user from participants where conversation = ?1 limit ?2) returning 1',
    ],
  ],
  unlink: 'insert or ignore into unlinked (number) values (?1)',
  link: 'delete from unlinked where number = ?1',
  listUnlinked: 'select number from unlinked order by number',
} as const
