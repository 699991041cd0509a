/** The tables of the embedded store for knowledge, in a file of their own, and the statements on them. */

const first = `
create table bases (
  number integer primary key autoincrement,
  database text not null,
  id text not null,
  unique (database, id)
);

create table groups (
  number integer primary key,
  base integer not null,
  digest text not null,
  documents integer not null,
  passages integer not null,
  words integer not null,
  unique (base, digest)
);
create table group_values (
  base integer not null,
  name text not null,
  value text not null,
  grp integer not null,
  primary key (base, name, value, grp)
) without rowid;
create index group_values_by_group on group_values (grp);

create table documents (
  number integer primary key,
  base integer not null,
  key text not null,
  grp integer not null,
  form integer not null unique,
  passages integer not null,
  words integer not null,
  revision integer not null,
  digest text not null,
  ingested_at integer not null,
  ingest integer not null,
  about text not null,
  unique (base, key)
);
create table blocks (
  form integer not null,
  piece integer not null,
  data text not null,
  primary key (form, piece)
) without rowid;
create table passages (
  number integer primary key,
  form integer not null,
  data text not null,
  words text not null
);
create table postings (
  base integer not null,
  word text not null,
  grp integer not null,
  first integer not null,
  data blob not null,
  primary key (base, word, grp, first)
) without rowid;
create table fresh (
  form integer primary key,
  last integer not null,
  base integer not null,
  grp integer not null
);
create table vectors (
  base integer not null,
  grp integer not null,
  passage integer not null,
  vector blob not null,
  primary key (base, grp, passage)
) without rowid;
create table hidden (
  first integer primary key,
  last integer not null,
  form integer not null,
  base integer not null,
  grp integer not null
);

create table dropped (
  base integer primary key
);

create table ingests (
  number integer primary key autoincrement,
  base integer not null,
  id text not null,
  prune text,
  total integer not null,
  remaining integer not null,
  added integer not null default 0,
  changed integer not null default 0,
  unchanged integer not null default 0,
  deleted integer not null default 0,
  started_at integer not null,
  ended_at integer,
  unique (base, id)
);
create index ended_ingests on ingests (ended_at) where ended_at is not null;
create table ingest_keys (
  ingest integer not null,
  key text not null,
  primary key (ingest, key)
) without rowid;
create table failures (
  number integer primary key,
  ingest integer not null,
  data text not null
);
create index failures_by_ingest on failures (ingest, number);
create table waiting (
  number integer primary key autoincrement,
  base integer not null,
  ingest integer not null,
  key text not null,
  about text not null,
  content any,
  owner text,
  lease_until integer not null default 0,
  attempt integer not null default 0
);
create index waiting_by_key on waiting (base, key, number);
create index waiting_by_ingest on waiting (ingest);
create index waiting_by_owner on waiting (owner) where owner is not null;
`

/** How the documents of a group were read, so that a change of their base is noticed, and whose turn it is. */
const turns = `
alter table groups add column reading text not null default '';
alter table waiting add column turn integer not null default 0;
update waiting set turn = number;
create index waiting_by_turn on waiting (turn, number);
create index waiting_by_base on waiting (base, turn);
create index waiting_again on waiting (base) where content is null;
`

/** Every migration in order: forward only, each run once and never edited. */
export const knowledgeMigrations: readonly string[] = [first, turns]

/** Statements on bases, and on groups: the documents of a base with the same attributes. */
export const groupSql = {
  findBase: 'select number from bases where database = ? and id = ?',
  /** What a database has of bases: each once for each way in which it was read. */
  listBases: `select distinct b.id, g.reading from bases b left join groups g on g.base = b.number and g.documents > 0
    where b.database = ?`,
  addBase: 'insert into bases (database, id) values (?, ?) returning number',
  count: `select coalesce(sum(documents), 0) as documents, coalesce(sum(passages), 0) as passages, coalesce(sum(words), 0) as words
    from groups where base = ?`,
  read: 'select passages, words from groups where number = ?',
  listOf: 'select number from groups where base = ?',
  find: 'select number from groups where base = ? and digest = ?',
  add: 'insert into groups (base, digest, reading, documents, passages, words) values (?, ?, ?, 0, 0, 0) returning number',
  change:
    'update groups set documents = documents + ?2, passages = passages + ?3, words = words + ?4 where number = ?1',
  dropEmptyValues: 'delete from group_values where grp = ?1 and (select documents from groups where number = ?1) = 0',
  dropEmpty: 'delete from groups where number = ? and documents = 0',
  dropValuesOf: 'delete from group_values where base = ?',
  dropOf: 'delete from groups where base = ?',
  dropBase: 'delete from bases where number = ?',
  addValue: 'insert or ignore into group_values (base, name, value, grp) values (?, ?, ?, ?)',
  withValue: 'select grp from group_values where base = ? and name = ? and value = ?',
} as const

