/**
 * The step of the schema that makes a run cheaper. What a commit used waits in one row until it is added to the sums, so a commit writes
 * few rows and waits for no other. Tasks have an index of their own, as runs do, so a run has one place less. Texts of entries and
 * results are shorter from here on, which earlier versions cannot read.
 */
export const cheaper = `
create table if not exists {s}.usage_waiting (
  database text collate "C" not null check (database <> ''),
  number bigint generated always as identity,
  sums text not null,
  primary key (database, number)
);
create index if not exists jobs_tasks_of on {s}.jobs (database, conversation, number) where kind = 'task';
drop index if exists {s}.jobs_by_conversation;
`
