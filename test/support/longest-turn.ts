/** How long work holds the event loop: its longest turn, in CPU time of this thread, so that a busy machine changes nothing. */

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The result of the work, and the longest stretch between two turns of the loop while it was done, in ms of CPU. */
export async function longestTurn<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly longest: number }> {
  let longest = 0
  let last = cpuMs()
  let isOver = false
  const look = () => {
    const now = cpuMs()
    longest = Math.max(longest, now - last)
    last = now
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  const result = await work().finally(() => {
    look()
    isOver = true
  })
  return { result, longest }
}
