/** Where and when a figure was taken: the machine, its load, the date. */
import { readFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'

/** What stands above every table. */
export interface About {
  readonly node: string
  readonly cores: number
  readonly date: string
  /** Of the last minute, before the measuring began. */
  readonly load: number
  readonly text: string
}

/** Looks at the machine now. */
export function aboutHere(): About {
  const date = new Date().toISOString().slice(0, 16).replace('T', ' ')
  const [load = Number.NaN] = loadavg()
  const cores = availableParallelism()
  const text = `${date} UTC, Node ${process.version}, ${cores} cores, load ${load.toFixed(1)}`
  return { node: process.version, cores, date, load, text }
}

/** CPU milliseconds of a process and of those of its children that were waited for (Linux only, else null). */
export function cpuMsOf(pid: number): number | null {
  if (process.platform !== 'linux') return null
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * 10
  } catch {
    return null
  }
}
