/**
 * Statements on jobs. A key is the number of the job's conversation times 2^20, plus 2^19 for a task, plus which run or task of the
 * conversation this is: so its latest run is found without a search.
 */
import { conversationsOf } from './conversations-of.ts'

/** The columns of a job in the order that every reader of jobs relies on. */
export const jobColumns = `j.key, j.id, j.kind, j.status, j.owner, j.epoch, j.lease_until, j.wake, j.attempts, j.created_at,
  j.started_at, j.ended_at, j.first_seq, j.about, j.result, j.changed_at`

/** The key of the latest run of the conversation with this number; no other run of it can be live. */
export const latestRun = (number: string) => `(select max(key) from jobs
    where key >= ${number} * 1048576 and key < ${number} * 1048576 + 524288)`

/** The live tasks of the conversation with this number. */
export const liveTasks = (number: string) =>
  `t.kind = 'task' and t.ended_at is null and t.key >= ${number} * 1048576 + 524288 and t.key < (${number} + 1) * 1048576`

/** Who created the conversation of the job with this key. */
const makerOf = (key: string) => `(select created_by from conversations where number = ${key} >> 20)`

const selectJob = `
select ${jobColumns}, j.database, c.id
from jobs j join conversations c on c.number = j.key >> 20`

const listTasks = (rule: string) => `${selectJob}
where j.database = ?1 and j.kind = 'task' and (j.created_at, j.id) < (?2, ?3)${rule}
order by j.created_at desc, j.id desc
limit ?4`

/** The same for the tasks of conversations that `?5` created, or in which the person `?6` takes part. */
const listTasksOf = (rule: string) => `${selectJob}
where j.key in (
  select t.key from (${conversationsOf('?5', '?6')}) v
  join jobs t on t.key >= v.number * 1048576 + 524288 and t.key < (v.number + 1) * 1048576
) and j.kind = 'task' and (j.created_at, j.id) < (?2, ?3)${rule}
order by j.created_at desc, j.id desc
limit ?4`

/** Runs that `?2` began: of the agents `?3`, of the conversation `?4`, in the status `?5`, live or ended by `?6`; null for all. `?7` is the least change. */
const wantedRuns = `j.database = ?1 and j.maker = ?2 and j.kind = 'run'
  and (?3 is null or c.agent in (select value from json_each(?3))) and (?4 is null or c.id = ?4)
  and (?5 is null or j.status = ?5) and (?6 is null or (j.ended_at is null) = ?6) and j.changed_at >= ?7`

/** The ended ones, behind the place `(?8, ?9)` and not behind `(?10, ?11)`. */
const byChange = `${wantedRuns} and j.ended_at is not null and (j.changed_at, j.id) < (?8, ?9) and (j.changed_at, j.id) >= (?10, ?11)`

/** The same of one conversation, by keys: from `?9`, and below `?8`. */
const byKey = `${wantedRuns} and j.key < ?8 and j.key >= ?9`

const isLive = ' and j.ended_at is null'
const isEnded = ' and j.ended_at is not null'

