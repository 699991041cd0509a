/** Serving until somebody wants the end, and not until a tool is careless. */
import { createLog } from '@witan/server'
import { type ExitCode, exitCodes } from './exit.ts'

/** Resolves at the first SIGINT, SIGTERM or SIGHUP. A second one ends the process at once. */
export function untilStopped(): Promise<void> {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  return new Promise((resolve) => {
    const stop = () => {
      for (const signal of signals) {
        process.removeListener(signal, stop)
        process.once(signal, () => process.exit(130))
      }
      resolve()
    }
    for (const signal of signals) process.on(signal, stop)
  })
}

/** A promise that a tool left behind and that fails is told on standard error, and ends nothing: the runs of others go on. */
export function surviveStrayRejections(): void {
  const log = createLog('error')
  process.on('unhandledRejection', (error) => log('error', 'a promise that nobody waited for has failed', { error }))
}

/** The end of a process that stops in order. What still hangs (a tool that ignores its abort, a lost connection) must not hold it. */
export function endOf(isDone: boolean): ExitCode {
  if (!isDone) process.exit(exitCodes.failed)
  return exitCodes.done
}