const documentColumns = 'key, form, passages, revision, digest, ingested_at, about'

/** Statements on documents and their forms. A number of a passage is that of its form and its place. */
export const documentSql = {
  list: `select ${documentColumns} from documents where base = ? and key >= ? and key < ? and key <> ? order by key limit ?`,
  read: `select ${documentColumns}, number, grp, words, ingest from documents where base = ? and key = ?`,
  add: `insert into documents (base, key, grp, form, passages, words, revision, digest, ingested_at, ingest, about)
    values (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?)`,
  change: `update documents set grp = ?, form = ?, passages = ?, words = ?, digest = ?, ingested_at = ?, ingest = ?, about = ?,
    revision = revision + 1 where number = ?`,
  keep: 'update documents set ingest = max(ingest, ?) where number = ?',
  setAbout: 'update documents set about = ? where number = ?',
  delete: 'delete from documents where number = ?',
  deleteOf: 'delete from documents where base = ?',
  pruned: `select d.number, d.key, d.grp, d.form, d.passages, d.words from documents d
    where d.base = ?1 and d.key >= ?2 and d.key < ?3 and d.ingest <= ?4
      and not exists (select 1 from ingest_keys k where k.ingest = ?4 and k.key = d.key)
      and not exists (select 1 from waiting w where w.base = d.base and w.key = d.key and w.content is not null)`,
  addBlocks: 'insert into blocks (form, piece, data) values (?, ?, ?)',
  readBlocks: 'select data from blocks where form = ? and piece = ?',
  deleteBlocks: 'delete from blocks where form = ? and piece >= ? and piece < ?',
  countBlocks: 'select coalesce(max(piece), -1) + 1 from blocks where form = ?',
  addPassage: 'insert into passages (number, form, data, words) values (?, ?, ?, ?)',
  readPassage: 'select data from passages where number = ?',
  nextNumber: `select max(coalesce((select max(number) from passages), 0), coalesce((select max(form) from documents), 0),
    coalesce((select max(last) from hidden), 0)) + 1`,
  placeOf: `select b.id, d.key, ?1 - d.form from passages p join documents d on d.form = p.form join bases b on b.number = d.base
    where p.number = ?1`,
  hide: 'insert into hidden (first, last, form, base, grp) values (?, ?, ?, ?, ?)',
  hideOf: `insert into hidden (first, last, form, base, grp)
    select form, form + max(passages, 1) - 1, form, base, grp from documents where base = ?`,
  show: 'delete from hidden where first = ?',
  listHidden: 'select first, last from hidden order by first',
  firstHidden: `select first, last, form, base, grp, base in (select base from dropped) as dropped from hidden
    order by first limit ?`,
  shrinkHidden: 'update hidden set first = ? where first = ?',
  passages: 'select number, words from passages where number >= ? and number <= ? order by number limit ?',
  deletePassages: 'delete from passages where number >= ? and number <= ?',
} as const

/** Statements on postings, which are packed, and on those that are not packed yet: of forms that are `fresh`. */
export const postingSql = {
  add: 'insert into postings (base, word, grp, first, data) values (?, ?, ?, ?, ?)',
  delete: 'delete from postings where base = ? and word = ? and grp = ? and first = ?',
  ofWord: 'select first, data from postings where base = ? and word = ?',
  /** Of the groups in a list of JSON: each is looked up, and nothing beside them is read. */
  ofGroups: `select p.first, p.data from json_each(?3) g cross join postings p
    where p.base = ?1 and p.word = ?2 and p.grp = g.value`,
  blockOf: `select first, data from postings where base = ? and word = ? and grp = ? and first <= ? order by first desc limit 1`,
  firstBehind: 'select min(first) from postings where base = ? and word = ? and grp = ? and first > ?',
  addFresh: 'insert into fresh (form, last, base, grp) values (?, ?, ?, ?)',
  /** Words of a deleted base are packed no more. */
  listFresh: 'select form, last, base, grp from fresh where base not in (select base from dropped) order by form',
  dropFresh: 'delete from fresh where form = ?',
} as const

