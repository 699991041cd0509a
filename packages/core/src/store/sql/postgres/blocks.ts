/**
 * Statements on blocks of memory. `$1` is the database. An empty subject or conversation is none. A deleted block keeps its row without an id,
 * and the numbers of its revisions without their texts, so that its key goes on counting and a repeated call is known.
 */
import { type BlockFilter, keptRevisions } from '../../../memory/records.ts'
import { erasedKey } from '../../../memory/write.ts'
import { isOver } from './clock.ts'

/** The tables, as the migration creates them. */
export const memory = `
create table if not exists {s}.memory_blocks (
  database text collate "C" not null check (database <> ''),
  number bigint generated always as identity,
  id text collate "C",
  agent text collate "C" not null,
  scope text collate "C" not null,
  subject text collate "C" not null,
  conversation text collate "C" not null,
  key text collate "C" not null,
  kind text collate "C" not null,
  revision bigint not null,
  last bigint not null,
  characters bigint not null,
  created_at bigint not null,
  deleted_at bigint,
  primary key (database, number)
);
create unique index if not exists memory_blocks_by_key on {s}.memory_blocks (database, agent, scope, subject, conversation, key);
create unique index if not exists memory_blocks_by_id on {s}.memory_blocks (database, id) where id is not null;
create index if not exists memory_blocks_by_subject on {s}.memory_blocks (database, subject, number);
create index if not exists memory_blocks_by_conversation on {s}.memory_blocks (database, conversation) where conversation <> '';
create index if not exists memory_blocks_deleted on {s}.memory_blocks (database, deleted_at) where deleted_at is not null;

create table if not exists {s}.memory_revisions (
  database text collate "C" not null check (database <> ''),
  block bigint not null,
  revision bigint not null,
  kind text collate "C" not null,
  call text collate "C",
  at bigint not null,
  written_by text,
  text text,
  primary key (database, block, revision)
);
create unique index if not exists memory_revisions_by_call on {s}.memory_revisions (database, block, call) where call is not null;

create table if not exists {s}.memory_uses (
  database text collate "C" not null check (database <> ''),
  conversation text collate "C" not null,
  subject text collate "C" not null,
  agent text collate "C" not null,
  primary key (database, conversation, subject, agent)
);
create index if not exists memory_uses_by_subject on {s}.memory_uses (database, subject, conversation);
`

/** The tables of blocks. */
export const memoryTables = ['memory_blocks', 'memory_revisions', 'memory_uses']

const columns = `b.id, b.agent, b.scope, nullif(b.subject, '') as subject, nullif(b.conversation, '') as conversation, b.key, b.kind,
  b.revision, b.created_at, r.at as updated_at, r.written_by, r.text`
const revision = 'r.database = b.database and r.block = b.number'
const blocks = `from {s}.memory_blocks b join {s}.memory_revisions r on ${revision} and r.revision = b.revision`
const owned = 'b.database = $1 and b.agent = $2 and b.scope = $3 and b.subject = $4 and b.conversation = $5'

/** Revisions of the block `made`: kind, numbers, calls, times, writers and texts are the parameters from `$first` on. */
const addRevisions = (first: number) => `
insert into {s}.memory_revisions (database, block, revision, kind, call, at, written_by, text)
select $1, made.number, n.revision, $${first}, n.call, n.at, n.written_by, n.text
from made, unnest($${first + 1}::bigint[], $${first + 2}::text[], $${first + 3}::bigint[], $${first + 4}::text[],
  $${first + 5}::text[]) as n (revision, call, at, written_by, text)`
const replacing = `on conflict (database, block, revision) do update
set kind = excluded.kind, call = null, at = excluded.at, written_by = excluded.written_by, text = excluded.text`

