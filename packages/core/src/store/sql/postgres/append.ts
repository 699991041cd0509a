/**
 * Statements of a group of appends: all reads under lock, then all writes, each for all members at once. `$1` is the database. JSON
 * texts are joined into one value, one per line, because JSON contains no line feed.
 */
import { clock } from './clock.ts'
import { jobColumns } from './jobs.ts'
import { changedColumns, dropLive, putEnded, putLive, setDue } from './live-jobs.ts'

const lines = (parameter: string) => `string_to_array(${parameter}, E'\\n')`

/**
 * The reads before a group is decided. Every transaction locks principals, conversations, jobs, interruptions, replies in this order,
 * each by id.
 */
export const readSql = {
  /**
   * Until the transaction ends, nobody else decides on the runs of these principals. They share 128 locks of their database: a server
   * has room for few in one transaction. The statements behind it see what was stored before it got them.
   */
  lockPrincipals: `
select pg_advisory_xact_lock(hashtext('{s} runs of ' || $1::text), k.key) from (
  select distinct hashtext(n.id) & 127 as key from unnest($2::text[]) as n (id) order by key) k`,
  /** How many runs of each are live, counted up to its limit. */
  countLiveRuns: `
select n.id, (
  select count(*) from (
    select 1 from {s}.live_jobs l where l.database = $1 and l.kind = 'run' and l.maker = n.id limit n.most) q) as live
from unnest($2::text[], $3::bigint[]) as n (id, most)`,
  lockConversations: `
select c.id, c.last_seq, c.last_message_at, c.expires_at from {s}.conversations c
where c.database = $1 and c.id = any($2)
order by c.id for update`,
  /** The jobs with these ids, and the live runs of these conversations. */
  lockJobs: `
select ${jobColumns} from {s}.jobs j
where j.database = $1 and j.id = any($2::text[] || array(
  select l.id from {s}.live_jobs l where l.database = $1 and l.conversation = any($3) and l.kind = 'run'))
order by j.id for update`,
  lockNamedJobs: `
select ${jobColumns} from {s}.jobs j where j.database = $1 and j.id = any($2) order by j.id for update`,
  lockInterruptions: `
select i.id, i.conversation, i.state from {s}.interruptions i
where i.database = $1 and i.id = any($2) order by i.id for update`,
  /**
   * Pending replies with these keys and without a note. A request that begins a reply under such a key waits for this transaction. A
   * reply begun meanwhile is seen, since PostgreSQL reads a row again after waiting for its lock.
   */
  lockReplies: `
select r.key, r.at from {s}.replies r
where r.database = $1 and r.key = any($2) and r.status is null and r.note is null
order by r.key for update`,
  /** What keeps an expired conversation: the number of live jobs, and until when it can be answered (-1: nothing open). */
  readKeepers: `
select c.id,
  (select count(*) from {s}.live_jobs l where l.database = c.database and l.conversation = c.id) as live,
  (select array_agg(i.id) from {s}.interruptions i where i.database = c.database and i.conversation = c.id
    and i.state = 'open' and (i.expires_at is null or i.expires_at > ${clock})) as open
from {s}.conversations c where c.database = $1 and c.id = any($2)`,
  readParameters: 'select id, parameters from {s}.conversations where database = $1 and id = any($2)',
  /** The mark that a group without a commit reply left, if it was stored. */
  readEvidence: 'select text from {s}.entries where database = $1 and conversation = $2 and seq = $3',
  /** What members follow. */
  readFollowed: `
select e.conversation, e.seq, e.text from unnest($2::text[], $3::bigint[]) as n (conversation, seq)
join {s}.entries e on e.database = $1 and e.conversation = n.conversation and e.seq = n.seq`,
  readMark: 'select id from {s}.marks where database = $1 and id = $2',
} as const

