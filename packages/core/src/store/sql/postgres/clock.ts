/** The database's own clock, in ms; a subquery, so that an index can be used to compare with it. */

/** Now, on the database server [D5]. */
export const clock = `(select (extract(epoch from clock_timestamp()) * 1000)::bigint)`

/**
 * Whether conversation `c` has expired, and has no live job and no interruption that can still be answered. Each check is a subquery
 * with a limit, which the planner never turns into a join over entire tables.
 */
export const isOver = `(c.expires_at is not null and c.expires_at <= ${clock}
  and (select true from {s}.live_jobs l where l.database = c.database and l.conversation = c.id limit 1) is null
  and (select true from {s}.interruptions o
    where o.database = c.database and o.conversation = c.id and o.state = 'open'
      and (o.expires_at is null or o.expires_at > ${clock}) limit 1) is null)`