/** Statements on blocks. */
export const blockSql = {
  /** The conversations `$2` are not deleted until the transaction ends. */
  keepConversations: `
select c.id from {s}.conversations c where c.database = $1 and c.id = any($2) order by c.id for key share`,
  listThere: `select c.id from {s}.conversations c where c.database = $1 and c.id = any($2) and not ${isOver}`,
  /** Until the transaction ends, nobody else writes blocks of the owner `$2`. */
  lockOwner: `select pg_advisory_xact_lock(hashtext('{s} memory of ' || $1::text), hashtext($2::text))`,
  /** The statements behind it see what was stored before it got the lock. */
  lockKey: `select b.number from {s}.memory_blocks b where ${owned} and b.key = $6 for update`,
  /** What is known of a key. */
  findKey: `
select b.number, b.last, ${columns} from {s}.memory_blocks b
left join {s}.memory_revisions r on ${revision} and r.revision = b.revision where ${owned} and b.key = $6`,
  findCall: `
select r.revision, r.kind, r.at, r.written_by, r.text from {s}.memory_blocks b join {s}.memory_revisions r on ${revision}
where ${owned} and b.key = $6 and r.call = $7`,
  /** The last revision of the blocks of an owner that were erased. */
  lastErased: `select b.last from {s}.memory_blocks b where ${owned} and b.key = '${erasedKey}'`,
  listOwn: `select b.kind, b.key, b.characters from {s}.memory_blocks b where ${owned} and b.id is not null`,
  /** Forgets some blocks that were deleted before `$2`. */
  forgetDeleted: `
with gone as (
  select b.number from {s}.memory_blocks b where b.database = $1 and b.deleted_at < $2 order by b.deleted_at limit 10
  for update skip locked
), revisions as (
  delete from {s}.memory_revisions r using gone where r.database = $1 and r.block = gone.number
)
delete from {s}.memory_blocks b using gone where b.database = $1 and b.number = gone.number`,

  insertBlock: `
with made as (
  insert into {s}.memory_blocks (database, agent, scope, subject, conversation, key, kind, id, revision, last, characters, created_at)
  values ($1, $2, $3, $4, $5, $6, $11, $7, $8, greatest($8, (
    select b.last from {s}.memory_blocks b where ${owned} and b.key = '${erasedKey}'
  )), $9, $10) returning number
)${addRevisions(11)}`,
  /** A block of the key of the deleted one `$2`, behind all others. */
  renewBlock: `
with made as (
  update {s}.memory_blocks b
  set number = default, kind = $7, id = $3, revision = $4, last = greatest(b.last, $4), characters = $5, created_at = $6, deleted_at = null
  where b.database = $1 and b.number = $2 returning b.number
), moved as (
  update {s}.memory_revisions r set block = made.number from made
  where r.database = $1 and r.block = $2 and r.revision <> all($8::bigint[])
), replaced as (
  delete from {s}.memory_revisions r where r.database = $1 and r.block = $2 and r.revision = any($8::bigint[])
)${addRevisions(7)}`,
  changeBlock: `
with made as (
  update {s}.memory_blocks b set kind = $5, revision = $3, last = $3, characters = $4
  where b.database = $1 and b.number = $2 returning b.number
), forgotten as (
  delete from {s}.memory_revisions r where r.database = $1 and r.block = $2 and r.revision <= $3::bigint - ${keptRevisions}
)${addRevisions(5)}`,
  /** More revisions of the block `$2`, which this transaction has stored. */
  addRevisions: `
with made as (select b.number from {s}.memory_blocks b where b.database = $1 and b.id = $2)${addRevisions(3)}`,
  deleteBlock: `
with gone as (
  update {s}.memory_blocks set id = null, revision = $3, last = $3, characters = 0, deleted_at = $4
  where database = $1 and number = $2
), cleared as (
  update {s}.memory_revisions set written_by = null, text = null where database = $1 and block = $2 and text is not null
)
insert into {s}.memory_revisions (database, block, revision, kind, call, at) values ($1, $2, $3, 'core', $5, $6)`,

  /** The blocks of the owners `$2` to `$5`, in their order. */
  readBlocks: `
select ${columns}
from unnest($2::text[], $3::text[], $4::text[], $5::text[]) with ordinality as n (agent, scope, subject, conversation, place)
join {s}.memory_blocks b on b.database = $1 and b.agent = n.agent and b.scope = n.scope and b.subject = n.subject
  and b.conversation = n.conversation and b.id is not null
join {s}.memory_revisions r on ${revision} and r.revision = b.revision
order by n.place, b.key`,
  getBlock: `select ${columns} ${blocks} where b.database = $1 and b.id = $2`,
  lockBlock: 'select number, last from {s}.memory_blocks where database = $1 and id = $2 for update',
  blockPlace: 'select number from {s}.memory_blocks where database = $1 and id = $2',
  listRevisions: `
select r.revision, r.at, r.written_by, r.text from {s}.memory_blocks b join {s}.memory_revisions r on ${revision}
where b.database = $1 and b.id = $2 and r.revision < $3 and r.text is not null order by r.revision desc limit $4`,
  revisionPlace: `
select r.revision from {s}.memory_blocks b join {s}.memory_revisions r on ${revision}
where b.database = $1 and b.id = $2 and r.revision = $3 and r.text is not null`,

  /** The blocks about somebody, of one agent or of all; also deleted ones. */
  lockAbout: `
select number, id from {s}.memory_blocks
where database = $1 and subject = $2 and subject <> '' and ($3::text is null or agent = $3) and key <> '${erasedKey}'
order by number for update`,
  /** Keeps the last revision that the owners of the blocks `$2` had, under a key that no block has. */
  keepErased: `
insert into {s}.memory_blocks as e (database, agent, scope, subject, conversation, key, kind, revision, last, characters, created_at, deleted_at)
select $1, b.agent, b.scope, b.subject, b.conversation, '${erasedKey}', 'core', 0, max(b.last), 0, $3, $3
from {s}.memory_blocks b where b.database = $1 and b.number = any($2)
group by b.agent, b.scope, b.subject, b.conversation order by b.agent, b.scope, b.subject, b.conversation
on conflict (database, agent, scope, subject, conversation, key) do update
set last = greatest(e.last, excluded.last), deleted_at = excluded.deleted_at`,
  /** Of the blocks `$2`. */
  eraseRevisions: 'delete from {s}.memory_revisions where database = $1 and block = any($2)',
  eraseBlocks: 'delete from {s}.memory_blocks where database = $1 and number = any($2)',

  /** A use of somebody's blocks in the conversation `$2`, which is there. */
  noteUse: `
with place as (
  select c.id from {s}.conversations c where c.database = $1 and c.id = $2 and not ${isOver}
    and not exists (select from {s}.memory_uses u
      where u.database = $1 and u.conversation = $2 and u.subject = $3 and u.agent = $4)
  for key share
)
insert into {s}.memory_uses (database, conversation, subject, agent) select $1, place.id, $3, $4 from place
on conflict do nothing`,
  insertUses: `
insert into {s}.memory_uses (database, conversation, subject, agent)
select $1, $2, n.subject, n.agent from unnest($3::text[], $4::text[]) as n (subject, agent) on conflict do nothing`,
  listUses: `
select distinct c.id from {s}.memory_uses u join {s}.conversations c on c.database = u.database and c.id = u.conversation
where u.database = $1 and u.subject = $2 and ($3::text is null or u.agent = $3) and ($4::text is null or u.conversation > $4)
  and not ${isOver}
order by c.id limit $5`,

  listCopied: `
select b.number from {s}.memory_blocks b where b.database = $1 and b.conversation = $2 and b.id is not null
order by b.agent, b.subject, b.key`,
  /** Copies the blocks `$3` to the conversation `$2`, with the ids `$4`. */
  copyBlocks: `
with own as (
  select n.number, n.id, n.place from unnest($3::bigint[], $4::text[]) with ordinality as n (number, id, place)
), made as (
  insert into {s}.memory_blocks as m (database, agent, scope, subject, conversation, key, kind, id, revision, last, characters, created_at)
  select $1, b.agent, b.scope, b.subject, $2, b.key, b.kind, own.id, b.revision, b.revision, b.characters, b.created_at
  from own join {s}.memory_blocks b on b.database = $1 and b.number = own.number order by own.place
  on conflict (database, agent, scope, subject, conversation, key) do update
  set kind = excluded.kind, id = excluded.id, revision = excluded.revision, last = greatest(m.last, excluded.last),
    characters = excluded.characters, created_at = excluded.created_at, deleted_at = null
  returning number, id
)
insert into {s}.memory_revisions (database, block, revision, kind, at, written_by, text)
select $1, made.number, r.revision, r.kind, r.at, r.written_by, r.text
from made join own on own.id = made.id join {s}.memory_revisions r on r.database = $1 and r.block = own.number and r.text is not null
${replacing}`,
  copyUses: `
insert into {s}.memory_uses (database, conversation, subject, agent)
select $1, $3, u.subject, u.agent from {s}.memory_uses u where u.database = $1 and u.conversation = $2 on conflict do nothing`,

  /** Of the conversations `$2`. */
  deleteBlocks: `
with gone as (
  delete from {s}.memory_blocks where database = $1 and conversation <> '' and conversation = any($2) returning number
)
delete from {s}.memory_revisions r using gone where r.database = $1 and r.block = gone.number`,
  deleteUses: 'delete from {s}.memory_uses where database = $1 and conversation = any($2)',
} as const

/** The columns of a filter. */
export const filterColumns = ['agent', 'subject', 'scope', 'kind', 'conversation'] as const

/** A page of blocks before the number `$2`, the latest first; then come the values of the filter, in this order. */
export function listBlocks(filter: BlockFilter): string {
  const names = filterColumns.filter((name) => (filter[name] ?? null) !== null)
  const wanted = names.map((name, index) => ` and b.${name} = $${index + 4} and b.${name} <> ''`).join('')
  return `select ${columns} ${blocks}
where b.database = $1 and b.number < $2 and b.id is not null${wanted} order by b.number desc limit $3`
}
