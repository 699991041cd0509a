/** Statements on jobs. The database comes first; `$1` is it unless a line says otherwise. */
import { clock } from './clock.ts'
import { conversationsOf } from './conversations-of.ts'
import { changedColumns, setDue } from './live-jobs.ts'

/** The columns of a job. */
export const jobColumns = `j.database, j.id, j.conversation, j.kind, j.status, j.owner, j.epoch, j.lease_until, j.wake, j.attempts,
  j.created_at, j.started_at, j.ended_at, j.changed_at, j.first_seq, j.about, j.result`

const jobs = `select ${jobColumns} from {s}.jobs j`

/** Live jobs, by their rows in the narrow table. */
const live = `{s}.live_jobs l join {s}.jobs j on j.database = l.database and j.id = l.id`

/** Jobs of the conversation `$2` in their order: runs and tasks have an index each. */
function ofConversation(columns: string, isWanted = 'true'): string {
  const kinds = ['run', 'task'].map(
    (kind) => `
  select ${columns}, j.number from {s}.jobs j
  where j.database = $1 and j.conversation = $2 and j.kind = '${kind}' and ${isWanted}`,
  )
  return `select * from (${kinds.join('\n  union all')}
) j order by number`
}

/** Statements on jobs. */
export const jobSql = {
  getJob: `${jobs} where j.database = $1 and j.id = $2`,
  listJobs: ofConversation(jobColumns),
  numbersOf: ofConversation('j.kind'),
  /** A page of jobs behind the number `$3`. */
  jobsAfter: `${ofConversation(jobColumns, 'j.number > $3')} limit $4`,
  listLiveJobs: `
select ${jobColumns} from ${live} where l.database = $1 and l.conversation = $2 order by l.number`,
  runPlace: `select number from {s}.jobs where database = $1 and conversation = $2 and id = $3 and kind = 'run'`,
  /** Runs of the conversation `$2` that began before position `$3`, newest first. */
  listRuns: `${jobs}
where j.database = $1 and j.conversation = $2 and j.kind = 'run' and j.number < $3 order by j.number desc limit $4`,
  countRuns: `select count(*) from {s}.jobs where database = $1 and conversation = $2 and kind = 'run'`,
  countLiveRunsOf: `
select count(*) from (select 1 from {s}.live_jobs l where l.database = $1 and l.kind = 'run' and l.maker = $2 limit $3) q`,
  taskPlace: `select created_at from {s}.jobs where database = $1 and id = $2 and kind = 'task'`,
} as const

/**
 * Tasks before the place `($2, $3)`, newest first. `isReached`: only those of conversations that `$5` created, or in which the person
 * `$6` takes part.
 */
export function listTasks(isLive: boolean | null, isReached: boolean): string {
  const at = isLive === true ? 'l' : 'j'
  const isEnded = isLive === false ? ' and j.ended_at is not null' : ''
  const reached = isReached ? ` and j.conversation in (${conversationsOf('$5', '$6')})` : ''
  return `select ${jobColumns} from ${isLive === true ? live : '{s}.jobs j'}
where ${at}.database = $1 and ${at}.kind = 'task'${isEnded} and (${at}.created_at, ${at}.id) < ($2, $3)${reached}
order by ${at}.created_at desc, ${at}.id desc limit $4`
}

/** Runs that `$2` began: of the agents `$3`, of the conversation `$4`, in the status `$5`, live or ended by `$6`; null for all. `$7` is the least change. */
const isWanted = `j.database = $1 and j.maker = $2 and j.kind = 'run' and ($3::text[] is null or c.agent = any($3))
  and ($4::text is null or c.id = $4) and ($5::text is null or j.status = $5)
  and ($6::boolean is null or (j.ended_at is null) = $6) and j.changed_at >= $7`
const withConversation = '{s}.jobs j join {s}.conversations c on c.database = j.database and c.id = j.conversation'

const liveOf = `select l.id from {s}.live_jobs l where l.database = $1 and l.kind = 'run' and l.maker = $2`

/** Behind the place `($8, $9)`, and not behind `($10, $11)`: live ones and ended ones in that range. */
const byChange = `(
  ${liveOf}
  union all
  select e.id from {s}.ended_runs e
  where e.database = $1 and e.maker = $2 and (e.changed_at, e.id) < ($8, $9) and (e.changed_at, e.id) >= ($10, $11)
) r join ${withConversation} on j.database = $1 and j.id = r.id
where ${isWanted} and (j.changed_at, j.id) < ($8, $9) and (j.changed_at, j.id) >= ($10, $11)`

/** The same of one conversation, by numbers: below `$8`, and from `$9`. */
const byNumber = `${withConversation}
where ${isWanted} and j.conversation = $4 and j.number < $8 and j.number >= $9`

