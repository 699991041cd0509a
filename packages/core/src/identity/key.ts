/** What an API key looks like, and the two digests that stand for it. */
import { createHash } from 'node:crypto'

/** The form of a key: `wtn_` and 43 letters and digits, about 256 random bits. */
export const keyPattern = /^wtn_[0-9A-Za-z]{43}$/

/**
 * What a browser keeps in place of the key, as its cookie: it cannot be turned back into the key, and only the cookie's own
 * check accepts it.
 */
export function sessionOfKey(key: string): string {
  return createHash('sha256').update(`witan session ${key}`).digest('base64url')
}

/** The digest that a store keeps of a key. A key has enough random bits that a plain hash cannot be searched. */
export function digestOfKey(key: string): string {
  return digestOfSession(sessionOfKey(key))
}

/** The digest of the key that this session stands for. */
export function digestOfSession(session: string): string {
  return `sha256:${createHash('sha256').update(session).digest('base64url')}`
}
