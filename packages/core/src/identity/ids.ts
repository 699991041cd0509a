/** Generates ids: a random prefix and a counter. Unique across processes, cheap within one. */
import { randomBytes } from 'node:crypto'

/** The source of ids; tests pass a counted one. */
export interface Ids {
  /** A call id such as `c_k3v9x0a1b2_1`. */
  call(): string
  /** A negative number for an entry that the job does not write itself; no two entries of a job share it. */
  append(): number
  /** An interruption id. */
  interruption(): string
  /** The second half of a conversation id; sorts by creation time. */
  conversation(at: number): string
  /** The id of an owner of jobs: one per runtime. */
  owner(): string
}

/** The ids of one runtime: 80 random bits, then a counter. */
export function randomIds(): Ids {
  const own = BigInt(`0x${randomBytes(10).toString('hex')}`).toString(36)
  let count = 0
  const next = () => (++count).toString(36)
  const base = randomBytes(6).readUIntBE(0, 6)
  let appended = 0
  return {
    append: () => -(base + ++appended),
    call: () => `c_${own}_${next()}`,
    interruption: () => `i_${own}_${next()}`,
    conversation: (at) => `${at.toString(36).padStart(9, '0')}-${own.slice(0, 8)}${next()}`,
    owner: () => `w_${own}`,
  }
}

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A new API key of 256 random bits, and its id. Never counted: a key must not be guessed, not even in a test. */
export function randomKey(): { readonly id: string; readonly key: string } {
  let rest = BigInt(`0x${randomBytes(32).toString('hex')}`)
  let text = ''
  for (let index = 0; index < 43; index += 1) {
    text = (letters[Number(rest % 62n)] ?? '') + text
    rest /= 62n
  }
  return { id: randomId(), key: `wtn_${text}` }
}

/** An id of 80 random bits: 16 of a-z and 0-9. */
export function randomId(): string {
  return BigInt(`0x${randomBytes(10).toString('hex')}`)
    .toString(36)
    .padStart(16, '0')
}

/** Counted ids for tests: `c_1`, `c_2`, … */
export function countedIds(): Ids {
  let count = 0
  const next = () => String(++count)
  return {
    append: () => -Number(next()),
    call: () => `c_${next()}`,
    interruption: () => `i_${next()}`,
    conversation: () => next().padStart(4, '0'),
    owner: () => 'w_1',
  }
}

/** A number from 0 to 1, for jitter: never for secrets. */
export const randomNumber = (): number => Math.random()