/** Statements on the runs of one principal. */
export const runsOfSql = {
  /** The last of the runs that are looked at, of all that `$2` began behind the place `($3, $4)`. */
  lastLooked: `
select changed_at, id from (
  (select j.changed_at, j.id from ${live}
  where l.database = $1 and l.kind = 'run' and l.maker = $2 and (j.changed_at, j.id) < ($3, $4)
  order by j.changed_at desc, j.id desc limit $5)
  union all
  (select changed_at, id from {s}.ended_runs
  where database = $1 and maker = $2 and (changed_at, id) < ($3, $4) order by changed_at desc, id desc limit $5)
) r order by changed_at desc, id desc limit 1 offset $5::bigint - 1`,
  /** The same of the runs of the conversation `$2` that began before the position `$3`. */
  lastLookedIn: `
select changed_at, id, number from {s}.jobs
where database = $1 and conversation = $2 and kind = 'run' and number < $3 order by number desc limit 1 offset $4::bigint - 1`,
  list: `select ${jobColumns} from ${byChange} order by j.changed_at desc, j.id desc limit $12`,
  /** The live ones behind the place `($8, $9)`. */
  listLive: `
select ${jobColumns} from (${liveOf}) r join ${withConversation} on j.database = $1 and j.id = r.id
where ${isWanted} and (j.changed_at, j.id) < ($8, $9)
order by j.changed_at desc, j.id desc limit $10`,
  listIn: `select ${jobColumns} from ${byNumber} order by j.number desc limit $10`,
  count: `select count(*) from ${byChange}`,
  countIn: `select count(*) from ${byNumber}`,
} as const

/** Table-wide statements of the worker role; `$1` is the owner. They lock jobs before their rows in the narrow table, or wait for nobody. */
export const workerSql = {
  claimJobs: `
with due as (
  select d.database, d.id from (
    select l.database, l.id from {s}.live_jobs l
    where l.due_at < ${clock} order by l.due_at, l.number limit $3 for update skip locked
  ) d cross join lateral (
    select from {s}.jobs j where j.database = d.database and j.id = d.id for update skip locked
  ) free
), changed as (
  update {s}.jobs j
  set owner = $1, epoch = j.epoch + 1, lease_until = ${clock} + $2, wake = false, status = 'running',
    attempts = j.attempts + 1, started_at = coalesce(j.started_at, ${clock})
  from due where j.database = due.database and j.id = due.id
  returning j.*
), due_later as (${setDue})
select ${jobColumns}, j.number from changed j`,
  /** The jobs `($5, $2)`, by id, which is the lock order. */
  heartbeat: `
with held as (
  select h.* from unnest($5::text[], $2::text[], $3::bigint[]) as n (database, id, epoch) cross join lateral (
    select j.database, j.id from {s}.jobs j
    where j.database = n.database and j.id = n.id and j.owner = $1 and j.ended_at is null and j.epoch = n.epoch for update) h
), changed as (
  update {s}.jobs j set lease_until = ${clock} + $4 from held where j.database = held.database and j.id = held.id
  returning ${changedColumns}
), due_later as (${setDue})
select id, wake, number from changed`,
  /** Live jobs behind the place `($1, $2, $3)`, of which those that are stranded are woken. */
  wakeStranded: `
with page as materialized (
  select l.database, l.conversation, l.number, l.id from {s}.live_jobs l
  where (l.database, l.conversation, l.number) > ($1, $2, $3)
  order by l.database, l.conversation, l.number limit $4
), changed as (
  update {s}.jobs j set wake = true, attempts = j.attempts - 1 from page p
  where j.database = p.database and j.id = p.id and j.ended_at is null and j.status = 'waiting' and j.owner is null and not j.wake
    and not exists (select from {s}.interruptions i
      where i.database = p.database and i.conversation = p.conversation and i.state = 'open' and i.job = p.id)
  returning ${changedColumns}
), due_now as (${setDue})
select p.database, p.conversation, p.number, (select count(*) from page) as looked, (select count(*) from changed) as woken
from page p order by p.database desc, p.conversation desc, p.number desc limit 1`,
  releaseAll: released(`${live} where l.due_at > 0`),
  releaseSome: released(`
  unnest($2::text[], $3::text[]) as n (database, id) join {s}.jobs j on j.database = n.database and j.id = n.id where true`),
} as const

/** Gives up those jobs that `$1` holds: a job with an owner is due when its lease ends. */
function released(from: string): string {
  return `
with held as (
  select j.database, j.id from ${from} and j.owner = $1 and j.ended_at is null order by j.id for update of j
), changed as (
  update {s}.jobs j set owner = null, lease_until = 0, wake = true, attempts = j.attempts - 1
  from held where j.database = held.database and j.id = held.id
  returning ${changedColumns}
), due_now as (${setDue})
select id from changed`
}
