/** Waiting for something that may outlast the server. */

/** The value, or null when `halt` aborts first. Leaves no listener behind on a signal that lives long [D10]. */
export async function waitFor<Value>(promise: Promise<Value>, halt: AbortSignal): Promise<Value | null> {
  const { promise: halted, resolve } = Promise.withResolvers<null>()
  const onHalt = (): void => resolve(null)
  halt.addEventListener('abort', onHalt)
  if (halt.aborted) onHalt()
  try {
    return await Promise.race([promise, halted])
  } finally {
    halt.removeEventListener('abort', onHalt)
  }
}
