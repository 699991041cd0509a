/** How late this machine is at what it is asked to do now: whoever bounds a time adds it. */
const everyMs = 10

/** A watch on this machine. */
export interface NoiseWatch {
  /** The worst delay so far, in ms. */
  worst(): number
  stop(): void
}

/** Watches until it is stopped; it keeps no process alive. */
export function watchNoise(): NoiseWatch {
  let [due, worst] = [performance.now() + everyMs, 0]
  const timer = setInterval(() => {
    worst = Math.max(worst, performance.now() - due)
    due = performance.now() + everyMs
  }, everyMs)
  timer.unref()
  return { worst: () => Math.round(worst), stop: () => clearInterval(timer) }
}
