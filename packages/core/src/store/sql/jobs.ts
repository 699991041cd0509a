/** Statements on jobs. A key is the number of the job's conversation times 2^20, plus which job of it this is. */

/** The columns of a job in the order that every reader of jobs relies on. */
export const jobColumns = `j.key, j.id, j.status, j.owner, j.epoch, j.lease_until, j.wake, j.attempts, j.started_at,
  j.ended_at, j.first_seq, j.result`

const whole = `
select ${jobColumns}, j.database, c.id
from jobs j join conversations c on c.number = j.key >> 20`

/** Statements on jobs. Parameters are numbered, `?1` being the first. */
export const jobSql = {
  getJob: `${whole} where j.database = ?1 and j.id = ?2`,
  listJobs: `${whole}
where j.key >= ?1 * 1048576 and j.key < (?1 + 1) * 1048576
order by j.key`,
  insertJob: `
insert into jobs (key, database, id, status, owner, epoch, lease_until, wake, attempts, started_at, first_seq)
values (?1, ?2, ?3, 'running', ?4, 1, ?5, 0, 1, ?6, ?7)`,
  wakeJob: 'update jobs set wake = ?2 where key = ?1',
  /** Gives a job to an owner. */
  takeJob: `
update jobs set status = 'running', owner = ?2, epoch = ?3, lease_until = ?4, wake = ?5, attempts = ?6 where key = ?1`,
  restJob: 'update jobs set status = ?2, owner = null, ended_at = ?3, result = ?4 where key = ?1',
  /** Jobs that nobody owns and that have something to do, or whose lease has lapsed. */
  dueJobs: `${whole}
where j.ended_at is null and case when j.owner is null then j.wake = 1 else j.lease_until < ?1 end
order by j.started_at, j.key
limit ?2`,
  jobsOfOwner: 'select key, id, epoch from jobs where ended_at is null and owner = ?1',
  countOwnedJobs: 'select count(*) as jobs from jobs where ended_at is null and owner is not null',
  prolongLease: 'update jobs set lease_until = ?2 where key = ?1',
  releaseJobs: `
update jobs set owner = null, lease_until = 0, wake = 1, attempts = attempts - 1
where ended_at is null and owner = ?1`,
  /** Whoever owned a job before this file was opened is dead. */
  lapseAllLeases: 'update jobs set lease_until = -1 where ended_at is null and owner is not null',
} as const
