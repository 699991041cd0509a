/**
 * Which jobs are live, when each is due, and in which order runs ended: rows beside those of the jobs, so that an update of a job changes no
 * column of an index. A statement that changes jobs changes these too.
 */

/** When a job can be claimed; null for never. */
const dueAt = 'case when c.owner is not null then c.lease_until when c.wake then 0 end'

/** The step of the schema that makes these tables. Earlier versions would change jobs without them, and cannot read the texts of entries from here on. */
export const liveJobs = `
create table if not exists {s}.live_jobs (
  database text collate "C" not null check (database <> ''),
  conversation text collate "C" not null,
  number bigint not null,
  id text collate "C" not null,
  kind text collate "C" not null,
  maker text collate "C",
  created_at bigint not null,
  due_at bigint,
  primary key (database, conversation, number)
) with (fillfactor = 80);
create index if not exists live_jobs_due on {s}.live_jobs (due_at, number) where due_at is not null;
create index if not exists live_jobs_tasks on {s}.live_jobs (database, created_at, id) where kind = 'task';
create table if not exists {s}.ended_runs (
  database text collate "C" not null check (database <> ''),
  maker text collate "C" not null,
  changed_at bigint not null,
  id text collate "C" not null,
  primary key (database, maker, changed_at, id)
);
alter table {s}.jobs no force row level security;
insert into {s}.live_jobs (database, conversation, number, id, kind, maker, created_at, due_at)
select c.database, c.conversation, c.number, c.id, c.kind, c.maker, c.created_at, ${dueAt} from {s}.jobs c where c.ended_at is null
on conflict do nothing;
insert into {s}.ended_runs (database, maker, changed_at, id)
select database, maker, changed_at, id from {s}.jobs where ended_at is not null and kind = 'run' and maker is not null
on conflict do nothing;
drop index if exists {s}.jobs_live;
drop index if exists {s}.jobs_live_tasks;
drop index if exists {s}.jobs_by_owner;
drop index if exists {s}.jobs_by_maker;
drop index if exists {s}.jobs_due_in_order;
alter table {s}.jobs drop column if exists due_at;
alter table {s}.jobs set (fillfactor = 50);
`

/** What these tables need of a job that a statement changed. */
export const changedColumns = `j.database, j.conversation, j.number, j.id, j.kind, j.owner, j.lease_until, j.wake, j.created_at, j.ended_at,
  j.changed_at, j.maker`

const isJob = 'l.database = c.database and l.conversation = c.conversation and l.number = c.number'

/** For the jobs `changed` that were inserted, with `changedColumns`. */
export const putLive = `
insert into {s}.live_jobs (database, conversation, number, id, kind, maker, created_at, due_at)
select c.database, c.conversation, c.number, c.id, c.kind, c.maker, c.created_at, ${dueAt} from changed c where c.ended_at is null`

/** For the jobs `changed` that are live. */
export const setDue = `
update {s}.live_jobs l set due_at = ${dueAt} from changed c where c.ended_at is null and ${isJob}
  and l.due_at is distinct from ${dueAt}`

/** For the jobs `changed` that have ended. */
export const dropLive = `delete from {s}.live_jobs l using changed c where c.ended_at is not null and ${isJob}`

/** For the runs `changed` that have ended. */
export const putEnded = `
insert into {s}.ended_runs (database, maker, changed_at, id)
select c.database, c.maker, c.changed_at, c.id from changed c where c.ended_at is not null and c.kind = 'run' and c.maker is not null`

/** For the jobs `changed` that were deleted. */
export const dropEnded = `
delete from {s}.ended_runs e using changed c
where e.database = c.database and e.maker = c.maker and e.changed_at = c.changed_at and e.id = c.id`
