/** The part of a store that holds API keys: a digest of each, never the key itself. */
import type { Addition } from './record.ts'
import type { RowPage } from './row-page.ts'

/** A key's row. Times are in ms of the store's clock. */
export interface KeyRow {
  readonly database: string
  readonly id: string
  /** From `digestOfKey`; unique in the whole store. */
  readonly digest: string
  /** The principal that the key speaks for, such as `user:anna`; null: the key is a principal of its own. */
  readonly holder: string | null
  readonly roles: readonly string[]
  readonly name: string | null
  readonly address: string | null
  readonly createdBy: string
  readonly createdAt: number
  /** Null for never. An expired key stays in the store until it is deleted. */
  readonly expiresAt: number | null
  /** Null before the first use. */
  readonly lastUsedAt: number | null
}

/** One use of a key. */
export interface KeyUse {
  readonly database: string
  readonly id: string
  readonly at: number
}

/** What a store does with keys. */
export interface KeyRecords {
  /** The keys with these digests, of any database and in any order: who knows a digest may read its row, and no other one. */
  findKeys(digests: readonly string[]): Promise<readonly KeyRow[]>
  /** The keys of a database, the latest first. */
  listKeys(database: string, page: RowPage): Promise<readonly KeyRow[]>
  /** Stores a key with the records beside it. False if the database has a key of that id, or any database has its digest. */
  putKey(row: KeyRow, beside?: readonly Addition[]): Promise<boolean>
  /** Deletes a key, and adds the records beside it. False if there was none. */
  deleteKey(database: string, id: string, beside?: readonly Addition[]): Promise<boolean>
  /** Stores when keys were used last, never earlier than before. Keys that are gone are ignored. */
  useKeys(uses: readonly KeyUse[]): Promise<void>
}
