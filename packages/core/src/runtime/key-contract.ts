/** What callers do with API keys: an admin's own, and the look-up of a server. */
import type { ApiKey, CreatedKey, KeyRequest } from '@witan/protocol/keys'
import type { Principal } from '../identity/principal.ts'
import type { Page, PageOptions } from './page.ts'

/** The API keys of a database. */
export interface KeyAdmin {
  /** Creates a key and returns it, once: the store keeps only its digest. Throws `BODY_INVALID`, `UNKNOWN_KEY`. */
  create(request: KeyRequest): Promise<CreatedKey>
  /** The latest first. */
  list(options?: PageOptions): Promise<Page<ApiKey>>
  /** Deletes a key. Servers refuse it within five seconds. Throws `NOT_FOUND`. */
  revoke(keyId: string): Promise<void>
}

/** A key as its check needs it. */
export interface KnownKey {
  readonly keyId: string
  readonly digest: string
  /** In ms of `now`; null for never. */
  readonly expiresAt: number | null
  readonly lastUsedAt: number | null
  readonly principal: Principal
}

/** Looks keys up, whatever their database. It decides nothing: an expired key is found too. */
export interface KeyLookup {
  /** The clock by which the keys of a database expire, in ms. Without one that of `default`, where what belongs to the server stands. */
  now(database?: string): number
  /** The keys with these digests; `digestOfKey` makes one. Throws `STORE_UNAVAILABLE`. */
  find(digests: readonly string[]): Promise<readonly KnownKey[]>
  /** Stores when keys were used last. */
  noteUses(uses: readonly { readonly keyId: string; readonly database: string; readonly at: number }[]): Promise<void>
  /** True if no database has a key. */
  isEmpty(): Promise<boolean>
}
