/**
 * The tables for knowledge on PostgreSQL, and the statements on them. A group is the documents of a base with the same attributes. The index of
 * words are rows of packed postings, as on SQLite: behind row policies no other index than one of plain columns is used.
 */
import { clock } from './clock.ts'

/** The step of the schema. */
export const knowledge = `
create sequence if not exists {s}.knowledge_forms;
create table if not exists {s}.knowledge_groups (
  database text collate "C" not null check (database <> ''),
  base text collate "C" not null,
  number bigint generated always as identity,
  digest text collate "C" not null,
  version bigint not null default 1,
  documents bigint not null default 0,
  passages bigint not null default 0,
  words bigint not null default 0,
  primary key (database, base, digest)
) with (fillfactor = 70);
create table if not exists {s}.knowledge_values (
  database text collate "C" not null check (database <> ''),
  base text collate "C" not null,
  name text collate "C" not null,
  value text collate "C" not null,
  grp bigint not null,
  primary key (database, base, name, value, grp)
);
create index if not exists knowledge_values_by_group on {s}.knowledge_values (database, grp);
create table if not exists {s}.knowledge_documents (
  database text collate "C" not null check (database <> ''),
  base text collate "C" not null,
  key text collate "C" not null,
  grp bigint not null,
  form bigint not null,
  pack bigint,
  passages bigint not null,
  words bigint not null,
  revision bigint not null,
  digest text not null,
  ingested_at bigint not null,
  ingest bigint not null,
  about text not null,
  primary key (database, base, key)
) with (fillfactor = 80);
create unique index if not exists knowledge_documents_by_form on {s}.knowledge_documents (database, form);
create index if not exists knowledge_documents_unpacked on {s}.knowledge_documents (database, base, form) where pack is null;
create table if not exists {s}.knowledge_blocks (
  database text collate "C" not null check (database <> ''),
  base text collate "C" not null,
  form bigint not null,
  piece bigint not null,
  data text not null,
  primary key (database, base, form, piece)
);
create table if not exists {s}.knowledge_passages (
  database text collate "C" not null check (database <> ''),
  base text collate "C" not null,
  form bigint not null,
  place bigint not null,
  data text not null,
  words text not null,
  primary key (database, base, form, place)
);
create table if not exists {s}.knowledge_vectors (
  database text collate "C" not null check (database <> ''),
  base text collate "C" not null,
  grp bigint not null,
  form bigint not null,
  place bigint not null,
  vector bytea not null,
  primary key (database, base, grp, form, place)
);
alter table {s}.knowledge_vectors alter column vector set storage external;
create table if not exists {s}.knowledge_fresh (
  database text collate "C" not null check (database <> ''),
  base text collate "C" not null,
  grp bigint not null,
  form bigint not null,
  place bigint not null,
  length bigint not null,
  counts jsonb not null,
  primary key (database, base, grp, form, place)
);
create table if not exists {s}.knowledge_postings (
  database text collate "C" not null check (database <> ''),
  base text collate "C" not null,
  word text collate "C" not null,
  grp bigint not null,
  pack bigint not null,
  first bigint not null,
  data bytea not null,
  primary key (database, base, word, grp, pack)
);
create table if not exists {s}.knowledge_hidden (
  database text collate "C" not null check (database <> ''),
  base text collate "C" not null,
  form bigint not null,
  grp bigint not null,
  pack bigint not null,
  words text not null,
  primary key (database, base, form)
);
create table if not exists {s}.knowledge_ingests (
  database text collate "C" not null check (database <> ''),
  base text collate "C" not null,
  id text collate "C" not null,
  number bigint generated always as identity,
  prune text collate "C",
  total bigint not null,
  remaining bigint not null,
  added bigint not null default 0,
  changed bigint not null default 0,
  unchanged bigint not null default 0,
  deleted bigint not null default 0,
  started_at bigint not null,
  ended_at bigint,
  primary key (database, base, id)
) with (fillfactor = 70);
create index if not exists knowledge_ingests_ended on {s}.knowledge_ingests (database, ended_at) where ended_at is not null;
create table if not exists {s}.knowledge_ingest_keys (
  database text collate "C" not null check (database <> ''),
  base text collate "C" not null,
  ingest text collate "C" not null,
  key text collate "C" not null,
  primary key (database, base, ingest, key)
);
create table if not exists {s}.knowledge_failures (
  database text collate "C" not null check (database <> ''),
  base text collate "C" not null,
  ingest text collate "C" not null,
  number bigint generated always as identity,
  data text not null,
  primary key (database, base, ingest, number)
);
create table if not exists {s}.knowledge_waiting (
  database text collate "C" not null check (database <> ''),
  base text collate "C" not null,
  number bigint generated always as identity,
  ingest text collate "C" not null,
  key text collate "C" not null,
  about text not null,
  is_text boolean not null,
  content bytea,
  owner text collate "C",
  lease_until bigint not null default 0,
  attempt bigint not null default 0,
  primary key (database, number)
);
alter table {s}.knowledge_waiting alter column content set storage external;
create index if not exists knowledge_waiting_in_order on {s}.knowledge_waiting (number);
create index if not exists knowledge_waiting_by_key on {s}.knowledge_waiting (database, base, key, number);
create index if not exists knowledge_waiting_by_owner on {s}.knowledge_waiting (owner) where owner is not null;
`

