/** How far a long command is, on a terminal. */
import type { Terminal } from './terminal.ts'
import { clearRow, writeRow } from './tree/screen.ts'

/** Shows what is done right now. */
interface Progress {
  show(text: string): void
  /** Takes the line away. */
  end(): void
}

/** A line that is written over and over on a terminal, at most ten times a second; on a pipe nothing. */
export function createProgress({ errors, environment }: Terminal): Progress {
  if (errors.isTTY !== true || environment.TERM === 'dumb') return { show: () => {}, end: () => {} }
  let at = 0
  return {
    show(text) {
      if (performance.now() - at < 100) return
      at = performance.now()
      writeRow(errors, text)
    },
    end: () => clearRow(errors),
  }
}
