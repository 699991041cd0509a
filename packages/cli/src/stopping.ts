/** Serves until a signal stops it; an unhandled rejection of a tool does not end the process. */
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

/** Logs the rejection of a promise that a tool never awaited; the process and its other runs go on. */
export function surviveStrayRejections(): void {
  const log = createLog('error')
  process.on('unhandledRejection', (error) => log('error', 'unhandled promise rejection', { error }))
}

/** The end of a process that stops in order. What still hangs (a tool that ignores its abort, a lost connection) must not hold it. */
export function endOf(isDone: boolean): ExitCode {
  if (!isDone) process.exit(exitCodes.failed)
  return exitCodes.done
}