/**
 * The next step: how the documents of a group were read, so that a change of their base is noticed, and the turn of each waiting document. Turns of a
 * new ingest begin behind the document that was claimed last, so it does not wait for the end of a long ingest of another base.
 */
export const knowledgeTurns = `
alter table {s}.knowledge_groups add column if not exists reading text collate "C" not null default '';
alter table {s}.knowledge_waiting no force row level security;
alter table {s}.knowledge_waiting add column if not exists turn bigint not null default 0;
alter table {s}.knowledge_waiting add column if not exists rereads boolean not null default false;
update {s}.knowledge_waiting set turn = number, rereads = content is null;
create sequence if not exists {s}.knowledge_turns;
select setval('{s}.knowledge_turns', coalesce((select min(turn) from {s}.knowledge_waiting), 1));
create index if not exists knowledge_waiting_by_turn on {s}.knowledge_waiting (turn, number);
create index if not exists knowledge_waiting_by_base on {s}.knowledge_waiting (database, base, turn);
create index if not exists knowledge_waiting_again on {s}.knowledge_waiting (database, base) where rereads;
drop index if exists {s}.knowledge_waiting_in_order;
`

/** Its tables, each behind the wall. */
export const knowledgeTables: readonly string[] = [
  ...['groups', 'values', 'documents', 'blocks', 'passages', 'vectors', 'fresh', 'postings', 'hidden'],
  ...['ingests', 'ingest_keys', 'failures', 'waiting'],
].map((name) => `knowledge_${name}`)

/** What claiming needs: which documents wait, and who holds them. */
export const knowledgeRights = `
grant usage on sequence {s}.knowledge_forms to {app};
grant select on sequence {s}.knowledge_turns to {app};
grant select, update on sequence {s}.knowledge_turns to {worker};
drop policy if exists worker_looks on {s}.knowledge_waiting;
create policy worker_looks on {s}.knowledge_waiting for select to {worker} using (true);
drop policy if exists worker_claims on {s}.knowledge_waiting;
create policy worker_claims on {s}.knowledge_waiting for update to {worker} using (true) with check (true);
grant select (database, base, number, key, owner, lease_until, attempt, turn), update (owner, lease_until, attempt)
  on {s}.knowledge_waiting to {worker};`

const documentColumns = 'key, grp, form, pack, passages, words, revision, digest, ingested_at, about'

