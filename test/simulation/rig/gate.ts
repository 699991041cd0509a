/** A logical worker's only way to the outside: every call waits for its turn, and a worker that died or was frozen gets none. */
import type { Store } from '@witan/core'
import type { Clock } from '@witan/core/testing'

/** Gives turns: the promise resolves when the scheduler picks it. */
export type Turns = (label: string) => Promise<void>

/** Whether a worker goes on, stands still, or is gone for good. */
export class Gate {
  readonly name: string
  readonly #turns: Turns
  isDead = false
  #thaw: (() => void) | null = null
  #frozen: Promise<void> | null = null

  constructor(name: string, turns: Turns) {
    this.name = name
    this.#turns = turns
  }

  get isFrozen(): boolean {
    return this.#frozen !== null
  }

  /** From now on nothing of it happens any more. */
  die(): void {
    this.isDead = true
  }

  freeze(): void {
    this.#frozen ??= new Promise((resolve) => {
      this.#thaw = resolve
    })
  }

  thaw(): void {
    this.#thaw?.()
    this.#frozen = null
  }

  /** Waits for a turn; a dead worker waits without end. */
  async pass(label: string): Promise<void> {
    await this.#turns(`${this.name} ${label}`)
    while (this.#frozen !== null) await this.#frozen
    // A promise of its own: whatever waits for one that lives on is never forgotten.
    if (this.isDead) await new Promise<never>(() => {})
  }
}

type Method = (...args: unknown[]) => Promise<unknown>

/** A store whose calls, and whose replies, take their turns; appends keep their order, and so do their replies, as the contract says. */
export function gatedStore(inner: Store, gate: Gate): Store {
  const order = { done: Promise.resolve(), told: Promise.resolve() }
  const made = new Map<string | symbol, unknown>([['knowledge', mortal(inner.knowledge, gate)]])
  return new Proxy(inner, {
    get(target, name) {
      const known = made.get(name)
      if (known !== undefined) return known
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function' || name === 'now') return member
      const wrapped = wrap(String(name), member.bind(target) as Method, { gate, order })
      made.set(name, wrapped)
      return wrapped
    },
  })
}

/** Documents take no turns; but whoever is dead is told nothing of them. */
function mortal(knowledge: Store['knowledge'], gate: Gate): Store['knowledge'] {
  return new Proxy(knowledge, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      const method = member.bind(target) as Method
      return async (...args: unknown[]) => (gate.isDead ? new Promise<never>(() => {}) : method(...args))
    },
  })
}

interface Way {
  readonly gate: Gate
  readonly order: { done: Promise<unknown>; told: Promise<unknown> }
}

function wrap(name: string, method: Method, { gate, order }: Way): unknown {
  if (name === 'listen') return gatedListen(method as unknown as Store['listen'], gate)
  if (name === 'say') return (...args: unknown[]) => (gate.isDead ? undefined : method(...args))
  if (name !== 'append') {
    return async (...args: unknown[]) => {
      await gate.pass(name)
      const reply = await method(...args)
      await gate.pass(`${name} reply`)
      return reply
    }
  }
  return (...args: unknown[]) => {
    const done = order.done.then(() => gate.pass(name)).then(() => method(...args))
    order.done = done.catch(() => {})
    const told = Promise.all([done, order.told]).then(async ([reply]) => {
      await gate.pass(`${name} reply`)
      return reply
    })
    order.told = told.catch(() => {})
    return told
  }
}

/** A worker is notified late of what others do, and never once it is dead. */
function gatedListen(listen: Store['listen'], gate: Gate): Store['listen'] {
  const late = (label: string, tell: () => void) => void gate.pass(label).then(tell)
  return (listener) =>
    listen({
      ...listener,
      appended: (at) => late('is notified of an append', () => listener.appended(at)),
      due: () => late('is notified of a job', () => listener.due()),
      gone: (at) => late('is notified of an end', () => listener.gone(at)),
      received: (at, text) => late('receives a text', () => listener.received(at, text)),
    })
}

interface Alarm {
  readonly at: number
  readonly run: () => void
}

/** Time for all workers: it stands still until it is moved, and rings for nobody who is dead or frozen. */
export class SimulatedTime {
  #now = Date.UTC(2026, 0, 1)
  readonly #alarms = new Map<Alarm, Gate>()

  readonly now = (): number => this.#now

  /** The clock of one worker, so much ahead of the store's. */
  clockOf(gate: Gate, skewMs = 0): Clock {
    return {
      now: () => this.#now + skewMs,
      after: (ms, run) => {
        const alarm = { at: this.#now + ms, run }
        this.#alarms.set(alarm, gate)
        return () => this.#alarms.delete(alarm)
      },
    }
  }

  advance(ms: number): void {
    this.#now += ms
    this.ring()
  }

  /** Rings what is due; for a thawed worker that may be long ago. */
  ring(): void {
    const due = [...this.#alarms].filter(([{ at }, gate]) => at <= this.#now && !gate.isFrozen)
    for (const [alarm, gate] of due.sort(([one], [other]) => one.at - other.at)) {
      if (this.#alarms.delete(alarm) && !gate.isDead) alarm.run()
    }
  }
}
