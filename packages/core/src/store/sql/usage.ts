/** Statements on sums of usage. Parameters are numbered, `?1` being the first. */

const sums = [
  ...['model_calls', 'tool_calls', 'input_tokens', 'output_tokens', 'cached_input_tokens', 'reasoning_tokens'],
  ...['cache_write_tokens', 'cost_usd', 'unpriced', 'incomplete'],
]

/** Adds the new row to the one that is there. Of two dates the older one stays. */
const together = `do update set
  ${sums.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')},
  price_date = case when excluded.price_date is null or price_date <= excluded.price_date then price_date
    else excluded.price_date end`

const columns = `dimension, key, day, ${sums.join(', ')}, price_date`

const dimensions = [
  ['agent', 'agent'],
  ['conversation', 'conversation'],
  ['day', `''`],
  ['model', 'model'],
  ['user', 'user'],
] as const

/** Statements on sums of usage. */
export const usageSql = {
  /** Adds the row of one key and day. */
  addUsage: `
insert into usage (database, ${columns})
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
on conflict ${together}`,
  /** Keeps a fact until it is added up: a write at the end of a table, so that an append touches one page more. */
  insertFact: `
insert into usage_facts (database, conversation, user, agent, model, day, ${sums.join(', ')}, price_date)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)`,
  anyFact: 'select 1 as one from usage_facts limit 1',
  /** Adds all facts up, for each dimension. Calls of tools are no model's. */
  addUp: [
    ...dimensions.map(
      ([dimension, key]) => `
insert into usage (database, ${columns})
select database, '${dimension}', ${key}, day,
  ${sums.map((name) => (name === 'tool_calls' && dimension === 'model' ? '0' : `sum(${name})`)).join(', ')}, min(price_date)
from usage_facts where ${key} is not null group by database, ${key}, day
on conflict ${together}`,
    ),
    'delete from usage_facts',
  ],
  listUsage: `
select ${columns} from usage
where database = ?1 and dimension = ?2 and (key, day) > (?3, ?4) order by key, day limit ?5`,
  /** The own usage of the conversation `?1`. */
  deleteUsage: `
delete from usage where dimension = 'conversation'
  and (database, key) = (select c.database, c.id from conversations c where c.number = ?1)`,
  /** What counts of all logs, and the starts of runs before it. A fork has no job for what it has copied. */
  readLogs: `
select c.database, c.id, e.text, exists (select 1 from jobs j
  where j.database = c.database and j.id = e.text ->> '$[3]' and j.key / 1048576 = c.number) as own
from entries e join conversations c on c.number = e.key / 1048576
where e.text like '["end","model",%' or e.text like '["start",%' or e.text like '["notice",%"USAGE_INCOMPLETE"%'
order by e.key`,
} as const
