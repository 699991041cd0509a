/**
 * The PostgreSQL tables, as numbered migrations: forward only, each run once and never edited. `{s}` stands for the schema,
 * `{app}` and `{worker}` for the roles. Keys and indexes of tenant tables begin with the database (tenant), except indexes
 * for the worker's queries over all databases.
 */
import { recordTables, withRecords } from '../../record-tables.ts'
import { type Dialect, recordStatements } from '../records.ts'
import { memory, memoryTables } from './blocks.ts'
import { cheaper } from './cheaper.ts'
import { knowledge, knowledgeTables, knowledgeTurns } from './knowledge.ts'
import { liveJobs } from './live-jobs.ts'
import { usage } from './usage-schema.ts'

const first = `
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

/** An index on runs without tasks, which may be far more. */
const runs = `
create index jobs_runs on {s}.jobs (database, conversation, number) where kind = 'run';
`

/** The key that seals notifications, generated by the server. */
const notificationKey = `
create table {s}.notice_key (
  only_row boolean primary key default true check (only_row),
  key bytea not null default sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))
    check (length(key) = 32)
);
insert into {s}.notice_key default values;
`

/** Entries of type `checkpoint`, and replies with more tool calls than run. Earlier versions misread such a log. */
const checkpoints = 'select 1'

/**
 * Content by digest, and which conversations refer to it. `unused_since` is null while a conversation does. Earlier versions would
 * ignore the files of a message, and leave their content behind.
 */
const contents = `
create table {s}.contents (
  database text collate "C" not null check (database <> ''),
  digest text collate "C" not null,
  bytes bytea not null,
  unused_since bigint,
  primary key (database, digest)
);
alter table {s}.contents alter column bytes set storage external;
create index contents_unused on {s}.contents (database, unused_since) where unused_since is not null;
create table {s}.content_uses (
  database text collate "C" not null check (database <> ''),
  conversation text collate "C" not null,
  digest text collate "C" not null,
  media_type text not null,
  name text,
  primary key (database, conversation, digest)
);
create index content_uses_by_digest on {s}.content_uses (database, digest);
`

/** Hand-overs, steps of workflows and branches. Earlier versions misread such a log. */
const handOvers = 'select 1'

/** Protocols among the agents. Earlier versions would take one for an agent. */
const protocols = 'select 1'

/**
 * Who takes part in conversations, and messages of several people; `number` is that of the conversation. Earlier versions misread
 * such a log. They kept the people of a start among its parameters only. A text with an escape is not JSON for this server.
 */
const participants = `
create table {s}.participants (
  database text collate "C" not null check (database <> ''),
  conversation text collate "C" not null,
  person text collate "C" not null,
  position bigint not null,
  number bigint not null,
  name text,
  roles text not null,
  joined_at bigint not null,
  left_at bigint,
  primary key (database, conversation, person)
);
create index participants_by_person on {s}.participants (database, person, number) where left_at is null;
insert into {s}.participants (database, conversation, person, position, number, roles, joined_at)
select c.database, c.id, u.person, min(u.position) - 1, c.number, '[]', c.created_at
from {s}.conversations c
cross join lateral json_array_elements_text(c.parameters::json -> '$users' -> 0) with ordinality as u (person, position)
where strpos(c.parameters, '"$users"') > 0 and strpos(c.parameters, '\\u') = 0
group by c.database, c.id, u.person, c.number, c.created_at;
`

/** API keys, by their digests. Earlier versions keep working beside it: they do not know of keys. */
const keys = `
create table {s}.keys (
  database text collate "C" not null check (database <> ''),
  id text collate "C" not null,
  number bigint generated always as identity,
  digest text collate "C" not null unique,
  holder text collate "C",
  roles text not null,
  name text,
  address text,
  created_by text collate "C" not null,
  created_at bigint not null,
  expires_at bigint,
  last_used_at bigint,
  primary key (database, id)
) with (fillfactor = 80);
create index keys_by_number on {s}.keys (database, number);
`

/** Whom a run works for, and access to single tools. Earlier versions would let it use any. */
const principals = 'select 1'

/**
 * Entries of type `artifact`, and an index of them: `seq` is that of the entry. Earlier versions misread such a log, and would leave
 * the index behind.
 */
const artifacts = `
create table {s}.artifacts (
  database text collate "C" not null check (database <> ''),
  conversation text collate "C" not null,
  seq bigint not null,
  id text collate "C" not null,
  run text collate "C" not null,
  agent text collate "C" not null,
  primary key (database, conversation, seq)
);
create unique index artifacts_by_id on {s}.artifacts (database, id, conversation);
`

/** Here usage is added up at once. This migration keeps the versions of both stores equal. */
const usageMarks = 'select 1'

/** One change of the schema. */
export interface Migration {
  readonly sql: string
  /** Versions that know at least this many migrations keep working beside it, so a rolling deploy needs no stop. */
  readonly worksFrom: number
}

/** Who made a revision of an agent or protocol. Earlier versions would change one without writing it to the audit. */
const changed = 'alter table {s}.agent_revisions add column if not exists changed text'

/** Here a long conversation is stored in one transaction. This migration keeps the versions of both stores equal. */
const unlinked = 'select 1'

/** A model call without a reply is an entry from here on, which earlier versions would take for something else. */
const noReplies = 'select 1'

/** A run may come over A2A, with a chain that holds for its tasks and follow-ups too. Earlier versions would drop it. */
const incomingCalls = 'select 1'

/** A call of an agent on another server has no definition here and a tool as its body. Earlier versions would look for an agent of its name. */
const remoteCalls = 'select 1'

/** A call may hold a part of its tree's budget, and a caller from outside lower it. Earlier versions would spend what is held, and more. */
const sharedBudgets = 'select 1'

/** An entry may say what its process had read of others. Earlier versions would not read its text. */
const views = 'select 1'

/** An agent may demand something before its work. Earlier versions would let it work without. */
const demands = 'select 1'

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

/** How PostgreSQL writes records. */
export const dialect: Dialect = {
  ...{ schema: '{s}.', mark: '$', number: 'bigint generated always as identity', key: 'primary key' },
  ...{ text: 'text collate "C"', integer: 'bigint' },
  among: (column, parameter) => `${column} = any(${parameter})`,
  raise: (table, column) => `
