/** Keeping the process alive for something that nothing in it is waiting for by itself. */

const longestMs = 2 ** 31 - 1

/** Each hold keeps the process alive until it is let go. One timer serves them all: to make one for each would cost every run. */
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
