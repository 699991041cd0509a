/**
 * Seals notifications. Any login of a PostgreSQL database may listen on a channel and notify it, so a notification is encrypted with the key of
 * the store: AES-256-GCM, with a derived key per sender, and a number that no sender uses twice.
 */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'

/** The format version. Processes with different format versions ignore each other's notifications. */
const version = '2'
const cipher = 'aes-256-gcm'
const senderBytes = 16
const headBytes = senderBytes + 8
const tagBytes = 16
const stampBytes = 8
/** A payload must be below 8,000 bytes, and base64 holds six bits per byte. */
const maxText = 7_900

/** The most bytes of text that fit into one sealed notification. */
export const mostSealed = Math.floor(((maxText - version.length - 1) * 3) / 4) - headBytes - stampBytes - tagBytes

/** The channel and sender of notifications. `sender` is 16 unique bytes. */
interface SealSettings {
  readonly channel: string
  readonly sender: Buffer
}

/** Seals texts of at most `mostSealed` bytes; `at` is the server's clock. */
type Sealer = (key: Buffer, text: string, at: number) => string

/** A sealer for the lifetime of a sender. Its numbers only increase, even if the key changes. */
export function createSealer({ channel, sender }: SealSettings): Sealer {
  let number = 0
  return (key, text, at) => {
    number += 1
    const [head, stamp] = [Buffer.concat([sender, Buffer.alloc(headBytes - senderBytes)]), Buffer.alloc(stampBytes)]
    head.writeBigUInt64BE(BigInt(number), senderBytes)
    stamp.writeDoubleBE(at)
    const sealing = createCipheriv(cipher, keyOf(key, channel, head), nonceOf(head))
    const sealed = [sealing.update(stamp), sealing.update(text, 'utf8'), sealing.final()]
    const all = Buffer.concat([head, ...sealed, sealing.getAuthTag()])
    return `${version}.${all.toString('base64url')}`
  }
}

/** An opened payload: the text with its sender, or why it is ignored. */
export type Opened =
  | { readonly text: string; readonly sender: Buffer }
  | 'another version'
  /** From a new sender, sealed just before this connection listened. */
  | 'too early'
  /** Not sealed with this key, for another channel, or repeated. */
  | 'not for us'

/** The state of a sender whose notifications open. */
interface Known {
  readonly key: Buffer
  readonly number: number
  readonly at: number
}

const mostSenders = 1_000
/** How long a notification may be in transit, because it is sealed before its transaction. */
const onItsWayMs = 5_000

/** What a connection needs to open notifications. */
interface OpenerSettings {
  readonly key: Buffer
  readonly channel: string
  readonly since: number
}

/**
 * Opens the notifications of one connection, which has listened since `since` of the server's clock. No notification opens twice: the numbers of
 * a sender increase, and a sender's first notification must be newer than the connection, which receives every later one.
 */
export function createOpener({ key, channel, since }: OpenerSettings): (payload: string) => Opened {
  const senders = new Map<string, Known>()
  let from = since
  return (payload) => {
    if (!payload.startsWith(`${version}.`)) return /^\d+\./.test(payload) ? 'another version' : 'not for us'
    const sealed = Buffer.from(payload.slice(version.length + 1), 'base64url')
    if (sealed.length < headBytes + stampBytes + tagBytes) return 'not for us'
    const sender = sealed.subarray(0, senderBytes)
    const number = Number(sealed.readBigUInt64BE(senderBytes))
    const name = sender.toString('hex')
    const known = senders.get(name)
    if (known !== undefined && number <= known.number) return 'not for us'
    const own = known?.key ?? keyOf(key, channel, sealed)
    const opened = open(own, sealed)
    if (opened === null) return 'not for us'
    const at = opened.readDoubleBE(0)
    if (known === undefined && at < from) return at < since && since - at < onItsWayMs ? 'too early' : 'not for us'
    senders.delete(name)
    senders.set(name, { key: own, number, at })
    if (senders.size > mostSenders) from = Math.max(from, forgetOldest(senders))
    return { text: opened.toString('utf8', stampBytes), sender }
  }
}

/** Removes the sender that was silent longest, and returns the time of its last notification. */
function forgetOldest(senders: Map<string, Known>): number {
  const [name, { at }] = senders.entries().next().value as [string, Known]
  senders.delete(name)
  return at
}

function open(key: Buffer, sealed: Buffer): Buffer | null {
  try {
    const opening = createDecipheriv(cipher, key, nonceOf(sealed), { authTagLength: tagBytes })
    opening.setAuthTag(sealed.subarray(-tagBytes))
    return Buffer.concat([opening.update(sealed.subarray(headBytes, -tagBytes)), opening.final()])
  } catch {
    return null
  }
}

/** The key of one sender on one channel: under it no number is used twice. */
function keyOf(key: Buffer, channel: string, sealed: Buffer): Buffer {
  const sender = sealed.subarray(0, senderBytes)
  return createHmac('sha256', key).update(`witan notice ${version} ${channel} `).update(sender).digest()
}

/** The number of the notification, as long as a nonce is. */
function nonceOf(sealed: Buffer): Buffer {
  return Buffer.concat([Buffer.alloc(4), sealed.subarray(senderBytes, headBytes)])
}
