/**
 * Statements on blocks of memory. A deleted block keeps its row without an id, and the numbers of its revisions without their texts, so that
 * its key goes on counting and a repeated call is known. `conversation` is the number of one.
 */
import { erasedKey } from '../../memory/write.ts'
import { isGone } from './log.ts'

/** The tables, as the migration creates them. */
export const memory = `
create table if not exists memory_blocks (
  number integer primary key,
  database text not null,
  id text,
  agent text not null,
  scope text not null,
  subject text,
  conversation integer,
  key text not null,
  kind text not null,
  revision integer not null,
  last integer not null,
  characters integer not null,
  created_at integer not null,
  deleted_at integer
);
create index if not exists memory_blocks_by_owner on memory_blocks (database, agent, scope, subject, conversation, key);
create unique index if not exists memory_blocks_by_id on memory_blocks (database, id) where id is not null;
create index if not exists memory_blocks_by_subject on memory_blocks (database, subject);
create index if not exists memory_blocks_by_conversation on memory_blocks (conversation) where conversation is not null;
create index if not exists memory_blocks_by_deletion on memory_blocks (deleted_at) where deleted_at is not null;

create table if not exists memory_revisions (
  number integer primary key,
  block integer not null,
  revision integer not null,
  kind text not null,
  call text,
  at integer not null,
  written_by text,
  text text,
  unique (block, revision)
);
create unique index if not exists memory_revisions_by_call on memory_revisions (block, call) where call is not null;

create table if not exists memory_uses (
  conversation integer not null,
  subject text not null,
  agent text not null,
  database text not null,
  primary key (conversation, subject, agent)
) without rowid;
create index if not exists memory_uses_by_subject on memory_uses (database, subject, conversation);
`

const columns = `b.id, b.agent, b.scope, b.subject, c.id as conversation, b.key, b.kind, b.revision, b.created_at,
  r.at as updated_at, r.written_by, r.text`
const blocks = `from memory_blocks b
join memory_revisions r on r.block = b.number and r.revision = b.revision
left join conversations c on c.number = b.conversation`
const owned = 'b.database = ?1 and b.agent = ?2 and b.scope = ?3 and b.subject is ?4 and b.conversation is ?5'
const filtered = '(?4 is null or b.agent = ?4) and (?5 is null or b.scope = ?5) and (?6 is null or b.kind = ?6)'
/** By their numbers, the latest first, until a page is full: the `+` keeps an index from being read whole and sorted. */
const page = (database: string) =>
  `select ${columns} ${blocks} where ${database} = ?1 and b.number < ?2 and b.id is not null and ${filtered}`

