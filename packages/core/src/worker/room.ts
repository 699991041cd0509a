/** How much work a process takes on at once, and whether something was left for want of room. */
import type { Job } from '../job/job.ts'
import type { JobRow } from '../store/store.ts'
import { mostInARow } from './drive.ts'

/** The room of one process. */
export interface Room {
  /** How many more jobs may begin here; whoever gets 0 leaves its work, and is heard of by `isFreeAgain`. */
  left(): number
  /** There may be more to do than was taken. */
  leave(): void
  /** Whether something was left and may now begin; says so once. */
  isFreeAgain(): boolean
  /**
   * Of jobs that were claimed those that must not begin here now: no two are on their last try in one process, so that none is set
   * aside for the fault of another [D23].
   */
  mustWait(claimed: readonly JobRow[]): readonly JobRow[]
  /** Such jobs were given back: nothing is claimed here until the next round. */
  isHolding: boolean
}

/** Room for `most` jobs, of which these are at work. */
export function createRoom(live: ReadonlyMap<string, Job>, most: number): Room {
  let wasLeft = false
  const leave = () => {
    wasLeft = true
  }
  return {
    left() {
      const left = Math.max(0, most - live.size)
      if (left === 0) leave()
      return left
    },
    leave,
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

function isOnLastTry({ memo: { tries }, stopped }: Job): boolean {
  return tries === mostInARow && stopped === null
}