/** Statements on documents and their forms. */
export const documentSql = {
  count: `select coalesce(sum(documents), 0)::bigint as documents, coalesce(sum(passages), 0)::bigint as passages
from {s}.knowledge_groups where database = $1 and base = $2`,
  countWaiting:
    'select count(*) as waiting from {s}.knowledge_waiting where database = $1 and base = $2 and not rereads',
  /** Keys from $3 on, up to $4, but not $5. */
  /** What a database has of bases: each once for each way in which it was read, and once more for its ingests. */
  listBases: `select base, reading from {s}.knowledge_groups where database = $1 and documents > 0 group by base, reading
union all select base, null from {s}.knowledge_ingests where database = $1 group by base
union all select base, null from {s}.knowledge_waiting where database = $1 group by base`,
  list: `select ${documentColumns} from {s}.knowledge_documents
where database = $1 and base = $2 and key >= $3 and ($4::text is null or key < $4) and key <> $5 order by key limit $6`,
  read: `select ${documentColumns} from {s}.knowledge_documents where database = $1 and base = $2 and key = $3`,
  lock: `select ${documentColumns} from {s}.knowledge_documents where database = $1 and base = $2 and key = $3 for update`,
  readBlocks: `select data from {s}.knowledge_blocks where database = $1 and base = $2 and form = $3 and piece = $4`,
  nextForm: `select nextval('{s}.knowledge_forms') as form`,
  put: `insert into {s}.knowledge_documents
  (database, base, key, grp, form, passages, words, revision, digest, ingested_at, ingest, about)
select $1, $2, $3, $4, $5, $6, $7, 1, $8, $9, i.number, $10 from {s}.knowledge_ingests i
where i.database = $1 and i.base = $2 and i.id = $11
on conflict (database, base, key) do update set grp = excluded.grp, form = excluded.form, pack = null, passages = excluded.passages,
  words = excluded.words, revision = knowledge_documents.revision + 1, digest = excluded.digest,
  ingested_at = excluded.ingested_at, about = excluded.about,
  ingest = case when $12 then knowledge_documents.ingest else excluded.ingest end`,
  setAbout: 'update {s}.knowledge_documents set about = $4 where database = $1 and base = $2 and key = $3',
  /** A later ingest has it, unchanged. */
  keep: `update {s}.knowledge_documents d set ingest = greatest(d.ingest, i.number) from {s}.knowledge_ingests i
where d.database = $1 and d.base = $2 and d.key = $3 and i.database = $1 and i.base = $2 and i.id = $4`,
  delete: 'delete from {s}.knowledge_documents where database = $1 and base = $2 and form = any($3)',
  addPassages: `insert into {s}.knowledge_passages (database, base, form, place, data, words)
select $1, $2, $3, u.place, u.data, u.words from unnest($4::bigint[], $5::text[], $6::text[]) as u (place, data, words)`,
  addFresh: `insert into {s}.knowledge_fresh (database, base, grp, form, place, length, counts)
select $1, $2, $3, $4, u.place, u.length, u.counts::jsonb
from unnest($5::bigint[], $6::bigint[], $7::text[]) as u (place, length, counts)`,
  addVectors: `insert into {s}.knowledge_vectors (database, base, grp, form, place, vector)
select $1, $2, $3, $4, u.place, decode(u.vector, 'base64') from unnest($5::bigint[], $6::text[]) as u (place, vector)`,
  addBlocks: 'insert into {s}.knowledge_blocks (database, base, form, piece, data) values ($1, $2, $3, $4, $5)',
  /** Of forms that are packed: their words, with which they are cleared. */
  hide: `insert into {s}.knowledge_hidden (database, base, form, grp, pack, words)
select d.database, d.base, d.form, d.grp, d.pack, string_agg(p.words, E'\\n' order by p.place)
from {s}.knowledge_documents d join {s}.knowledge_passages p on p.database = d.database and p.base = d.base and p.form = d.form
where d.database = $1 and d.base = $2 and d.form = any($3) and d.pack is not null
group by d.database, d.base, d.form, d.grp, d.pack`,
  dropForms: ['passages', 'blocks', 'fresh', 'vectors'].map(
    (name) => `delete from {s}.knowledge_${name} where database = $1 and base = $2 and form = any($3)`,
  ),
  /**
   * What waits goes first: it waits for the ends of documents that are under way, and the statements behind it see what these have stored.
   * What is hidden goes before postings, as a clearing takes them.
   */
  dropBase: [
    ...['waiting', 'documents', 'hidden', 'groups', 'values', 'passages', 'blocks', 'fresh', 'vectors', 'postings'],
    ...['ingests', 'ingest_keys', 'failures'],
  ].map((name) => `delete from {s}.knowledge_${name} where database = $1 and base = $2`),
} as const

