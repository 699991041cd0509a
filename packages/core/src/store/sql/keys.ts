/** Statements on API keys. */

const columns = `database, id, digest, holder, roles, name, address, created_by, created_at, expires_at, last_used_at`

/** Statements on API keys. Parameters are numbered, `?1` being the first. */
export const keySql = {
  findKey: `select ${columns} from keys where digest = ?1`,
  keyPlace: 'select number from keys where database = ?1 and id = ?2',
  /** Keys with a number below `?2`, the latest first. */
  listKeys: `select ${columns} from keys where database = ?1 and number < ?2 order by number desc limit ?3`,
  /** Returns a row if the key is taken. */
  takenKey: 'select 1 from keys where (database = ?1 and id = ?2) or digest = ?3',
  putKey: `insert into keys (${columns}) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)`,
  deleteKey: 'delete from keys where number = ?1',
  useKey: `
update keys set last_used_at = ?3 where database = ?1 and id = ?2 and (last_used_at is null or last_used_at < ?3)`,
} as const
