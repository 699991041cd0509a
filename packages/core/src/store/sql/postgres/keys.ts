/** Statements on API keys. */

const columns = `database, id, digest, holder, roles, name, address, created_by, created_at, expires_at, last_used_at`

/** Statements on API keys. All but the first two are of one database, `$1`. */
export const keySql = {
  /** Opens the rows with these digests to the transaction, and no others: see `sql/postgres/roles.ts`. */
  nameDigests: "select set_config('witan.digests', $1, true)",
  findKeys: `select ${columns} from {s}.keys where digest = any($1)`,
  keyPlace: 'select number from {s}.keys where database = $1 and id = $2',
  /** Keys with a number below `$2`, the latest first. */
  listKeys: `select ${columns} from {s}.keys where database = $1 and number < $2 order by number desc limit $3`,
  /** Returns a row if the key is new. */
  putKey: `
insert into {s}.keys (${columns}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
on conflict do nothing returning id`,
  /** The stored digest of a key, for a writer whose commit got no reply. */
  digestOfKey: 'select digest from {s}.keys where database = $1 and id = $2',
  deleteKey: 'delete from {s}.keys where database = $1 and id = $2 returning id',
  /** The ids `$2` with their times `$3`. */
  useKeys: `
update {s}.keys k set last_used_at = u.at
from unnest($2::text[], $3::bigint[]) as u (id, at)
where k.database = $1 and k.id = u.id and (k.last_used_at is null or k.last_used_at < u.at)`,
} as const
