/** The lock file beside a store file: it holds nothing shut, it only says who does. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'

/** Who holds a store file. */
export interface Holder {
  readonly pid: number
  readonly startedAt: string
}

/** Writes who holds `file`. Only for whoever has it open; a failure is no harm, the name of the holder is then unknown. */
export function nameHolder(file: string, holder: Holder): void {
  try {
    rmSync(lockName(file), { force: true })
    writeFileSync(lockName(file), `${JSON.stringify(holder)}\n`, { mode: 0o600, flag: 'wx' })
  } catch {
    // the operating system's own lock is what counts
  }
}

/** Removes the name, just before the file is closed. */
export function forgetHolder(file: string): void {
  try {
    rmSync(lockName(file), { force: true })
  } catch {
    // the next holder overwrites it
  }
}

/** Who says that he holds `file`; null where nobody says so. */
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
