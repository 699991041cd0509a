/** A part of the terminal that is redrawn in place, and becomes ordinary text when it is done. */
import type { Output } from '../terminal.ts'
import { textWidth } from './width.ts'

const hideCursor = '\u001b[?25l'
const showCursor = '\u001b[?25h'
/** Terminals that know it show what stands between the two at once; others pass over it. */
const atOnce = { begin: '\u001b[?2026h', end: '\u001b[?2026l' }
/** Each line is overwritten and only its rest erased: a terminal that keeps what is cleared would keep every frame. */
const eraseRight = '\u001b[K'
const eraseBelow = '\u001b[0J'

/** One line: what is written, and how many columns it takes. */
export interface Row {
  readonly text: string
  readonly columns: number
}

/** Redraws its rows in place. What does not fit above the prompt is left out at the top until `finish`. */
export interface Screen {
  draw(rows: readonly Row[]): void
  /** Notes that other text was written below the rows, by the columns of its lines. The next drawing removes it. */
  wrote(columns: readonly number[]): void
  /** Draws the rows whole, once and for all; the next drawing starts below them. */
  finish(rows: readonly Row[]): void
  /** Gives the cursor back; also after an error. */
  close(): void
}

/** Makes a screen that starts at the cursor's line. */
export function createScreen(output: Output): Screen {
  let drawn: readonly number[] = []
  const columns = () => Math.max(1, output.columns ?? 80)
  /** A terminal that became narrower has wrapped what was drawn. */
  const height = () => drawn.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns())), 0)
  const home = () => {
    const up = Math.min(height(), Math.max(0, (output.rows ?? 24) - 1))
    return up === 0 ? '\r' : `\r\u001b[${up}A`
  }
  const put = (rows: readonly Row[], before: string) => {
    const text = rows.map((row) => `${row.text}${eraseRight}\n`).join('')
    output.write(`${before}${atOnce.begin}${home()}${text}${eraseBelow}${atOnce.end}`)
  }
  return {
    draw: (rows) => {
      const room = Math.max(1, (output.rows ?? 24) - 2)
      const hidden = rows.length - room
      const note = `… ${hidden + 1} lines above`
      const shown = hidden <= 0 ? rows : [{ text: note, columns: textWidth(note) }, ...rows.slice(hidden + 1)]
      put(shown, hideCursor)
      drawn = shown.map((row) => row.columns)
    },
    wrote: (widths) => {
      drawn = [...drawn, ...widths]
    },
    finish: (rows) => {
      put(rows, '')
      output.write(showCursor)
      drawn = []
    },
    close: () => {
      output.write(showCursor)
    },
  }
}
