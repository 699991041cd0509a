/** The tables of the embedded store, as numbered migrations: forward only, each run once and never edited. */
import { withRecords } from '../record-tables.ts'
import { memory } from './blocks.ts'
import { type Dialect, recordStatements } from './records.ts'
import { usage, usageMarks } from './usage-schema.ts'

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

/** When a conversation expires; null for never. */
const expiry = `
alter table conversations add column expires_at integer;
create index conversations_by_expiry on conversations (expires_at) where expires_at is not null;
`

/**
 * Tasks beside runs: bit 19 of a job's key says which of them are tasks, so that the latest run, the only one that can be live, is
 * found without a search. A job may be there before anybody owned it.
 */
const tasks = `
create table jobs_of_both_kinds (
  key integer primary key,
  database text not null,
  id text not null,
  kind text not null,
  status text not null,
  owner text,
  epoch integer not null,
  lease_until integer not null,
  wake integer not null,
  attempts integer not null,
  created_at integer not null,
  started_at integer,
  ended_at integer,
  first_seq integer not null,
  about text,
  result text,
  unique (database, id)
);
insert into jobs_of_both_kinds
select key, database, id, 'run', status, owner, epoch, lease_until, wake, attempts, started_at, started_at, ended_at, first_seq, null,
  result
from jobs;
drop table jobs;
alter table jobs_of_both_kinds rename to jobs;
create index live_jobs on jobs (owner) where ended_at is null;
create index woken_jobs on jobs (key) where ended_at is null and owner is null and wake = 1;
create index live_tasks on jobs (key) where kind = 'task' and ended_at is null;
create index tasks_by_age on jobs (database, created_at, id) where kind = 'task';
create index live_tasks_by_age on jobs (database, created_at, id) where kind = 'task' and ended_at is null;

alter table interruptions add column terms text;
alter table interruptions add column addressee text;
alter table interruptions add column expires_at integer;
create index interruptions_by_addressee on interruptions (database, addressee) where addressee is not null;
create index interruptions_by_expiry on interruptions (expires_at) where state = 'open' and expires_at is not null;

alter table replies add column note text;
`

/** Entries of type `checkpoint`, and replies with more tool calls than run. Earlier versions misread such a log. */
const checkpoints = 'select 1'

/**
 * Content by digest, and which conversations refer to it. `parts` is null until content is complete; `unused_since` is null while a
 * conversation refers to it. Earlier versions would ignore the files of a message, and leave their content behind.
 */
const contents = `
create table contents (
  number integer primary key,
  database text not null,
  digest text not null,
  parts integer,
  unused_since integer,
  unique (database, digest)
);
create index unused_contents on contents (unused_since) where unused_since is not null;
create table content_parts (
  key integer primary key,
  bytes blob not null
);
create table content_uses (
  conversation integer not null,
  content integer not null,
  media_type text not null,
  name text,
  primary key (conversation, content)
) without rowid;
create index content_uses_by_content on content_uses (content);
`

/** Hand-overs, steps of workflows and branches. Earlier versions misread such a log. */
const handOvers = 'select 1'

/** Protocols among the agents. Earlier versions would take one for an agent. */
const protocols = 'select 1'

/**
 * Who takes part in conversations, and messages of several people. Earlier versions misread such a log. They kept the people of a
 * start among its parameters only.
 */
const participants = `
create table participants (
  conversation integer not null,
  user text not null,
  database text not null,
  position integer not null,
  name text,
  roles text not null,
  joined_at integer not null,
  left_at integer,
  primary key (conversation, user)
) without rowid;
create index participants_by_user on participants (database, user, conversation) where left_at is null;
insert into participants (conversation, user, database, position, roles, joined_at)
select c.number, u.value, c.database, u.key, '[]', c.created_at
from conversations c, json_each(c.parameters, '$."$users"[0]') u
where c.parameters like '%"$users"%';
`

/** API keys, by their digests. */
const keys = `
create table keys (
  number integer primary key,
  database text not null,
  id text not null,
  digest text not null unique,
  holder text,
  roles text not null,
  name text,
  address text,
  created_by text not null,
  created_at integer not null,
  expires_at integer,
  last_used_at integer,
  unique (database, id)
);
create index keys_by_number on keys (database, number);
`

/**
 * Whom a run works for, and access to single tools. Earlier versions would let it use any. Conversations are found by who created
 * them; those of the local principal are not in the index, because it sees all.
 */
