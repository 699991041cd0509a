/** Statements on sums of usage. `$1` is the database. */
import { sumColumns } from '../../usage-records.ts'
import { snakeCase } from '../records.ts'

const sums = sumColumns.map(snakeCase)
const columns = ['dimension', 'key', 'day', 'part', ...sums, 'price_date'].join(', ')
const typeOf = (name: string) => (name === 'cost_usd' ? 'double precision' : 'bigint')
const sumOf = (name: string) => `sum(${name})::${typeOf(name)} as ${name}`
const types = sums.map((name, index) => `$${index + 6}::${typeOf(name)}[]`)

/** The rows in the texts of `waiting`: each a list of its dimension, key, day, sums without the last zeros, and date of prices if it has one. */
const rowsIn = (waiting: string) => `
select (e ->> 0) collate "C" as dimension, (e ->> 1) collate "C" as key, (e ->> 2)::integer as day,
  ${sums.map((name, index) => `coalesce((e -> 3 ->> ${index})::${typeOf(name)}, 0) as ${name}`).join(', ')},
  (e ->> 4) collate "C" as price_date
from ${waiting} w cross join lateral json_array_elements(w.sums::json) as e`

const onConflict = `
on conflict (database, dimension, key, day, part) do update set
  ${sums.map((name) => `${name} = u.${name} + excluded.${name}`).join(', ')},
  price_date = least(u.price_date, excluded.price_date)`

/** Statements on sums of usage. */
export const usageSql = {
  /** Adds rows, sorted by their keys: so no two transactions wait for each other. Of two dates the older one stays. */
  addUsage: `
insert into {s}.usage as u (database, ${columns})
select $1, ${columns}
from unnest($2::text[], $3::text[], $4::integer[], $5::smallint[], ${types.join(', ')}, $${sums.length + 6}::text[])
  with ordinality as n (${columns}, place)
order by n.place${onConflict}`,
  keepWaiting: 'insert into {s}.usage_waiting (database, sums) values ($1, $2)',
  /** Adds up to `$2` waiting rows, except those that somebody else adds now. */
  addWaiting: `
with next as (
  select number from {s}.usage_waiting where database = $1 order by number limit $2 for update skip locked
), taken as (
  delete from {s}.usage_waiting w using next where w.database = $1 and w.number = next.number returning w.sums
)
insert into {s}.usage as u (database, ${columns})
select $1, dimension, key, day, 0, ${sums.map(sumOf).join(', ')}, min(price_date)
from (${rowsIn('taken')}) r
group by dimension, key, day order by dimension, key, day${onConflict}`,
  /** What is added and what waits: the first rows of a page are among the first of each. */
  listUsage: `
select dimension, key, day, ${sums.map(sumOf).join(', ')}, min(price_date) as price_date
from (
  (select dimension, key, day, ${sums.map(sumOf).join(', ')}, min(price_date) as price_date
  from {s}.usage
  where database = $1 and dimension = $2 and (key, day) > ($3, $4::integer)
  group by dimension, key, day order by key, day limit $5)
  union all
  select r.* from (${rowsIn('{s}.usage_waiting')} where w.database = $1) r
  where dimension = $2 and (key, day) > ($3, $4::integer)
) all_rows
group by dimension, key, day order by key, day limit $5`,
  /** The own usage of the conversations `$2`. */
  deleteUsage: `delete from {s}.usage where database = $1 and dimension = 'conversation' and key = any($2)`,
  /** What counts of all logs, and the starts of runs before it, as a cursor of the transaction. */
  openLogs: `
declare usage_logs no scroll cursor for
select database, conversation, text from {s}.entries
where text like '["end","model",%' or text like '["start",%' or text like '["notice",%"USAGE_INCOMPLETE"%'
order by database, conversation, seq`,
  nextLogs: 'fetch 1000 from usage_logs',
  closeLogs: 'close usage_logs',
  /** Jobs by the databases `$1` and ids `$2`: a fork has none for what it has copied. */
  jobsOfLogs: `
select j.database, j.id, j.conversation from {s}.jobs j
join (select distinct * from unnest($1::text[], $2::text[]) as n (database, id)) n on n.database = j.database and n.id = j.id`,
} as const
