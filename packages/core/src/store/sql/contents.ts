/**
 * Statements on content. It is stored in parts of 1 MiB, each in a transaction of its own, so that no write takes long. The key of a
 * part is the number of the content times 1024, plus its position.
 */
import { isGone } from './log.ts'

const ofContent = 'key >= ?1 * 1024 and key < (?1 + 1) * 1024'

/** Statements on content and its uses. */
export const contentSql = {
  findContent: 'select number, parts from contents where database = ?1 and digest = ?2',
  insertContent: 'insert into contents (database, digest, unused_since) values (?1, ?2, ?3)',
  /** Content that nobody refers to yet may wait again. */
  renewContent: 'update contents set unused_since = ?2 where number = ?1 and unused_since is not null',
  putPart: 'insert or replace into content_parts (key, bytes) values (?1 * 1024 + ?2, ?3)',
  /** With the number of its parts, content is complete. */
  finishContent: 'update contents set parts = ?2 where number = ?1',
  useContent: `
insert or ignore into content_uses (conversation, content, media_type, name)
select ?1, number, ?4, ?5 from contents where database = ?2 and digest = ?3`,
  holdContent: 'update contents set unused_since = null where database = ?1 and digest = ?2',
  readUse: `
select d.number, d.digest, u.media_type, u.name
from conversations c join content_uses u on u.conversation = c.number join contents d on d.number = u.content
where c.database = ?1 and c.id = ?2 and d.digest = ?3 and not ${isGone('?4')}`,
  readUses: `
select d.number, d.digest, u.media_type, u.name from content_uses u join contents d on d.number = u.content
where u.conversation = ?1 order by d.digest`,
  readParts: `select bytes from content_parts where ${ofContent} order by key`,
  /** The content that has been unused longest, if it has been so since before `?1`. */
  longestUnused: `
select number from contents where unused_since is not null and unused_since < ?1 order by unused_since limit 1`,
  lastPart: `select max(key) as key from content_parts where ${ofContent}`,
  /** Content that loses a part is no longer complete. */
  breakContent: 'update contents set parts = null where number = ?1',
  deletePart: 'delete from content_parts where key = ?1',
  deleteContent: 'delete from contents where number = ?1',
} as const
