/** The states of conditions that callers on other servers resolve: sealed for whom they are, and read by this server alone [E65]. */
import { createCipheriv, createDecipheriv, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import type { OwnKey } from './own-keys.ts'

/** For whom a state is, and what it resolves. That an interruption is settled once makes its state single use. */
export interface PolicyState {
  /** The address of the agent whose task demands. */
  readonly issuer: string
  readonly task: string
  /** The id of the principal that began the task. */
  readonly caller: string
  readonly interruption: string
  /** In ms of the store's clock. */
  readonly until: number
}

const algorithm = 'aes-256-gcm'
const [ivBytes, tagBytes] = [12, 16]
const longest = 8_000

/** Seals a state, with a secret made from the key that signs now. */
export function sealState(state: PolicyState, [key]: readonly OwnKey[]): string {
  if (key === undefined) throw new Error('a server has a key')
  const { issuer, task, caller, interruption, until } = state
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv(algorithm, secretOf(key.privateKey), iv)
  const sealed = Buffer.concat([
    cipher.update(JSON.stringify([issuer, task, caller, interruption, until])),
    cipher.final(),
  ])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')
}

/** The state that one of these keys has sealed; null for anything else. */
export function openState(given: unknown, keys: readonly OwnKey[]): PolicyState | null {
  if (typeof given !== 'string' || given.length > longest || !/^[\w-]+$/.test(given)) return null
  const bytes = Buffer.from(given, 'base64url')
  if (bytes.length <= ivBytes + tagBytes || bytes.toString('base64url') !== given) return null
  for (const { privateKey } of keys) {
    const opened = openWith(secretOf(privateKey), bytes)
    if (opened !== null) return opened
  }
  return null
}

function openWith(seal: Buffer, bytes: Buffer): PolicyState | null {
  const decipher = createDecipheriv(algorithm, seal, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
  decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()])
    const [issuer, task, caller, interruption, until] = JSON.parse(text.toString()) as [
      string,
      string,
      string,
      string,
      number,
    ]
    return { issuer, task, caller, interruption, until }
  } catch {
    return null
  }
}

const known = new WeakMap<KeyObject, Buffer>()

/** A secret for this purpose alone, made from the key that signs: all processes of a store have the same. */
function secretOf(privateKey: KeyObject): Buffer {
  const found = known.get(privateKey)
  if (found !== undefined) return found
  const made = hkdfSync('sha256', privateKey.export({ format: 'der', type: 'pkcs8' }), '', 'witan policy state v1', 32)
  const secret = Buffer.from(made)
  known.set(privateKey, secret)
  return secret
}
