/** Statements that look at a server without a store: how many connections it has left, and which standbys its commits wait for. */

/** How many connections this user may open now: within the limits of the server, of the database and of the user. */
export const capacitySql = `
select least(
  current_setting('max_connections')::bigint - (select sum(numbackends) from pg_stat_database)
    - case when r.rolsuper then 0 else current_setting('superuser_reserved_connections')::bigint
      + coalesce(current_setting('reserved_connections', true), '0')::bigint end,
  case when r.rolsuper or d.datconnlimit < 0 then null
    else d.datconnlimit - (select count(*) from pg_stat_activity where datname = d.datname) end,
  case when r.rolsuper or r.rolconnlimit < 0 then null
    else r.rolconnlimit - (select count(*) from pg_stat_activity where usename = r.rolname) end) + 1 as free
from pg_roles r, pg_database d where r.rolname = session_user and d.datname = current_database()`

/** Commits wait for standbys with these names; so many follow now. The state of some may be hidden from this user. */
export const standbySql = `
select case when current_setting('synchronous_commit') in ('off', 'local') then ''
    else current_setting('synchronous_standby_names') end as names,
  count(*) filter (where sync_state in ('sync', 'quorum')) as following,
  count(*) filter (where pid is not null and sync_state is null) as hidden
from (select 1) one left join pg_stat_replication on true`