/** The writes of a group. */
export const writeSql = {
  insertConversations: `
insert into {s}.conversations (database, id, agent, created_by, created_at, last_message_at, last_seq, parameters,
  max_iterations, expires_at)
select $1, n.id, n.agent, n.created_by, n.created_at, n.last_message_at, n.last_seq, n.parameters, n.max_iterations,
  n.expires_at
from unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], ${lines('$8')},
  $9::bigint[], $10::bigint[]) with ordinality as n (id, agent, created_by, created_at, last_message_at, last_seq,
  parameters, max_iterations, expires_at, place)
order by n.place`,
  updateConversations: `
update {s}.conversations c set last_seq = n.last_seq, last_message_at = n.last_message_at
from unnest($2::text[], $3::bigint[], $4::bigint[]) as n (id, last_seq, last_message_at)
where c.database = $1 and c.id = n.id`,
  updateParameters: `
update {s}.conversations c set parameters = n.parameters
from unnest($2::text[], ${lines('$3')}) as n (id, parameters) where c.database = $1 and c.id = n.id`,
  insertEntries: `
insert into {s}.entries (database, conversation, seq, text)
select $1, n.conversation, n.seq, n.text from unnest($2::text[], $3::bigint[], ${lines('$4')}) as n (conversation, seq, text)`,
  insertJobs: `
with changed as (
insert into {s}.jobs as j (database, id, conversation, kind, status, owner, epoch, lease_until, wake, attempts, created_at,
  started_at, ended_at, first_seq, about, result, changed_at, maker)
select $1, n.id, n.conversation, n.kind, n.status, n.owner, n.epoch, n.lease_until, n.wake, n.attempts, n.created_at,
  n.started_at, n.ended_at, n.first_seq, n.about, n.result, n.changed_at,
  (select c.created_by from {s}.conversations c where c.database = $1 and c.id = n.conversation)
from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::boolean[],
  $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], ${lines('$15')}, ${lines('$16')}, $17::bigint[])
  with ordinality as n (id, conversation, kind, status, owner, epoch, lease_until, wake, attempts, created_at,
  started_at, ended_at, first_seq, about, result, changed_at, place)
order by n.place
returning ${changedColumns}
), live as (${putLive})
${putEnded}`,
  updateJobs: `
with changed as (
update {s}.jobs j
set status = n.status, owner = n.owner, epoch = n.epoch, lease_until = n.lease_until, wake = n.wake,
  attempts = n.attempts, started_at = n.started_at, ended_at = n.ended_at, result = n.result, changed_at = n.changed_at
from unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::boolean[], $8::bigint[], $9::bigint[],
  $10::bigint[], ${lines('$11')}, $12::bigint[]) as n (id, status, owner, epoch, lease_until, wake, attempts, started_at, ended_at,
  result, changed_at)
where j.database = $1 and j.id = n.id
returning ${changedColumns}
), due as (${setDue}
), live as (${dropLive})
${putEnded}`,
  insertInterruptions: `
insert into {s}.interruptions (database, id, conversation, job, call, state, addressee, answered_by, created_at,
  expires_at, settled_at, view, bound, terms, answer)
select $1, n.id, n.conversation, n.job, n.call, n.state, n.addressee, n.answered_by, n.created_at, n.expires_at,
  n.settled_at, n.view, n.bound, n.terms, n.answer
from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[],
  $10::bigint[], $11::bigint[], ${lines('$12')}, ${lines('$13')}, ${lines('$14')}, ${lines('$15')})
  with ordinality as n (id, conversation, job, call, state, addressee, answered_by, created_at, expires_at, settled_at,
  view, bound, terms, answer, place)
order by n.place`,
  settleInterruptions: `
update {s}.interruptions i
set state = n.state, answered_by = n.answered_by, settled_at = n.settled_at, answer = n.answer
from unnest($2::text[], $3::text[], $4::text[], $5::bigint[], ${lines('$6')}) as n (id, state, answered_by, settled_at, answer)
where i.database = $1 and i.id = n.id`,
  noteReplies: `
update {s}.replies r set note = n.note from unnest($2::text[], $3::text[]) as n (key, note)
where r.database = $1 and r.key = n.key`,
  /** A write that changes nothing else, in the database of the transaction. */
  confirm: `
insert into {s}.marks (database, id, at) values (current_setting('witan.database'), gen_random_uuid()::text, ${clock})`,
  insertMark: 'insert into {s}.marks (database, id, at) values ($1, $2, $3)',
  sweepMarks: `
delete from {s}.marks where database = $1 and id in (
  select id from {s}.marks where database = $1 and at < $2 order by at limit 10 for update skip locked)`,
} as const
