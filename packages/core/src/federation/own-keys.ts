/** The Ed25519 keys of this server: the newest one signs, messages half a minute after it was made; the one before it stays published for a day. */
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { ChangeVia } from '@witan/protocol/keys'
import { changedBy } from '../identity/changed.ts'
import { localPrincipal } from '../identity/principal.ts'
import {
  addSigningKey,
  dropSigningKey,
  listSigningKeys,
  signingNow,
  type SigningKeyRow,
} from '../store/signing-keys.ts'
import type { Store } from '../store/store.ts'

/** A public key as others read it. */
interface PublicJwk {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly x: string
  readonly kid: string
  readonly alg: 'EdDSA'
  readonly use: 'sig'
}

/** A key of this server. Its private part is sealed in a key object, which no serializer opens. */
export interface OwnKey {
  /** The thumbprint of the key (RFC 7638). */
  readonly kid: string
  readonly publicJwk: PublicJwk
  readonly privateKey: KeyObject
  /** In ms of the store's clock. */
  readonly createdAt: number
  /** When it is published no more; null for the key that signs. */
  readonly until: number | null
}

/** The keys of this server, the one that signs first. */
export interface OwnKeys {
  /** All keys that are published. Makes the first one. What another process rotated is seen within ten seconds. */
  list(): Promise<readonly OwnKey[]>
  /** Makes a new key that signs from now on, beside the one before for a day. Returns all published keys. */
  rotate(): Promise<readonly OwnKey[]>
}

/**
 * How long a key is published before messages are signed with it: other processes of the store show it after ten seconds, and another
 * server that has just looked for a key in vain looks again after ten more.
 */
const knownAfterMs = 30_000

/** The key that messages are signed with: the newest that others can know by now; of keys that are all new, the first. */
export function keyOfMessages(keys: readonly OwnKey[], now: number): OwnKey {
  const key = keys.find(({ createdAt }) => createdAt + knownAfterMs <= now) ?? keys.at(-1)
  if (key === undefined) throw new Error('this server has no key')
  return key
}

/** How long a retired key stays published. */
const retiredMs = 86_400_000
const freshMs = 10_000

type KeyStore = Pick<Store, 'listRecords' | 'addRecord' | 'deleteRecord' | 'now'>

/** The keys of a store. Nothing is read before they are asked for. */
export function createOwnKeys(store: KeyStore): OwnKeys {
  let held: { readonly keys: Promise<readonly OwnKey[]>; readonly at: number } | null = null

  function read(): Promise<readonly OwnKey[]> {
    const keys = readOrMake(store)
    const mine = { keys, at: signingNow(store) }
    held = mine
    keys.catch(() => {
      if (held === mine) held = null
    })
    return keys
  }

  return {
    async list() {
      const now = signingNow(store)
      const isFresh = held !== null && now >= held.at && now - held.at < freshMs
      const keys = await (isFresh && held !== null ? held.keys : read())
      return keys.filter(({ until }) => until === null || until > now)
    },
    async rotate() {
      const before = await listSigningKeys(store)
      await addNext(store, before, 'local')
      const after = await listSigningKeys(store)
      for (const { id } of expired(after, signingNow(store))) await dropSigningKey(store, id)
      return read()
    },
  }
}

async function readOrMake(store: KeyStore): Promise<readonly OwnKey[]> {
  const rows = await listSigningKeys(store)
  if (rows.length > 0) return published(rows, signingNow(store))
  await addNext(store, rows, 'code')
  return published(await listSigningKeys(store), signingNow(store))
}

/** Adds a key after these. If another process was faster, its key is as good. */
async function addNext(store: KeyStore, [latest]: readonly SigningKeyRow[], via: ChangeVia): Promise<void> {
  const changed = changedBy({ ...localPrincipal, via }, signingNow(store))
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const { x } = publicKey.export({ format: 'jwk' })
  if (x === undefined) throw new Error('an Ed25519 key has no x')
  const row = {
    id: String(Number(latest?.id ?? 0) + 1),
    thumbprint: thumbprintOf(x),
    privateKey: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    publicKey: x,
    createdAt: changed.at,
  }
  await addSigningKey(store, row, changed)
}

/** The keys that count, from the latest back: each ends a day after the next one was made. */
function published(rows: readonly SigningKeyRow[], now: number): readonly OwnKey[] {
  return rows.map((row, index) => keyOf(row, untilOf(rows, index))).filter(({ until }) => until === null || until > now)
}

function expired(rows: readonly SigningKeyRow[], now: number): readonly SigningKeyRow[] {
  return rows.filter((_, index) => (untilOf(rows, index) ?? now + 1) <= now)
}

function untilOf(rows: readonly SigningKeyRow[], index: number): number | null {
  const next = rows[index - 1]
  return next === undefined ? null : next.createdAt + retiredMs
}

function keyOf({ thumbprint, privateKey, publicKey, createdAt }: SigningKeyRow, until: number | null): OwnKey {
  const publicJwk = { kty: 'OKP', crv: 'Ed25519', x: publicKey, kid: thumbprint, alg: 'EdDSA', use: 'sig' } as const
  const key = createPrivateKey({ key: Buffer.from(privateKey, 'base64'), format: 'der', type: 'pkcs8' })
  return { kid: thumbprint, publicJwk, privateKey: key, createdAt, until }
}

/** The thumbprint of an Ed25519 key (RFC 7638): its required members in order, without blanks. */
export function thumbprintOf(x: string): string {
  return createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url')
}
