/** The capacity of a process: how many jobs it runs at once, and whether it left some for lack of capacity. */
import type { Job } from '../job/job.ts'
import type { JobRow } from '../store/store.ts'
import { mostInARow } from './drive.ts'

/** The capacity of one process. */
export interface Capacity {
  /** How many more jobs may begin here. A 0 is remembered as left work, which `isFreeAgain` reports. */
  remaining(): number
  /** Notes that there may be more due jobs than were claimed. */
  noteLeftWork(): void
  /** Whether left work may now begin; true only once. */
  isFreeAgain(): boolean
  /**
   * The claimed jobs that must not begin here now. A process runs at most one job on its last attempt, so that no job is quarantined
   * for the fault of another [D23].
   */
  mustWait(claimed: readonly JobRow[]): readonly JobRow[]
  /** True after such jobs were released: nothing is claimed here until the next round. */
  isHolding: boolean
}

/** Capacity for `most` jobs; `live` are the ones that run now. */
export function createCapacity(live: ReadonlyMap<string, Job>, most: number): Capacity {
  let wasLeft = false
  const noteLeftWork = () => {
    wasLeft = true
  }
  return {
    remaining() {
      const left = Math.max(0, most - live.size)
      if (left === 0) noteLeftWork()
      return left
    },
    noteLeftWork,
    isFreeAgain() {
      if (!wasLeft || live.size >= most) return false
      wasLeft = false
      return true
    },
    isHolding: false,
    mustWait(claimed) {
      const last = claimed.filter(({ attempts }) => attempts === mostInARow)
      return [...live.values()].some(isOnLastTry) ? last : last.slice(1)
    },
  }
}

function isOnLastTry({ lifecycle: { attempts, stopped } }: Job): boolean {
  return attempts === mostInARow && stopped === null
}
