/** A part of the terminal that is redrawn in place, and becomes ordinary text when it is done. */
import { asShown, type Shown } from '../shown.ts'
import { type Output, widthOf } from '../terminal.ts'
import { cutText, oneLine, textWidth } from './width.ts'

const hideCursor = '\u001b[?25l'
const showCursor = '\u001b[?25h'
/** Terminals that know it show what stands between the two at once; others pass over it. */
const atOnce = { begin: '\u001b[?2026h', end: '\u001b[?2026l' }
/** Each line is overwritten and only its rest erased: a terminal that keeps what is cleared would keep every frame. */
const eraseRight = '\u001b[K'
const eraseBelow = '\u001b[0J'

/** One line: what is written, and how many columns it takes. */
export interface Row {
  readonly text: Shown
  readonly columns: number
}

/** Redraws its rows in place. What does not fit above the prompt is left out at the top until `finish`. */
interface Screen {
  draw(rows: readonly Row[]): void
  /** Notes that other text was written below the rows, by the columns of its lines. The next drawing removes it. */
  wrote(columns: readonly number[]): void
  /** Draws the rows whole, once and for all; the next drawing starts below them. */
  finish(rows: readonly Row[]): void
  /** Gives the cursor back; also after an error. */
  close(): void
}

/** Writes one row over the row of the cursor, cut to the width of the terminal. */
export function writeRow(output: Output, text: string): void {
  output.write(asShown(`\r${eraseRight}${cutText(oneLine(text), Math.max(1, widthOf(output) - 1))}`))
}

/** Empties the row of the cursor. */
export function clearRow(output: Output): void {
  output.write(asShown(`\r${eraseRight}`))
}

/** Makes a screen that starts at the cursor's line. */
export function createScreen(output: Output): Screen {
  let drawn: readonly number[] = []
  const columns = () => widthOf(output)
  /** A terminal that became narrower has wrapped what was drawn. */
  const height = () => drawn.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns())), 0)
  const home = () => {
    const up = Math.min(height(), Math.max(0, (output.rows || 24) - 1))
    return up === 0 ? '\r' : `\r\u001b[${up}A`
  }
  const put = (rows: readonly Row[], before: string) => {
    const text = rows.map((row) => `${row.text}${eraseRight}\n`).join('')
    output.write(asShown(`${before}${atOnce.begin}${home()}${text}${eraseBelow}${atOnce.end}`))
  }
  return {
    draw: (rows) => {
      const room = Math.max(1, (output.rows || 24) - 2)
      const hidden = rows.length - room
      const note = asShown(`… ${hidden + 1} lines above`)
      const shown = hidden <= 0 ? rows : [{ text: note, columns: textWidth(note) }, ...rows.slice(hidden + 1)]
      put(shown, hideCursor)
      drawn = shown.map((row) => row.columns)
    },
    wrote: (widths) => {
      drawn = [...drawn, ...widths]
    },
    finish: (rows) => {
      put(rows, '')
      output.write(asShown(showCursor))
      drawn = []
    },
    close: () => {
      output.write(asShown(showCursor))
    },
  }
}
