/** Statements on jobs. The database comes first; `$1` is it unless a line says otherwise. */
import { clock } from './clock.ts'
import { conversationsOf } from './conversations-of.ts'

/** The columns of a job. */
export const jobColumns = `j.database, j.id, j.conversation, j.kind, j.status, j.owner, j.epoch, j.lease_until, j.wake, j.attempts,
  j.created_at, j.started_at, j.ended_at, j.changed_at, j.first_seq, j.about, j.result`

const jobs = `select ${jobColumns} from {s}.jobs j`

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
  listLiveJobs: `${jobs} where j.database = $1 and j.conversation = $2 and j.ended_at is null order by j.number`,
  runPlace: `select number from {s}.jobs where database = $1 and conversation = $2 and id = $3 and kind = 'run'`,
  /** Runs of the conversation `$2` that began before position `$3`, newest first. */
  listRuns: `${jobs}
where j.database = $1 and j.conversation = $2 and j.kind = 'run' and j.number < $3 order by j.number desc limit $4`,
  countRuns: `select count(*) from {s}.jobs where database = $1 and conversation = $2 and kind = 'run'`,
  /** Not by the index of makers, which has the ended ones. */
  countLiveRunsOf: `
select count(*) from (
  select 1 from {s}.jobs j
  where j.database = $1 and j.ended_at is null and j.kind = 'run' and j.maker || '' = $2 limit $3) q`,
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

/** Runs that `$2` began: of the agents `$3`, of the conversation `$4`, in the status `$5`, live or ended by `$6`; null for all. `$7` is the least change. */
const wantedRuns = `{s}.jobs j join {s}.conversations c on c.database = j.database and c.id = j.conversation
where j.database = $1 and j.maker = $2 and j.kind = 'run' and ($3::text[] is null or c.agent = any($3))
  and ($4::text is null or c.id = $4) and ($5::text is null or j.status = $5)
  and ($6::boolean is null or (j.ended_at is null) = $6) and j.changed_at >= $7`

/** Behind the place `($8, $9)`, and not behind `($10, $11)`. */
const byChange = `${wantedRuns} and (j.changed_at, j.id) < ($8, $9) and (j.changed_at, j.id) >= ($10, $11)`

/** The same of one conversation, by numbers: below `$8`, and from `$9`. */
const byNumber = `${wantedRuns} and j.conversation = $4 and j.number < $8 and j.number >= $9`

/** Statements on the runs of one principal. */
export const runsOfSql = {
  /** The last of the runs that are looked at, of all that `$2` began behind the place `($3, $4)`. */
  lastLooked: `
select changed_at, id from {s}.jobs
where database = $1 and maker = $2 and kind = 'run' and (changed_at, id) < ($3, $4)
order by changed_at desc, id desc limit 1 offset $5::bigint - 1`,
  /** The same of the runs of the conversation `$2` that began before the position `$3`. */
  lastLookedIn: `
select changed_at, id, number from {s}.jobs
where database = $1 and conversation = $2 and kind = 'run' and number < $3 order by number desc limit 1 offset $4::bigint - 1`,
  list: `select ${jobColumns} from ${byChange} order by j.changed_at desc, j.id desc limit $12`,
  /** The live ones behind the place `($8, $9)`. */
  listLive: `
select ${jobColumns} from ${wantedRuns} and j.ended_at is null and (j.changed_at, j.id) < ($8, $9)
order by j.changed_at desc, j.id desc limit $10`,
  listIn: `select ${jobColumns} from ${byNumber} order by j.number desc limit $10`,
  count: `select count(*) from ${byChange}`,
  countIn: `select count(*) from ${byNumber}`,
} as const

/** Table-wide statements of the worker role; `$1` is the owner. */
export const workerSql = {
  claimJobs: `
with due as (
  select database, id from {s}.jobs
  where due_at < ${clock}
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
  /** Live jobs behind the place `($1, $2, $3)`, of which those that are stranded are woken. */
  wakeStranded: `
with page as materialized (
  select j.database, j.conversation, j.number, j.id from {s}.jobs j
  where j.ended_at is null and (j.database, j.conversation, j.number) > ($1, $2, $3)
  order by j.database, j.conversation, j.number limit $4
), woken as (
  update {s}.jobs j set wake = true, attempts = j.attempts - 1 from page p
  where j.database = p.database and j.id = p.id and j.ended_at is null and j.status = 'waiting' and j.owner is null and not j.wake
    and not exists (select from {s}.interruptions i
      where i.database = p.database and i.conversation = p.conversation and i.state = 'open' and i.job = p.id)
  returning j.id
)
select p.database, p.conversation, p.number, (select count(*) from page) as looked, (select count(*) from woken) as woken
from page p order by p.database desc, p.conversation desc, p.number desc limit 1`,
  releaseJobs: `
with held as (
  select database, id from {s}.jobs
  where owner = $1 and ended_at is null and ($2::text[] is null or id = any($2)) order by id for update
)
update {s}.jobs j set owner = null, lease_until = 0, wake = true, attempts = j.attempts - 1
from held where j.database = held.database and j.id = held.id
returning j.id`,
} as const
