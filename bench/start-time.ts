/** How long a cold process needs from its start to a constructed agent. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { type Figure, figureOf } from './measure.ts'

/** The time to a constructed agent in ms, built or from source, over so many fresh processes. A first one only warms the file cache. */
export function startTime(processes: number, built: boolean): Figure {
  const script = join(import.meta.dirname, 'start.js')
  const args = ['--no-warnings', ...(built ? [] : ['--conditions=witan-source']), script]
  const times = Array.from({ length: processes + 1 }, () => {
    const told = execFileSync(process.execPath, args, { encoding: 'utf8' })
    return (JSON.parse(told) as { constructed: number }).constructed
  })
  return figureOf(times.slice(1))
}