/** Statements on groups. */
export const groupSql = {
  make: `insert into {s}.knowledge_groups (database, base, digest, reading) values ($1, $2, $3, $4) on conflict do nothing`,
  addValues: `insert into {s}.knowledge_values (database, base, name, value, grp)
select g.database, g.base, u.name, u.value, g.number
from {s}.knowledge_groups g, unnest($4::text[], $5::text[]) as u (name, value)
where g.database = $1 and g.base = $2 and g.digest = $3 on conflict do nothing`,
  /** Nobody deletes it before this transaction has ended. */
  hold: `select number from {s}.knowledge_groups where database = $1 and base = $2 and digest = $3 for key share`,
  change: `update {s}.knowledge_groups set version = version + 1, documents = documents + $4, passages = passages + $5, words = words + $6
where database = $1 and base = $2 and number = $3`,
  dropEmpty: `with gone as (delete from {s}.knowledge_groups where database = $1 and base = $2 and number = any($3) and documents = 0
  returning number)
delete from {s}.knowledge_values v using gone where v.database = $1 and v.grp = gone.number`,
} as const

/** The groups that a filter with so many names sees, and what they have. The values follow the database and the base, two for each name. */
export function seenGroups(names: number): string {
  const filters = Array.from({ length: names }, (_, index) => {
    const at = 3 + index * 2
    return `and exists (select 1 from {s}.knowledge_values v where v.database = g.database and v.base = g.base
    and v.name = $${at} and v.value = any($${at + 1}) and v.grp = g.number)`
  })
  const list = `string_agg(g.number || ' ' || g.version, ',')`
  return `select coalesce(sum(g.passages), 0)::bigint as passages, coalesce(sum(g.words), 0)::bigint as words, ${list} as groups
from {s}.knowledge_groups g where g.database = $1 and g.base = $2 ${filters.join('\n')}`
}

/** Statements of a search. `$4`: the groups; null for all. */
export const searchSql = {
  postings: `select word, grp, first, data from {s}.knowledge_postings where database = $1 and base = $2 and word = any($3)`,
  postingsOf: `select word, grp, first, data from {s}.knowledge_postings
where database = $1 and base = $2 and word = any($3) and grp = any($4)`,
  fresh: `select form, place, length, array(select coalesce((counts ->> u.word)::int, 0) from unnest($3::text[]) with ordinality
  as u (word, number) order by u.number) as counts
from {s}.knowledge_fresh where database = $1 and base = $2 and ($4::bigint[] is null or grp = any($4)) and counts ?| $3`,
  hidden: `select form from {s}.knowledge_hidden where database = $1 and base = $2 and ($3::bigint[] is null or grp = any($3))`,
  keys: 'select base, key, form from {s}.knowledge_documents where database = $1 and form = any($2)',
  passages: `select d.key, p.place, d.grp, d.about, d.digest, p.data
from unnest($3::text[], $4::bigint[]) as u (key, place)
join {s}.knowledge_documents d on d.database = $1 and d.base = $2 and d.key = u.key
join {s}.knowledge_passages p on p.database = $1 and p.base = $2 and p.form = d.form and p.place = u.place`,
  vectors: `select grp, form, place, vector from {s}.knowledge_vectors
where database = $1 and base = $2 and grp = any($3) and (grp, form, place) > ($4, $5, $6) order by grp, form, place limit $7`,
} as const

