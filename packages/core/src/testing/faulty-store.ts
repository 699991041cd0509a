/** A store that fails on purpose, with seeded faults in any method of the contract. */
import { WitanError } from '@witan/protocol'
import type { Store } from '../store/store.ts'

/**
 * `fail`: the call is not executed, and throws. `executeAndFail`: the call is executed, and throws all the same, as when the reply
 * to a commit is lost. `delay`: the call is executed, and its reply comes late.
 */
export type FaultKind = 'fail' | 'executeAndFail' | 'delay'

/** The methods that may fail, and those of knowledge behind its name. */
export type FaultyMethod =
  | Exclude<keyof Store, 'now' | 'history' | 'knowledge' | 'open' | 'close' | 'listen'>
  | `knowledge.${keyof Store['knowledge']}`

/** The probability of each kind per method, from 0 to 1. */
export type FaultRates = Readonly<Partial<Record<FaultyMethod, Readonly<Partial<Record<FaultKind, number>>>>>>

/** The seed and rates of the faults. */
export interface FaultyStoreOptions {
  /** The same seed gives the same faults for the same sequence of calls. */
  readonly seed: number
  readonly rates: FaultRates
  /** What a delayed reply waits for. Default: the next turn of the event loop. */
  readonly late?: () => Promise<void>
}

/** One injected fault. */
export interface FiredFault {
  readonly method: FaultyMethod
  readonly kind: FaultKind
  /** The number of the call of that method, from 1. */
  readonly call: number
}

/** The failing store and its faults so far. After `heal` it fails no more. */
export interface FaultyStore {
  readonly store: Store
  readonly fired: readonly FiredFault[]
  heal(): void
}

type Method = (...args: unknown[]) => Promise<unknown>
type Saying = (...args: unknown[]) => unknown

/**
 * Wraps a store. Replies to appends keep their order, as the contract promises. If an append fails, so do later ones made before
 * its rejection, so that no log has a gap. A text sent with `notify` may be lost without an error. `listen` is passed on unchanged.
 */
export function faultyStore(inner: Store, options: FaultyStoreOptions): FaultyStore {
  const fired: FiredFault[] = []
  const faults = new Faults(options, fired)
  const faulty = <Target extends object>(of: Target, prefix: '' | 'knowledge.'): Target => {
    const made = new Map<string | symbol, unknown>()
    return new Proxy(of, {
      get(target, name) {
        const known = made.get(name)
        if (known !== undefined) return known
        const member: unknown = Reflect.get(target, name, target)
        const isKnowledge = prefix === '' && name === 'knowledge'
        if (typeof member !== 'function' && !isKnowledge) return member
        const wrapped = isKnowledge
          ? faulty(member as object, 'knowledge.')
          : wrappedMethod((member as Method).bind(target) as Method, `${prefix}${String(name)}`)
        made.set(name, wrapped)
        return wrapped
      },
    })
  }
  const wrappedMethod = (method: Method, name: string) => (isFaulty(name) ? faults.wrap(name, method) : method)
  const store = faulty(inner, '')
  const heal = () => {
    faults.isHealed = true
  }
  return { store, fired, heal }
}

const spared: ReadonlySet<string> = new Set(['now', 'open', 'close', 'listen'])

function isFaulty(name: string): name is FaultyMethod {
  return !spared.has(name)
}

class Faults {
  readonly #options: FaultyStoreOptions
  readonly #fired: FiredFault[]
  readonly #random: () => number
  readonly #calls = new Map<FaultyMethod, number>()
  isHealed = false
  /** Failed appends whose promise is not rejected yet. */
  #unreported = 0
  #lastAppend: Promise<unknown> = Promise.resolve()

  constructor(options: FaultyStoreOptions, fired: FiredFault[]) {
    this.#options = options
    this.#fired = fired
    this.#random = seeded(options.seed)
  }

  wrap(name: FaultyMethod, method: Method): Saying {
    if (name === 'notify') return (...args) => notify(this.#draw(name), this.#options.late, () => method(...args))
    if (name === 'append') return (...args) => this.#append(() => method(...args))
    return (...args) => this.#play(this.#draw(name), name, () => method(...args))
  }

  #append(run: () => Promise<unknown>): Promise<unknown> {
    const drawn = this.#draw('append')
    const kind = this.#unreported > 0 ? 'fail' : drawn
    if (kind === 'fail') this.#unreported += 1
    const reply = this.#play(kind, 'append', run)
    // It may reject while an earlier reply is still delayed.
    reply.catch(() => null)
    const inOrder = this.#lastAppend.then(() => reply)
    this.#lastAppend = inOrder.catch(() => {
      if (kind === 'fail') this.#unreported -= 1
    })
    return inOrder
  }

  /** Every call draws one number, whatever its result, so that a seed always gives the same faults. */
  #draw(method: FaultyMethod): FaultKind | null {
    const call = 1 + (this.#calls.get(method) ?? 0)
    this.#calls.set(method, call)
    let rest = this.#random()
    if (this.isHealed) return null
    const rates = this.#options.rates[method] ?? {}
    for (const kind of ['fail', 'executeAndFail', 'delay'] as const) {
      rest -= rates[kind] ?? 0
      if (rest >= 0) continue
      this.#fired.push({ method, kind, call })
      return kind
    }
    return null
  }

  async #play(kind: FaultKind | null, name: FaultyMethod, run: () => Promise<unknown>): Promise<unknown> {
    if (kind === 'fail') throw brokenError(name)
    const reply = await run()
    if (kind === 'executeAndFail') throw brokenError(name)
    if (kind === 'delay') await (this.#options.late ?? nextTurn)()
    return reply
  }
}

/** `notify` returns no promise, so a fault loses or delays the text and never throws. */
function notify(kind: FaultKind | null, late: (() => Promise<void>) | undefined, run: () => unknown): void {
  if (kind === 'delay') void (late ?? nextTurn)().then(run)
  else if (kind !== 'fail') run()
}

function brokenError(method: string): WitanError {
  return new WitanError('STORE_UNAVAILABLE', `The store failed in \`${method}\`, as configured.`, {
    hint: 'This store fails on purpose; see its seed and rates.',
  })
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Numbers from 0 to 1 (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
