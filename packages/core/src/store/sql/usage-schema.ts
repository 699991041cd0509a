/** The tables of usage in an SQLite file, as two migrations make them. */

/** The columns that are added up: the same ones for sums and for facts. */
const sums = `model_calls integer not null,
  tool_calls integer not null,
  input_tokens integer not null,
  output_tokens integer not null,
  cached_input_tokens integer not null,
  reasoning_tokens integer not null,
  cache_write_tokens integer not null,
  cost_usd real not null,
  unpriced integer not null,
  incomplete integer not null,
  price_date text`

/**
 * Sums of usage, by agent, conversation, user, model and day, and what is not added up yet. Earlier versions would not count. The
 * logs that are there are counted by `countLogs`, once every migration has run.
 */
export const usage = `
create table usage (
  database text not null,
  dimension text not null,
  key text not null,
  day integer not null,
  ${sums},
  primary key (database, dimension, key, day)
) without rowid;
create table usage_facts (
  number integer primary key,
  database text not null,
  conversation text not null,
  user text not null,
  agent text not null,
  model text,
  day integer not null,
  ${sums}
);
`

/** Adds to the sums what waits in `usage_facts`. Calls of tools are no model's. */
const addFacts = ['agent', 'conversation', 'day', 'model', 'user'].map((dimension) => {
  const key = dimension === 'day' ? `''` : dimension
  return `
insert into usage
select database, '${dimension}', ${key}, day, sum(model_calls), ${dimension === 'model' ? '0' : 'sum(tool_calls)'}, sum(input_tokens),
  sum(output_tokens), sum(cached_input_tokens), sum(reasoning_tokens), sum(cache_write_tokens), sum(cost_usd), sum(unpriced),
  sum(incomplete), min(price_date)
from usage_facts where ${key} is not null group by database, ${key}, day
on conflict do update set model_calls = model_calls + excluded.model_calls, tool_calls = tool_calls + excluded.tool_calls,
  input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens,
  cached_input_tokens = cached_input_tokens + excluded.cached_input_tokens,
  reasoning_tokens = reasoning_tokens + excluded.reasoning_tokens,
  cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens, cost_usd = cost_usd + excluded.cost_usd,
  unpriced = unpriced + excluded.unpriced, incomplete = incomplete + excluded.incomplete,
  price_date = case when excluded.price_date is null or price_date <= excluded.price_date then price_date
    else excluded.price_date end;`
})

/**
 * Which usage the sums have: of a conversation with a mark, that of the entries up to `seq`; of the others before the last mark,
 * all; of those after it, none. Here they have everything. Earlier versions would add what is not there to sums that are.
 */
export const usageMarks = `
${addFacts.join('')}
drop table usage_facts;
create table usage_marks (
  conversation integer primary key,
  seq integer not null
);
insert into usage_marks (conversation, seq)
select c.number, coalesce((select max(e.key) & 1048575 from entries e
  where e.key >= c.number * 1048576 and e.key < (c.number + 1) * 1048576), 0)
from conversations c order by c.number desc limit 1;
`