/** Statements on blocks. */
export const blockSql = {
  /** The number of a conversation that is there. */
  conversationOf: `select c.number from conversations c where c.database = ?1 and c.id = ?2 and not ${isGone('?3')}`,
  readBlocks: `select ${columns} ${blocks} where ${owned} and b.id is not null order by b.key`,
  getBlock: `select ${columns} ${blocks} where b.database = ?1 and b.id = ?2`,
  findBlock: 'select number, last from memory_blocks where database = ?1 and id = ?2',
  listBlocks: `${page('+b.database')} order by b.number desc limit ?3`,
  listBlocksAbout: `${page('b.database')} and b.subject = ?7 order by b.number desc limit ?3`,
  listBlocksOf: `${page('+b.database')} and (?7 is null or b.subject = ?7)
  and b.conversation = (select number from conversations where database = ?1 and id = ?8)
order by b.number desc limit ?3`,
  listRevisions: `
select revision, at, written_by, text from memory_revisions
where block = ?1 and revision < ?2 and text is not null order by revision desc limit ?3`,
  hasRevision: 'select 1 from memory_revisions where block = ?1 and revision = ?2 and text is not null',

  /** What is known of a key. */
  findKey: `select b.number, b.id, b.last from memory_blocks b where ${owned} and b.key = ?6`,
  listOwn: `select b.kind, b.key, b.characters from memory_blocks b where ${owned} and b.id is not null`,
  findCall: 'select revision, kind, at, written_by, text from memory_revisions where block = ?1 and call = ?2',
  insertBlock: `
insert into memory_blocks (number, database, agent, scope, subject, conversation, key, id, kind, revision, last, characters, created_at, deleted_at)
values (?14, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)`,
  /** The highest number of a block. */
  lastNumber: 'select coalesce(max(number), 0) from memory_blocks',
  updateBlock: 'update memory_blocks set kind = ?2, revision = ?3, last = ?3, characters = ?4 where number = ?1',
  insertRevision: `
insert or replace into memory_revisions (block, revision, kind, call, at, written_by, text) values (?1, ?2, ?3, ?4, ?5, ?6, ?7)`,
  /** What is known of the deleted block `?1` belongs to the block `?2`, which has its key. */
  /** Deletes the revisions of the block `?1` up to `?2`. */
  forgetRevisions: 'delete from memory_revisions where block = ?1 and revision <= ?2',
  moveRevisions: 'update memory_revisions set block = ?2, written_by = null, text = null where block = ?1',
  deleteKey: 'delete from memory_blocks where number = ?1',

  /** The last revision that blocks of the owner of the block `?1` had, under a key that none has: this block is erased. */
  raiseErased: `
update memory_blocks as e set last = max(e.last, b.last), deleted_at = ?2 from memory_blocks b
where b.number = ?1 and e.database = b.database and e.agent = b.agent and e.scope = b.scope and e.subject is b.subject
  and e.conversation is b.conversation and e.key = '${erasedKey}' returning 1`,
  insertErased: `
insert into memory_blocks (number, database, agent, scope, subject, conversation, key, kind, revision, last, characters, created_at, deleted_at)
select ?3, database, agent, scope, subject, conversation, '${erasedKey}', 'core', 0, last, 0, ?2, ?2 from memory_blocks where number = ?1`,

  setDeleted: `
update memory_blocks set id = null, revision = ?2, last = ?2, characters = 0, deleted_at = ?3 where number = ?1`,
  /** Removes some texts of the block `?1` behind the revision `?2`. */
  clearTexts: `
update memory_revisions set written_by = null, text = null where number in (
  select number from memory_revisions where block = ?1 and revision > ?2 and text is not null order by revision limit ?3)
returning revision`,
  /** Deletes some revisions of the block `?1` before its present one, and then the rest. */
  deleteEarlier: `
delete from memory_revisions where number in (
  select r.number from memory_revisions r
  where r.block = ?1 and r.revision < (select b.revision from memory_blocks b where b.number = ?1) limit ?2) returning 1`,
  deleteRevisions: 'delete from memory_revisions where block = ?1',

  /** The next block to delete, and whether it is one that readers find. */
  firstAbout: `
select number, id is not null from memory_blocks
where database = ?1 and subject = ?2 and (?3 is null or agent = ?3) and key <> '${erasedKey}' order by number limit 1`,
  firstOf: 'select number, id is not null from memory_blocks where conversation = ?1 order by number limit 1',
  firstDeleted: 'select number, 0 from memory_blocks where deleted_at < ?1 order by deleted_at limit 1',
  /** Removes the texts of deleted blocks that a process left when it ended. */
  clearDeleted: `
update memory_revisions set written_by = null, text = null
where text is not null and block in (select number from memory_blocks where deleted_at is not null)`,
  /** Takes the blocks of a conversation that is deleted from every reader. */
  unlinkBlocks: 'update memory_blocks set id = null where conversation = ?1',

  hasUse: 'select 1 from memory_uses where conversation = ?1 and subject = ?2 and agent = ?3',
  insertUse: 'insert or ignore into memory_uses (conversation, subject, agent, database) values (?1, ?2, ?3, ?4)',
  listUses: `
select distinct c.id from memory_uses u join conversations c on c.number = u.conversation
where u.database = ?1 and u.subject = ?2 and (?3 is null or u.agent = ?3) and (?4 is null or c.id > ?4) and not ${isGone('?6')}
order by c.id limit ?5`,
  deleteUses: `
delete from memory_uses where conversation = ?1 and (subject, agent) in (
  select subject, agent from memory_uses where conversation = ?1 limit ?2) returning 1`,

  hasBlocks: 'select 1 from memory_blocks where conversation = ?1 and id is not null',
  listCopied: `
select number, agent, scope, subject, key, kind, revision, characters, created_at from memory_blocks
where conversation = ?1 and id is not null order by agent, subject, key`,
  /** Copies some revisions of the block `?1` behind those that its copy `?2` has. */
  copyRevisions: `
insert into memory_revisions (block, revision, kind, at, written_by, text)
select ?2, revision, kind, at, written_by, text from memory_revisions
where block = ?1 and text is not null and exists (select 1 from memory_blocks where number = ?2)
  and revision > (select coalesce(max(revision), 0) from memory_revisions where block = ?2)
order by revision limit ?3 returning 1`,
  isArriving: 'select 1 from memory_blocks where number = ?1 and id is null',
  /** All texts of the block are there: from now on readers find it. */
  setArrived: 'update memory_blocks set id = ?2, deleted_at = null where number = ?1',
  copyUses: `
insert or ignore into memory_uses (conversation, subject, agent, database)
select ?2, subject, agent, database from memory_uses where conversation = ?1`,
} as const