const principals = `
create index conversations_by_maker on conversations (database, created_by, number) where created_by <> 'user:local';
`

/**
 * Entries of type `artifact`, and an index of them: `seq` is that of the entry. Earlier versions misread such a log, and would leave
 * the index behind.
 */
const artifacts = `
create table artifacts (
  conversation integer not null,
  seq integer not null,
  database text not null,
  id text not null,
  run text not null,
  agent text not null,
  primary key (conversation, seq)
) without rowid;
create unique index artifacts_by_id on artifacts (database, id, conversation);
`

/** Logs have entries from here on that earlier versions do not know. */
const noReplies = 'select 1'

/** A run may come over A2A, with a chain that holds for its tasks and follow-ups too. Earlier versions would drop it. */
const incomingCalls = 'select 1'

/** A call of an agent on another server has no definition here, and a tool as its body. */
const remoteCalls = 'select 1'

/** A call may hold a part of its tree's budget, and a caller from outside lower it. Earlier versions would spend what is held, and more. */
const sharedBudgets = 'select 1'

/** An entry may say what its process had read of others. Earlier versions would not read its text. */
const views = 'select 1'

/** An agent may demand something before its work. Earlier versions would let it work without. */
const demands = 'select 1'

/** Who made a revision of an agent or protocol. Earlier versions would change one without writing it to the audit. */
const changed = 'alter table agent_revisions add column changed text'

/**
 * Numbers whose rows belong to no conversation: not yet, while a long log is written in several transactions, or no longer, while one
 * is deleted in several. Earlier versions would leave them behind.
 */
const unlinked = 'create table unlinked (number integer primary key)'

/** Ended runs by who began them and when; live ones have an index. Earlier versions would add runs that no such list has. */
const runsByMaker = `
alter table jobs add column maker text;
alter table jobs add column changed_at integer;
update jobs set changed_at = coalesce(ended_at, started_at, created_at),
  maker = (select created_by from conversations where number = jobs.key >> 20);
create index runs_by_maker on jobs (database, maker, changed_at, id) where kind = 'run' and ended_at is not null;
`

/** How SQLite writes records. */
export const dialect: Dialect = {
  ...{ schema: '', mark: '?', number: 'integer primary key', key: 'unique', text: 'text', integer: 'integer' },
  among: (column, parameter) => `${column} = ${parameter}`,
  raise: (table, column) =>
    `update ${table} set ${column} = ?3 where database = ?1 and id = ?2 and (${column} is null or ${column} < ?3)`,
}

/** Here a look reads no more than it takes. This migration keeps the versions of both stores equal. */
const looks = 'select 1'
/** Shorter texts of entries, twice, which earlier versions cannot read. */
const shorter = 'select 1'

/** Here knowledge is in a file of its own. This migration keeps the versions of both stores equal. */
const knowledge = 'select 1'

/** Entries of type `plan`, which earlier versions cannot fold. */
const plans = 'select 1'
/** Entries of type `critique`, which earlier versions cannot fold. */
const critiques = 'select 1'
/** Entries of type `hook`, which earlier versions cannot fold. */
const hooks = 'select 1'
/** Notices with what a guardrail decided, which earlier versions do not follow. */
const guardrails = 'select 1'

/** Entries with the tools of MCP servers, which earlier versions do not fold. */
const mcpTools = 'select 1'
/** Documents of a base name the revision that created it. Earlier versions would not know which are those of a deleted one. */
const firstRevisions = 'alter table agents add column first_revision integer not null default 1'

const steps: readonly string[] = [
  first,
  expiry,
  tasks,
  checkpoints,
  contents,
  handOvers,
  protocols,
  participants,
  keys,
  principals,
  artifacts,
  usage,
  usageMarks,
  changed,
  unlinked,
  noReplies,
  incomingCalls,
  remoteCalls,
  sharedBudgets,
  views,
  demands,
  runsByMaker,
  looks,
  shorter,
  shorter,
  knowledge,
  memory,
  plans,
  firstRevisions,
  critiques,
  hooks,
  guardrails,
  mcpTools,
]

/** Every migration in order; the schema's version is how many have run. */
export const migrations: readonly string[] = withRecords(steps, (table) => recordStatements(dialect)(table).create)

/** The first version with sums of usage. */
export const usageVersion = migrations.indexOf(usage) + 1
