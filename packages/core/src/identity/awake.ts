/** Keeps the process alive for work that nothing else in it waits for. */

const longestMs = 2 ** 31 - 1

/**
 * Each hold keeps the process alive until its release. All holds share one timer, because a timer for each would cost every
 * run.
 */
export function createAwake(): () => () => void {
  let timer: NodeJS.Timeout | null = null
  let holds = 0
  return () => {
    timer ??= setInterval(() => {}, longestMs).unref()
    holds += 1
    if (holds === 1) timer.ref()
    return () => {
      holds -= 1
      if (holds === 0) timer?.unref()
    }
  }
}
