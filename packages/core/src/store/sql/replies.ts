/** Statements on remembered replies. */

/** Statements on remembered replies. Parameters are numbered, `?1` being the first. */
export const replySql = {
  getReply: 'select key, digest, status, body, note, at from replies where database = ?1 and key = ?2',
  putReply: `
insert into replies (database, key, digest, at) values (?1, ?2, ?3, ?4)
on conflict (database, key) do update set digest = excluded.digest, at = excluded.at, status = null, body = null, note = null`,
  /** Returns a row if this reply is pending and has no note. */
  heldReply: `
select 1 from replies where database = ?1 and key = ?2 and at = ?3 and status is null and note is null`,
  finishReply: 'update replies set status = ?4, body = ?5 where database = ?1 and key = ?2 and at = ?3',
  noteReply: 'update replies set note = ?3 where database = ?1 and key = ?2',
  /** Pending replies from before this file was opened: their processes are dead, and their effects are unknown. */
  dropLostReplies: 'delete from replies where status is null and note is null',
  deleteReply: 'delete from replies where database = ?1 and key = ?2 and at = ?3 and note is null',
  /** A few of the oldest at a time, so that no call is slow. */
  sweepReplies: `
delete from replies
where database = ?1 and key in (select key from replies where database = ?1 and at < ?2 order by at limit ?3)`,
} as const
