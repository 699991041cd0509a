/** Statements on sums of usage. `$1` is the database. */
import { sumColumns } from '../../usage-records.ts'
import { snakeCase } from '../records.ts'

const sums = sumColumns.map(snakeCase)
const columns = ['dimension', 'key', 'day', 'part', ...sums, 'price_date'].join(', ')
const types = sums.map((name, index) => `$${index + 6}::${name === 'cost_usd' ? 'double precision' : 'bigint'}[]`)

/** Statements on sums of usage. */
export const usageSql = {
  /** Adds rows, sorted by their keys: so no two transactions wait for each other. Of two dates the older one stays. */
  addUsage: `
insert into {s}.usage as u (database, ${columns})
select $1, ${columns}
from unnest($2::text[], $3::text[], $4::integer[], $5::smallint[], ${types.join(', ')}, $${sums.length + 6}::text[])
  with ordinality as n (${columns}, place)
order by n.place
on conflict (database, dimension, key, day, part) do update set
  ${sums.map((name) => `${name} = u.${name} + excluded.${name}`).join(', ')},
  price_date = least(u.price_date, excluded.price_date)`,
  listUsage: `
select dimension, key, day, ${sums.map((name) => `sum(${name})::${name === 'cost_usd' ? 'double precision' : 'bigint'} as ${name}`).join(', ')},
  min(price_date) as price_date
from {s}.usage
where database = $1 and dimension = $2 and (key, day) > ($3, $4::integer)
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