/** Statements that pack postings, and clear those of forms that are gone. */
export const packSql = {
  count: `select count(*) as fresh from (select 1 from {s}.knowledge_fresh where database = $1 and base = $2 limit $3) f`,
  lock: `select form from {s}.knowledge_documents where database = $1 and base = $2 and pack is null
order by form limit $3 for update skip locked`,
  read: `select form, place, grp, length, counts::text as counts from {s}.knowledge_fresh
where database = $1 and base = $2 and form = any($3) order by form, place`,
  add: `insert into {s}.knowledge_postings (database, base, word, grp, pack, first, data)
select $1, $2, u.word, u.grp, $3, u.first, decode(u.data, 'base64')
from unnest($4::text[], $5::bigint[], $6::bigint[], $7::text[]) as u (word, grp, first, data)`,
  dropFresh: 'delete from {s}.knowledge_fresh where database = $1 and base = $2 and form = any($3)',
  mark: 'update {s}.knowledge_documents set pack = $4 where database = $1 and base = $2 and form = any($3)',
  hidden: `select form, grp, pack, words from {s}.knowledge_hidden where database = $1 and base = $2
order by form limit $3 for update skip locked`,
  packed: `select word, first, data from {s}.knowledge_postings
where database = $1 and base = $2 and grp = $3 and pack = $4 and word = any($5) for update`,
  replace: `update {s}.knowledge_postings p set first = u.first, data = decode(u.data, 'base64')
from unnest($5::text[], $6::bigint[], $7::text[]) as u (word, first, data)
where p.database = $1 and p.base = $2 and p.grp = $3 and p.pack = $4 and p.word = u.word`,
  drop: `delete from {s}.knowledge_postings where database = $1 and base = $2 and grp = $3 and pack = $4 and word = any($5)`,
  show: 'delete from {s}.knowledge_hidden where database = $1 and base = $2 and form = any($3)',
} as const

const ingestColumns =
  'base, id, number, prune, total, remaining, added, changed, unchanged, deleted, started_at, ended_at'

/** The most bytes of a content that are sent as one value. */
const pieceBytes = 262_144

