/** The lock file beside a store file. It locks nothing; it only names the process that holds the store file. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'

/** Who holds a store file. */
interface Holder {
  readonly pid: number
  readonly startedAt: string
}

/** Records this process as the holder of `file`. Call it only with the file open. After a failure the holder is just unknown. */
export function nameHolder(file: string, holder: Holder): void {
  try {
    rmSync(lockName(file), { force: true })
    writeFileSync(lockName(file), `${JSON.stringify(holder)}\n`, { mode: 0o600, flag: 'wx' })
  } catch {
    // the operating system's own lock is what counts
  }
}

/** Removes the record, just before the file is closed. */
export function forgetHolder(file: string): void {
  try {
    rmSync(lockName(file), { force: true })
  } catch {
    // the next holder overwrites it
  }
}

/** The recorded holder of `file`, or null. */
export function readHolder(file: string): Holder | null {
  try {
    const holder = JSON.parse(readFileSync(lockName(file), 'utf8')) as Partial<Holder>
    return Number.isInteger(holder.pid) ? { pid: holder.pid as number, startedAt: String(holder.startedAt) } : null
  } catch {
    return null
  }
}

function lockName(file: string): string {
  return `${file}.lock`
}