/** Statements on vectors. */
export const vectorSql = {
  add: 'insert into vectors (base, grp, passage, vector) values (?, ?, ?, ?)',
  list: 'select passage, vector from vectors where base = ? and grp = ?',
  delete: 'delete from vectors where base = ? and grp = ? and passage >= ? and passage <= ?',
} as const

/** Statements on bases that were deleted, and whose index goes a part at a time. */
export const droppedSql = {
  add: 'insert or ignore into dropped (base) values (?)',
  first: 'select base from dropped limit 1',
  forget: 'delete from dropped where base = ?',
  postings: `delete from postings where base = ?1 and (word, grp, first) in
    (select word, grp, first from postings where base = ?1 limit 300) returning 1`,
  vectors: `delete from vectors where base = ?1 and (grp, passage) in
    (select grp, passage from vectors where base = ?1 limit 300) returning 1`,
} as const

/** Statements on ingests, and on documents that wait. */
export const ingestSql = {
  nextIngest: `select coalesce((select seq from sqlite_sequence where name = 'ingests'), 0) + 1`,
  add: `insert into ingests (number, base, id, prune, total, remaining, started_at) values (?, ?, ?, ?, ?, ?, ?)`,
  addKey: 'insert or ignore into ingest_keys (ingest, key) values (?, ?)',
  addFailure: 'insert into failures (ingest, data) values (?, ?)',
  /**
   * The turns of documents of a base: behind what waits of it, and not before what is claimed now. Bases of one database share its turns.
   */
  nextTurn: `select max(coalesce((select max(turn) from waiting where base = ?1), 0), coalesce((select min(turn) from waiting), 0)) as last,
    1 + (select count(*) from bases o where o.database = (select database from bases where number = ?1) and o.number <> ?1
      and exists (select 1 from waiting w where w.base = o.number)) as step`,
  addWaiting: 'insert into waiting (base, ingest, key, about, content, turn) values (?, ?, ?, ?, ?, ?)',
  /** Those of the base that wait for the first time. */
  countWaiting: 'select count(*) as waiting from waiting where base = ? and content is not null',
  rereads: 'select 1 from waiting where base = ? and content is null limit 1',
  outdated: `select d.key, d.digest, d.about from documents d join groups g on g.number = d.grp
    where d.base = ? and g.reading <> ? and d.key > ? order by d.key limit ?`,
  read: `select number, id, prune, total, remaining, added, changed, unchanged, deleted, started_at, ended_at
    from ingests where base = ? and id = ?`,
  readByNumber: `select number, base, id, prune, total, remaining, added, changed, unchanged, deleted, started_at, ended_at
    from ingests where number = ?`,
  failures: 'select data from failures where ingest = ? order by number',
  count: `update ingests set added = added + ?2, changed = changed + ?3, unchanged = unchanged + ?4, remaining = remaining - 1
    where number = ?1`,
  end: 'update ingests set ended_at = ?2, deleted = deleted + ?3 where number = ?1',
  dropKeys: 'delete from ingest_keys where ingest = ?',
  old: 'select number from ingests where ended_at < ? order by ended_at limit 100',
  drop: 'delete from ingests where number = ?',
  dropFailures: 'delete from failures where ingest = ?',
  ofBase: 'select number from ingests where base = ?',
  dropWaitingOf: 'delete from waiting where base = ?',
  claimable: `select w.number, b.database, b.id as base, i.id as ingest, w.key, w.about, w.content, w.attempt
    from waiting w join bases b on b.number = w.base join ingests i on i.number = w.ingest
    where w.lease_until <= ?1
      and not exists (select 1 from waiting o where o.base = w.base and o.key = w.key and o.number < w.number)
    order by w.turn, w.number limit ?2`,
  claim: 'update waiting set owner = ?2, lease_until = ?3, attempt = attempt + 1 where number = ?1',
  held: 'select base, ingest, key, content is null as rereads from waiting where number = ? and owner = ? and attempt = ?',
  dropWaiting: 'delete from waiting where number = ?',
  giveBack: 'update waiting set owner = null, lease_until = 0 where number = ?',
  renew: 'update waiting set lease_until = ?2 where owner = ?1',
  release: 'update waiting set owner = null, lease_until = 0 where owner = ?',
  releaseAll: 'update waiting set owner = null, lease_until = 0 where owner is not null',
  dropDraft: 'delete from waiting where ingest = ?',
  dropDrafts: 'delete from waiting where ingest not in (select number from ingests)',
} as const