update ${table} r set ${column} = u.at
from unnest($2::text[], $3::bigint[]) as u (id, at)
where r.database = $1 and r.id = u.id and (r.${column} is null or r.${column} < u.at)`,
}

/**
 * Runs by who began them and by their last change. Only a statement that names who began them can use the index. Earlier versions would add
 * runs that no such list has.
 */
const runsByMaker = `
alter table {s}.conversations no force row level security;
alter table {s}.jobs no force row level security;
alter table {s}.jobs add column maker text collate "C";
alter table {s}.jobs add column changed_at bigint;
update {s}.jobs j set changed_at = coalesce(j.ended_at, j.started_at, j.created_at),
  maker = (select c.created_by from {s}.conversations c where c.database = j.database and c.id = j.conversation);
create index jobs_by_maker on {s}.jobs (database, maker, changed_at, id) where kind = 'run' and maker is not null;
`

/** What the worker looks for, in the order in which it looks: a look ends with the last row that it takes. */
const looks = `
create index if not exists jobs_due_in_order on {s}.jobs (due_at, number) where due_at is not null;
drop index if exists {s}.jobs_due;
create index if not exists conversations_by_expiry_in_order on {s}.conversations (expires_at, number) where expires_at is not null;
drop index if exists {s}.conversations_by_expiry;
`

/** Documents of a base name the revision that created it. Earlier versions would not know which are those of a deleted one. */
const firstRevisions = `
alter table {s}.agents add column if not exists first_revision bigint not null default 1;
${knowledgeTurns}`

const steps: readonly Migration[] = [
  { sql: first, worksFrom: 1 },
  { sql: runs, worksFrom: 1 },
  { sql: notificationKey, worksFrom: 1 },
  { sql: checkpoints, worksFrom: 4 },
  { sql: contents, worksFrom: 5 },
  { sql: handOvers, worksFrom: 6 },
  { sql: protocols, worksFrom: 7 },
  { sql: participants, worksFrom: 8 },
  { sql: keys, worksFrom: 8 },
  { sql: principals, worksFrom: 10 },
  { sql: artifacts, worksFrom: 11 },
  { sql: usage, worksFrom: 12 },
  { sql: usageMarks, worksFrom: 12 },
  { sql: changed, worksFrom: 15 },
  { sql: unlinked, worksFrom: 15 },
  { sql: noReplies, worksFrom: 17 },
  { sql: incomingCalls, worksFrom: 18 },
  { sql: remoteCalls, worksFrom: 20 },
  { sql: sharedBudgets, worksFrom: 23 },
  { sql: views, worksFrom: 24 },
  { sql: demands, worksFrom: 25 },
  { sql: runsByMaker, worksFrom: 26 },
  { sql: looks, worksFrom: 26 },
  { sql: cheaper, worksFrom: 28 },
  { sql: liveJobs, worksFrom: 29 },
  { sql: knowledge, worksFrom: 29 },
  { sql: memory, worksFrom: 31 },
  { sql: plans, worksFrom: 32 },
  { sql: firstRevisions, worksFrom: 33 },
  { sql: critiques, worksFrom: 34 },
  { sql: hooks, worksFrom: 35 },
  { sql: guardrails, worksFrom: 36 },
  { sql: mcpTools, worksFrom: 37 },
]

/** Every migration in order; the schema's version is how many have run. Earlier versions work beside a kind of record unknown to them. */
export const migrations: readonly Migration[] = withRecords(steps, (table, { worksFrom }) => {
  return { sql: recordStatements(dialect)(table).create, worksFrom }
})

/** The first version with sums of usage. */
export const usageVersion = migrations.findIndex(({ sql }) => sql === usage) + 1

/** Statements on the key of the notifications. */
export const keySql = {
  read: 'select key from {s}.notice_key',
  /** Works for the owner of the table only. */
  restore: 'insert into {s}.notice_key default values on conflict do nothing',
} as const

/** Every table with rows of databases. `sql/postgres/roles.ts` isolates each by row policies. */
export const tenantTables = [
  ...['conversations', 'entries', 'jobs', 'interruptions'],
  ...['agents', 'agent_revisions', 'replies', 'marks'],
  ...['contents', 'content_uses', 'participants', 'artifacts', 'usage', 'usage_waiting', 'live_jobs', 'ended_runs'],
  ...knowledgeTables,
  ...memoryTables,
  ...recordTables.map(({ name }) => name),
]

/** The table of the schema version, created with the schema. */
export const versionTable = `
create table if not exists {s}.schema_version (
  only_row boolean primary key default true check (only_row),
  version integer not null,
  works_from integer not null
)`