/** Statements on jobs. Parameters are numbered, `?1` being the first. */
export const jobSql = {
  getJob: `${selectJob} where j.database = ?1 and j.id = ?2`,
  findJob: 'select created_at from jobs where database = ?1 and id = ?2',
  /** The number of the conversation that has this job. */
  conversationOfJob: `
select c.number from jobs j join conversations c on c.number = j.key >> 20 where j.database = ?1 and j.id = ?2`,
  /** How many jobs the conversation with this number has. */
  countJobs: 'select count(*) from jobs where key >= ?1 * 1048576 and key < (?1 + 1) * 1048576',
  listJobs: `${selectJob}
where j.key >= ?1 * 1048576 and j.key < (?1 + 1) * 1048576
order by j.first_seq, j.key`,
  /** The keys of the same, in the same order. */
  keysOf: `
select j.key from jobs j where j.key >= ?1 * 1048576 and j.key < (?1 + 1) * 1048576 order by j.first_seq, j.key`,
  jobOfKey: `${selectJob} where j.key = ?1`,
  listLiveJobs: `${selectJob}
where j.ended_at is null and j.key in (select ${latestRun('?1')} union all select t.key from jobs t where ${liveTasks('?1')})
order by j.first_seq, j.key`,
  /** Runs of the conversation ?1 whose key is less than ?2, newest first. */
  listRuns: `${selectJob}
where j.key >= ?1 * 1048576 and j.key < ?2
order by j.key desc
limit ?3`,
  runKey: `select key from jobs where database = ?1 and id = ?2 and kind = 'run'`,
  listTasks: listTasks(''),
  listLiveTasks: listTasks(isLive),
  listEndedTasks: listTasks(isEnded),
  listTasksOf: listTasksOf(''),
  listLiveTasksOf: listTasksOf(isLive),
  listEndedTasksOf: listTasksOf(isEnded),
  /** The last of the ended runs that are looked at, of all that `?2` began behind the place `(?3, ?4)`. */
  lastLooked: `
select changed_at, id from jobs
where database = ?1 and maker = ?2 and kind = 'run' and ended_at is not null and (changed_at, id) < (?3, ?4)
order by changed_at desc, id desc limit 1 offset ?5 - 1`,
  /** The same of the runs of a conversation with keys from `?1` and below `?2`. */
  lastLookedIn:
    'select changed_at, id, key from jobs where key >= ?1 and key < ?2 order by key desc limit 1 offset ?3 - 1',
  listRunsOf: `${selectJob} where ${byChange} order by j.changed_at desc, j.id desc limit ?12`,
  /** The live ones behind the place `(?8, ?9)`, at a cost that does not grow with ended ones. */
  listLiveRunsOf: `
select ${jobColumns}, j.database, c.id
from jobs j indexed by live_jobs join conversations c on c.number = j.key >> 20
where j.ended_at is null and ${wantedRuns} and (j.changed_at, j.id) < (?8, ?9)
order by j.changed_at desc, j.id desc limit ?10`,
  listRunsIn: `${selectJob} where ${byKey} order by j.key desc limit ?10`,
  countLiveWanted: `
select count(*) as count from jobs j indexed by live_jobs join conversations c on c.number = j.key >> 20
where j.ended_at is null and ${wantedRuns}`,
  countRunsOf: `select count(*) as count from jobs j join conversations c on c.number = j.key >> 20 where ${byChange}`,
  countRunsIn: `select count(*) as count from jobs j join conversations c on c.number = j.key >> 20 where ${byKey}`,
  countLiveRunsOf: `
select count(*) as count from (
  select 1 from jobs j indexed by live_jobs join conversations c on c.number = j.key >> 20
  where j.ended_at is null and j.kind = 'run' and j.database = ?1 and c.created_by = ?2 limit ?3) v`,
  /** The keys of the latest run and the latest task of a conversation. */
  latestRun: `select ${latestRun('?1')}`,
  latestTask: 'select max(key) from jobs where key >= ?1 * 1048576 + 524288 and key < (?1 + 1) * 1048576',
  /** A new job with an owner, as nearly all have. It replaces one of its id that belongs to no conversation. */
  startJob: `
insert or replace into jobs (key, database, id, kind, status, owner, epoch, lease_until, wake, attempts, created_at, started_at,
  changed_at, first_seq, about, maker)
values (?1, ?2, ?3, ?4, 'running', ?5, 1, ?6, 0, 1, ?7, ?7, ?7, ?8, ?9, ${makerOf('?1')})`,
  insertJob: `
insert or replace into jobs (key, database, id, kind, status, owner, epoch, lease_until, wake, attempts, created_at, started_at, ended_at,
  first_seq, about, result, changed_at, maker)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, coalesce(?18, ${makerOf('?1')}))`,
  wakeJob: 'update jobs set wake = ?2 where key = ?1',
  /** When its status changed. Its place in lists moves with it. */
  moveJob: 'update jobs set changed_at = ?2 where key = ?1',
  restJob: 'update jobs set status = ?2, owner = null, ended_at = ?3, result = ?4, changed_at = ?5 where key = ?1',
  takeJob: `
update jobs
set status = ?2, owner = ?3, epoch = ?4, lease_until = ?5, wake = ?6, attempts = ?7, started_at = ?8
where key = ?1`,
  /** Jobs without an owner and with `wake` set, or with a lapsed lease. */
  dueJobs: `${selectJob}
where j.key in (
  select key from jobs indexed by woken_jobs where ended_at is null and owner is null and wake = 1
  union all select key from jobs where ended_at is null and owner is not null and lease_until < ?1)
order by j.created_at, j.key
limit ?2`,
  jobsOfOwner: 'select key, id, epoch, wake from jobs where ended_at is null and owner = ?1',
  prolongLease: 'update jobs set lease_until = ?2 where key = ?1',
  releaseJob: 'update jobs set owner = null, lease_until = 0, wake = 1, attempts = attempts - 1 where key = ?1',
  /** Jobs without an owner behind a key. */
  unowned: `
select key, status = 'waiting' and wake = 0 and not exists (
  select 1 from interruptions i where i.conversation = key >> 20 and i.state = 'open' and i.job = jobs.id) as stranded
from jobs indexed by live_jobs where ended_at is null and owner is null and key > ?1 order by key limit ?2`,
  wakeStranded: 'update jobs set wake = 1, attempts = attempts - 1 where key = ?1',
  /** Owners from before this file was opened are dead. */
  lapseAllLeases: 'update jobs set lease_until = -1 where ended_at is null and owner is not null',
} as const
