/** Statements on content. `$1` is the database. Transactions lock content after everything else, by digest. */
import { unusedContentMs } from '../../contents.ts'
import { clock, isOver } from './clock.ts'

const pieceBytes = 262_144

/** Statements on content and its uses. */
export const contentSql = {
  /** Content that nobody refers to yet may wait again. */
  putContent: `
insert into {s}.contents as c (database, digest, bytes, unused_since) values ($1, $2, $3, ${clock})
on conflict (database, digest) do update set unused_since = excluded.unused_since where c.unused_since is not null`,
  /** Content that has waited too long for its first use. */
  sweepContents: `delete from {s}.contents where database = $1 and unused_since < ${clock} - ${unusedContentMs}`,
  lockContents: `
select c.digest from {s}.contents c where c.database = $1 and c.digest = any($2) order by c.digest for update`,
  useContents: `
insert into {s}.content_uses (database, conversation, digest, media_type, name)
select $1, n.conversation, n.digest, n.media_type, n.name
from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as n (conversation, digest, media_type, name)
on conflict do nothing`,
  holdContents: `
update {s}.contents set unused_since = null
where database = $1 and digest = any($2) and unused_since is not null`,
  /** All but the bytes, which the digest `$3` names for `copyNamed` in this transaction. */
  nameContent: `
select d.digest, u.media_type, u.name, set_config('witan.content', d.digest, true)
from {s}.conversations c
join {s}.content_uses u on u.database = c.database and u.conversation = c.id
join {s}.contents d on d.database = u.database and d.digest = u.digest
where c.database = $1 and c.id = $2 and u.digest = $3 and not ${isOver}`,
  /** In pieces, because a message of the server is held until it is whole. A statement that copies has no parameters. */
  copyNamed: `
copy (
  select substring(d.bytes from 1 + i * ${pieceBytes} for ${pieceBytes})
  from {s}.contents d, generate_series(0, (octet_length(d.bytes) - 1) / ${pieceBytes}) i
  where d.database = current_setting('witan.database') and d.digest = current_setting('witan.content', true)
  order by i
) to stdout (format binary)`,
  digestsOf: `
select u.digest from {s}.content_uses u where u.database = $1 and u.conversation = $2 order by u.digest`,
} as const

/**
 * Deletes the references of the conversations `$2`, and content that nobody else refers to. The first statement waits for appends
 * that are about to refer to the same content, so that the others see what they have stored.
 */
export const releaseSql = {
  lockUsed: `
select c.digest from {s}.contents c
where c.database = $1
  and c.digest in (select u.digest from {s}.content_uses u where u.database = $1 and u.conversation = any($2))
order by c.digest for update`,
  /** Except the content `$3`, which is used again. */
  markUnused: `
update {s}.contents c set unused_since = 0
where c.database = $1 and not (c.digest = any($3))
  and c.digest in (select u.digest from {s}.content_uses u where u.database = $1 and u.conversation = any($2))
  and not exists (select 1 from {s}.content_uses o
    where o.database = $1 and o.digest = c.digest and not (o.conversation = any($2)))`,
  deleteUses: 'delete from {s}.content_uses where database = $1 and conversation = any($2)',
  deleteUnused: 'delete from {s}.contents where database = $1 and unused_since = 0',
} as const
