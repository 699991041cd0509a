/** The tables of the embedded store, as numbered migrations: forward only, each run once and never edited. */

const first = `
create table conversations (
  number integer primary key,
  database text not null,
  id text not null,
  agent text not null,
  created_by text not null,
  created_at integer not null,
  last_message_at integer not null,
  parameters text not null,
  max_iterations integer,
  unique (database, id)
);

create table entries (
  key integer primary key,
  text text not null
);

create table jobs (
  key integer primary key,
  database text not null,
  id text not null,
  status text not null,
  owner text,
  epoch integer not null,
  lease_until integer not null,
  wake integer not null,
  attempts integer not null,
  started_at integer not null,
  ended_at integer,
  first_seq integer not null,
  result text,
  unique (database, id)
);
create index live_jobs on jobs (owner) where ended_at is null;

create table interruptions (
  number integer primary key,
  database text not null,
  id text not null,
  conversation integer not null,
  job text not null,
  call text not null,
  state text not null,
  view text not null,
  bound text not null,
  answer text not null,
  answered_by text,
  created_at integer not null,
  settled_at integer,
  unique (database, id)
);
create index interruptions_by_state on interruptions (database, state);
create index interruptions_by_conversation on interruptions (conversation);

create table agents (
  database text not null,
  id text not null,
  revision integer not null,
  primary key (database, id)
) without rowid;

create table agent_revisions (
  database text not null,
  id text not null,
  revision integer not null,
  source text not null,
  data text not null,
  warnings text not null,
  primary key (database, id, revision)
) without rowid;

create table replies (
  database text not null,
  key text not null,
  digest text not null,
  status integer,
  body text,
  at integer not null,
  primary key (database, key)
) without rowid;
create index replies_by_age on replies (database, at);
`

/** When the time of a conversation is over; null for never. */
const expiry = `
alter table conversations add column expires_at integer;
create index conversations_by_expiry on conversations (expires_at) where expires_at is not null;
`

/** Every migration in order; the schema's version is how many have run. */
export const migrations: readonly string[] = [first, expiry]
