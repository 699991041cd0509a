/** A wall clock that is wrong in this process only; what measures durations stays right, as it does on a machine whose clock is set. */
const RightDate = Date

/** From now on the wall clock is `skewMs` ahead, or behind; 0 sets it right. */
export function skewClock(skewMs: number): void {
  const now = (): number => RightDate.now() + skewMs
  globalThis.Date = new Proxy(RightDate, {
    construct: (target, given, self) => Reflect.construct(target, given.length === 0 ? [now()] : given, self),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  })
}
