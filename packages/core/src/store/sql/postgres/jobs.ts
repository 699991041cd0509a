/** Statements on jobs. The database comes first; `$1` is it unless a line says otherwise. */
import { clock } from './clock.ts'
import { conversationsOf } from './conversations-of.ts'

/** The columns of a job. */
export const jobColumns = `j.database, j.id, j.conversation, j.kind, j.status, j.owner, j.epoch, j.lease_until, j.wake, j.attempts,
  j.created_at, j.started_at, j.ended_at, j.first_seq, j.about, j.result`

const jobs = `select ${jobColumns} from {s}.jobs j`

/** Statements on jobs. */
export const jobSql = {
  getJob: `${jobs} where j.database = $1 and j.id = $2`,
  listJobs: `${jobs} where j.database = $1 and j.conversation = $2 order by j.number`,
  numbersOf: 'select j.number from {s}.jobs j where j.database = $1 and j.conversation = $2 order by j.number',
  /** A page of jobs behind the number `$3`. */
  jobsAfter: `${jobs} where j.database = $1 and j.conversation = $2 and j.number > $3 order by j.number limit $4`,
  listLiveJobs: `${jobs} where j.database = $1 and j.conversation = $2 and j.ended_at is null order by j.number`,
  runPlace: `select number from {s}.jobs where database = $1 and conversation = $2 and id = $3 and kind = 'run'`,
  /** Runs of the conversation `$2` that began before position `$3`, newest first. */
  listRuns: `${jobs}
where j.database = $1 and j.conversation = $2 and j.kind = 'run' and j.number < $3 order by j.number desc limit $4`,
  countRuns: `select count(*) from {s}.jobs where database = $1 and conversation = $2 and kind = 'run'`,
  runTime: `select created_at from {s}.jobs where database = $1 and id = $2 and kind = 'run'`,
  countLiveRunsOf: `
select count(*) from (
  select 1 from {s}.jobs j join {s}.conversations c on c.database = j.database and c.id = j.conversation
  where j.database = $1 and j.ended_at is null and j.kind = 'run' and c.created_by = $2 limit $3) q`,
  taskPlace: `select created_at from {s}.jobs where database = $1 and id = $2 and kind = 'task'`,
} as const

/**
 * Tasks before the place `($2, $3)`, newest first. `isReached`: only those of conversations that `$5` created, or in which the person
 * `$6` takes part.
 */
export function listTasks(live: boolean | null, isReached: boolean): string {
  const isLive = live === null ? '' : ` and j.ended_at is ${live ? '' : 'not '}null`
  const reached = isReached ? ` and j.conversation in (${conversationsOf('$5', '$6')})` : ''
  return `${jobs}
where j.database = $1 and j.kind = 'task'${isLive} and (j.created_at, j.id) < ($2, $3)${reached}
order by j.created_at desc, j.id desc limit $4`
}

/**
 * Runs of conversations that `$5` created, before the place `($2, $3)`, newest first: of the agent `$6`, of the conversation `$7`, in the
 * status `$8`, and live or ended by `$9`; null for all.
 */
export const listRunsOf = `${jobs} join {s}.conversations c on c.database = j.database and c.id = j.conversation
where j.database = $1 and c.created_by = $5 and j.kind = 'run' and (j.created_at, j.id) < ($2, $3)
  and ($6::text is null or c.agent = $6) and ($7::text is null or c.id = $7) and ($8::text is null or j.status = $8)
  and ($9::boolean is null or (j.ended_at is null) = $9)
order by j.created_at desc, j.id desc limit $4`

/** Table-wide statements of the worker role; `$1` is the owner. */
export const workerSql = {
  /** A version that knows fewer migrations (`$4`) than the schema requires claims nothing, because it could not read such a log. */
  claimJobs: `
with due as (
  select database, id from {s}.jobs
  where due_at < ${clock} and (select works_from from {s}.schema_version) <= $4
  order by due_at, number limit $3 for update skip locked
)
update {s}.jobs j
set owner = $1, epoch = j.epoch + 1, lease_until = ${clock} + $2, wake = false, status = 'running',
  attempts = j.attempts + 1, started_at = coalesce(j.started_at, ${clock})
from due where j.database = due.database and j.id = due.id
returning ${jobColumns}, j.number`,
  /** One lookup by owner and id for each job; the ids come in lock order. */
  heartbeat: `
with held as (
  select h.* from unnest($2::text[], $3::bigint[]) as n (id, epoch) cross join lateral (
    select j.database, j.id, j.number from {s}.jobs j
    where j.owner = $1 and j.ended_at is null and j.id = n.id and j.epoch = n.epoch for update) h
)
update {s}.jobs j set lease_until = ${clock} + $4 from held where j.database = held.database and j.id = held.id
returning j.id, j.wake, j.number`,
  releaseJobs: `
with held as (
  select database, id from {s}.jobs
  where owner = $1 and ended_at is null and ($2::text[] is null or id = any($2)) order by id for update
)
update {s}.jobs j set owner = null, lease_until = 0, wake = true, attempts = j.attempts - 1
from held where j.database = held.database and j.id = held.id
returning j.id`,
} as const
