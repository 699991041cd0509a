/** The table of usage on PostgreSQL, as a migration makes it. */

/**
 * Sums of usage, by agent, conversation, user, model and day. Earlier versions would not count. Transactions at work at once write
 * rows of different `part`s, so that none waits for another. The logs that are there are counted by `countLogs`, which reads them as
 * the owner of the tables; the rights that follow every migration keep owners out again.
 */
export const usage = `
create table {s}.usage (
  database text collate "C" not null check (database <> ''),
  dimension text collate "C" not null,
  key text collate "C" not null,
  day integer not null,
  part smallint not null,
  model_calls bigint not null,
  tool_calls bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cached_input_tokens bigint not null,
  reasoning_tokens bigint not null,
  cache_write_tokens bigint not null,
  cost_usd double precision not null,
  unpriced bigint not null,
  incomplete bigint not null,
  price_date text collate "C",
  primary key (database, dimension, key, day, part)
) with (fillfactor = 80);
alter table {s}.entries no force row level security;
alter table {s}.jobs no force row level security;
`
