/** How late this machine is at what it is asked to do now: whoever bounds a time adds it. */
const everyMs = 10

/** A watch on this machine. */
export interface NoiseWatch {
  /** The worst delay so far, in ms. */
  worst(): number
  /** All delays so far together, in ms: for what has many steps. */
  sum(): number
  stop(): void
}

/** Watches until it is stopped; it keeps no process alive. */
export function watchNoise(): NoiseWatch {
  let [due, worst, sum] = [performance.now() + everyMs, 0, 0]
  const timer = setInterval(() => {
    const late = Math.max(0, performance.now() - due)
    worst = Math.max(worst, late)
    sum += late
    due = performance.now() + everyMs
  }, everyMs)
  timer.unref()
  return { worst: () => Math.round(worst), sum: () => Math.round(sum), stop: () => clearInterval(timer) }
}
