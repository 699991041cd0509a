/** A store whose process dies at its n-th append: from then on nothing answers any more, and nothing is done. */
import type { Store } from '@witan/core'

type Append = Parameters<Store['append']>[0]
type AppendResult = Awaited<ReturnType<Store['append']>>

/** `before`: the n-th append is not done; `after`: it is done, and nobody hears of it. */
export type CrashMoment = 'before' | 'after'

interface CrashingStore {
  readonly store: Store
  /** Resolves at the crash. */
  readonly crashed: Promise<void>
  isDead(): boolean
  /** How many appends were asked for. */
  appends(): number
}

/** With `at` 0 it never dies and only counts. Closing it leaves the inner store open: a dead process closes nothing. */
export function crashingStore(inner: Store, at: number, moment: CrashMoment = 'before'): CrashingStore {
  let count = 0
  let dead = false
  let die = (): void => {}
  const crashed = new Promise<void>((resolve) => {
    die = () => {
      dead = true
      resolve()
    }
  })
  const silence = new Promise<never>(() => {})
  const append = (member: Append): Promise<AppendResult> => {
    if (dead) return silence
    count += 1
    if (count !== at) return alive(inner.append(member))
    if (moment === 'before') {
      die()
      return silence
    }
    // Nothing later may get in; what was asked for before is in order before it.
    const done = inner.append(member)
    dead = true
    void done.then(die, die)
    return silence
  }
  const alive = async <Reply>(reply: Promise<Reply>): Promise<Reply> => {
    const told = await reply
    return dead ? silence : told
  }
  const mortal = <Part extends object>(part: Part, own: Partial<Part>): Part =>
    new Proxy(part, {
      get(target, name) {
        if (Object.hasOwn(own, name)) return Reflect.get(own, name)
        const member: unknown = Reflect.get(target, name, target)
        if (typeof member !== 'function') return member
        if (name === 'now' || name === 'listen' || name === 'say') return member.bind(target)
        return (...args: unknown[]) => (dead ? silence : alive(member.apply(target, args) as Promise<unknown>))
      },
    })
  const store = mortal(inner, { append, close: async () => {}, knowledge: mortal(inner.knowledge, {}) })
  return { store, crashed, isDead: () => dead, appends: () => count }
}
