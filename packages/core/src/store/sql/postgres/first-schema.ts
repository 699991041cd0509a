/** The tables of the first version. */
export const first = `
create table {s}.conversations (
  database text collate "C" not null check (database <> ''),
  id text collate "C" not null,
  number bigint generated always as identity,
  agent text collate "C" not null,
  created_by text collate "C" not null,
  created_at bigint not null,
  last_message_at bigint not null,
  last_seq bigint not null,
  parameters text not null,
  max_iterations bigint,
  expires_at bigint,
  primary key (database, id)
) with (fillfactor = 80);
create index conversations_by_number on {s}.conversations (database, number);
create index conversations_by_agent on {s}.conversations (database, agent, number);
create index conversations_by_maker on {s}.conversations (database, created_by, number);
create index conversations_by_expiry on {s}.conversations (expires_at) where expires_at is not null;

create table {s}.entries (
  database text collate "C" not null check (database <> ''),
  conversation text collate "C" not null,
  seq bigint not null,
  text text not null,
  primary key (database, conversation, seq)
);

create table {s}.jobs (
  database text collate "C" not null check (database <> ''),
  id text collate "C" not null,
  conversation text collate "C" not null,
  number bigint generated always as identity,
  kind text collate "C" not null,
  status text collate "C" not null,
  owner text collate "C",
  epoch bigint not null,
  lease_until bigint not null,
  wake boolean not null,
  attempts bigint not null,
  created_at bigint not null,
  started_at bigint,
  ended_at bigint,
  first_seq bigint not null,
  about text not null,
  result text not null,
  due_at bigint generated always as
    (case when ended_at is not null then null when owner is not null then lease_until when wake then 0 end) stored,
  primary key (database, id)
) with (fillfactor = 80);
create index jobs_by_conversation on {s}.jobs (database, conversation, number);
create index jobs_live on {s}.jobs (database, conversation, number) where ended_at is null;
create index jobs_tasks on {s}.jobs (database, created_at, id) where kind = 'task';
create index jobs_live_tasks on {s}.jobs (database, created_at, id) where kind = 'task' and ended_at is null;
create index jobs_by_owner on {s}.jobs (owner, id) where ended_at is null and owner is not null;
create index jobs_due on {s}.jobs (due_at) where due_at is not null;

create table {s}.interruptions (
  database text collate "C" not null check (database <> ''),
  id text collate "C" not null,
  conversation text collate "C" not null,
  number bigint generated always as identity,
  job text collate "C" not null,
  call text collate "C" not null,
  state text collate "C" not null,
  addressee text collate "C",
  view text not null,
  bound text not null,
  terms text not null,
  answer text not null,
  answered_by text collate "C",
  created_at bigint not null,
  expires_at bigint,
  settled_at bigint,
  primary key (database, id)
);
create index interruptions_by_number on {s}.interruptions (database, number);
create index interruptions_by_state on {s}.interruptions (database, state, number);
create index interruptions_by_conversation on {s}.interruptions (database, conversation, number);
create index interruptions_by_addressee on {s}.interruptions (database, addressee, state, number);
create index interruptions_open on {s}.interruptions (database, conversation) where state = 'open';
create index interruptions_due on {s}.interruptions (expires_at) where state = 'open' and expires_at is not null;

create table {s}.agents (
  database text collate "C" not null check (database <> ''),
  id text collate "C" not null,
  revision bigint not null,
  primary key (database, id)
);

create table {s}.agent_revisions (
  database text collate "C" not null check (database <> ''),
  id text collate "C" not null,
  revision bigint not null,
  source text collate "C" not null,
  data text not null,
  warnings text not null,
  primary key (database, id, revision)
);

create table {s}.replies (
  database text collate "C" not null check (database <> ''),
  key text collate "C" not null,
  digest text not null,
  status bigint,
  body text,
  note text,
  at bigint not null,
  primary key (database, key)
);
create index replies_by_age on {s}.replies (database, at);

create table {s}.marks (
  database text collate "C" not null check (database <> ''),
  id text collate "C" not null,
  at bigint not null,
  primary key (database, id)
);
create index marks_by_age on {s}.marks (database, at);
`
