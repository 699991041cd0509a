/** Whether an open store file is still the one at its path: a restored backup takes its place, and nobody would find what is written to the old one. */
import { statSync } from 'node:fs'
import { WitanError } from '@witan/protocol'

/** The place of an open file. */
export interface FilePlace {
  /** Set once it was noticed: nothing is read or written any more. */
  readonly lost: WitanError | null
  /** Looks, and throws `STORE_UNAVAILABLE` from then on if another file is there, or none. Costs about a microsecond. */
  look(): void
}

/** The place of a file that has just been opened. */
export function placeOf(file: string): FilePlace {
  const { dev, ino } = statSync(file)
  let lost: WitanError | null = null
  return {
    get lost() {
      return lost
    },
    look() {
      const now = lost === null ? statSync(file, { throwIfNoEntry: false }) : undefined
      if (now?.ino === ino && now.dev === dev) return
      lost ??= lostError(file, now === undefined)
      throw lost
    },
  }
}

function lostError(file: string, isGone: boolean): WitanError {
  const what = isGone ? 'was removed or renamed' : 'was replaced by another file'
  const hint = 'Start this process again, and replace a store file only while no process has it open.'
  return new WitanError('STORE_UNAVAILABLE', `The store file \`${file}\` ${what} while it was open.`, {
    hint,
    details: { file },
  })
}
