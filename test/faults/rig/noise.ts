/** How late this machine is at what it is asked to do now: whoever bounds a time adds it. */
const everyMs = 10

/** Watches until it is stopped, and then gives the worst delay it saw, in ms. */
export function watchNoise(): () => number {
  let [due, worst] = [performance.now() + everyMs, 0]
  const timer = setInterval(() => {
    worst = Math.max(worst, performance.now() - due)
    due = performance.now() + everyMs
  }, everyMs)
  return () => {
    clearInterval(timer)
    return Math.round(worst)
  }
}