/** Statements on ingests, and on documents that wait. */
export const ingestSql = {
  dropOld: `with old as (delete from {s}.knowledge_ingests where database = $1 and ended_at < ${clock} - $2::bigint returning base, id)
delete from {s}.knowledge_failures f using old where f.database = $1 and f.base = old.base and f.ingest = old.id`,
  /**
   * Where its base stands: behind what waits of it, and not before what is claimed now. Bases of one database share its turns. The value `$7` has all
   * contents: bytes, or the JSON of a text, since a text may be no Unicode.
   */
  addWaiting: `with lane as (
  select greatest((select last_value from {s}.knowledge_turns),
    coalesce((select max(turn) from {s}.knowledge_waiting where database = $1 and base = $2), 0)) as last,
    1 + (select count(distinct base) from {s}.knowledge_waiting where database = $1 and base <> $2) as step)
insert into {s}.knowledge_waiting (database, base, ingest, key, about, is_text, content, rereads, turn)
select $1, $2, $3, u.key, u.about, u.is_text, substring($7::bytea from u.first for u.length), u.length is null, lane.last + lane.step * u.number
from lane, unnest($4::text[], $5::text[], $6::boolean[], $8::int[], $9::int[]) with ordinality as u (key, about, is_text, first, length, number)
order by u.number`,
  addKeys: `insert into {s}.knowledge_ingest_keys (database, base, ingest, key)
select $1, $2, $3, u.key from unnest($4::text[]) as u (key) on conflict do nothing`,
  addFailures: `insert into {s}.knowledge_failures (database, base, ingest, data)
select $1, $2, $3, u.data from unnest($4::text[]) with ordinality as u (data, number) order by u.number`,
  add: `insert into {s}.knowledge_ingests (database, base, id, prune, total, remaining, started_at)
values ($1, $2, $3, $4, $5, $6, $7)`,
  read: `select ${ingestColumns} from {s}.knowledge_ingests where database = $1 and base = $2 and id = $3`,
  failures: `select data from {s}.knowledge_failures where database = $1 and base = $2 and ingest = $3 order by number`,
  /** Lets one process at a time look for these. */
  lockOutdated: `select 1 from {s}.knowledge_groups where database = $1 and base = $2 and reading <> $3 order by digest limit 1 for update`,
  /** Documents that were read otherwise, by key behind $4; none while one of the base waits to be read again. */
  outdated: `select d.key, d.digest, d.about from {s}.knowledge_documents d
join {s}.knowledge_groups g on g.database = d.database and g.base = d.base and g.number = d.grp
where d.database = $1 and d.base = $2 and g.reading <> $3 and d.key > $4
  and not exists (select 1 from {s}.knowledge_waiting w where w.database = $1 and w.base = $2 and w.rereads)
order by d.key limit $5`,
  held: `select rereads from {s}.knowledge_waiting
where database = $1 and number = $2 and owner = $3 and attempt = $4 for update`,
  dropWaiting: 'delete from {s}.knowledge_waiting where database = $1 and number = $2',
  giveBack: 'update {s}.knowledge_waiting set owner = null, lease_until = 0 where database = $1 and number = $2',
  count: `update {s}.knowledge_ingests set added = added + $4, changed = changed + $5, unchanged = unchanged + $6,
  remaining = remaining - 1 where database = $1 and base = $2 and id = $3 returning remaining, prune`,
  /** What no later ingest has stored, and none waits for. */
  pruned: `select d.key, d.grp, d.form, d.pack, d.passages, d.words from {s}.knowledge_documents d
where d.database = $1 and d.base = $2 and d.key >= $4 and ($5::text is null or d.key < $5)
  and d.ingest <= (select i.number from {s}.knowledge_ingests i where i.database = $1 and i.base = $2 and i.id = $3)
  and not exists (select 1 from {s}.knowledge_ingest_keys k
    where k.database = $1 and k.base = $2 and k.ingest = $3 and k.key = d.key)
  and not exists (select 1 from {s}.knowledge_waiting w where w.database = $1 and w.base = $2 and w.key = d.key
    and not w.rereads)
order by d.key for update`,
  dropKeys: 'delete from {s}.knowledge_ingest_keys where database = $1 and base = $2 and ingest = $3',
  end: `update {s}.knowledge_ingests set ended_at = ${clock}, deleted = $4 where database = $1 and base = $2 and id = $3`,
  /** Table-wide, in the worker role. */
  claim: `update {s}.knowledge_waiting w set owner = $1, lease_until = ${clock} + $2::bigint, attempt = w.attempt + 1
from (select q.database, q.number from {s}.knowledge_waiting q
  where q.lease_until <= ${clock} and not exists (select 1 from {s}.knowledge_waiting o
    where o.database = q.database and o.base = q.base and o.key = q.key and o.number < q.number)
  order by q.turn, q.number limit $3 for update skip locked) d
where w.database = d.database and w.number = d.number returning w.database, w.number, w.attempt, w.turn,
  setval('{s}.knowledge_turns', greatest(w.turn, (select last_value from {s}.knowledge_turns), 1))`,
  /** What is longer than a piece is read by `nameWaiting` and `copyNamed`. */
  readWaiting: `select number, base, ingest, key, about, is_text, octet_length(content) as length,
  case when octet_length(content) <= ${pieceBytes} then content end as content
from {s}.knowledge_waiting where database = $1 and number = any($2) order by number`,
  /** Names the document `$2` for `copyNamed` in this transaction. */
  nameWaiting: `select set_config('witan.document', number::text, true) from {s}.knowledge_waiting
where database = $1 and number = $2`,
  /** In pieces, because a message of the server is held until it is whole. A statement that copies has no parameters. */
  copyNamed: `
copy (
  select substring(w.content from 1 + i * ${pieceBytes} for ${pieceBytes})
  from {s}.knowledge_waiting w, generate_series(0, (octet_length(w.content) - 1) / ${pieceBytes}) i
  where w.database = current_setting('witan.database') and w.number = current_setting('witan.document', true)::bigint
  order by i
) to stdout (format binary)`,
  renew: `update {s}.knowledge_waiting set lease_until = ${clock} + $2::bigint where owner = $1`,
  release: 'update {s}.knowledge_waiting set owner = null, lease_until = 0 where owner = $1',
} as const
