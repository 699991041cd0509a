/** The terminal as the command line sees it: two streams, a width, colours or none. */
import { styleText } from 'node:util'
import type { Line, Tone } from './tree/lines.ts'
import { wrapLine } from './tree/wrap.ts'

/** What is written to. `columns` and `isTTY` are missing on a pipe. */
export interface Output {
  write(content: string | Uint8Array): unknown
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

/** Streams and environment of one command; tests hand in their own. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly output: Output
  readonly errors: Output
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly folder: string
}

/** The terminal of this process. */
export function processTerminal(): Terminal {
  return {
    input: process.stdin,
    output: process.stdout,
    errors: process.stderr,
    environment: process.env,
    folder: process.cwd(),
  }
}

type Style = Parameters<typeof styleText>[0]

const styles: Readonly<Record<Tone, Style>> = {
  plain: [],
  strong: 'bold',
  faint: 'dim',
  quote: 'italic',
  busy: 'cyan',
  good: 'green',
  bad: 'red',
  wait: 'yellow',
}

/** Turns lines into text: with colours on a terminal, without on a pipe, as NO_COLOR and FORCE_COLOR say. */
export function painter(terminal: Terminal, to: Output = terminal.output): (line: Line) => string {
  if (!wantsColour(terminal, to))
    return (line) =>
      line
        .map((span) => span.text)
        .join('')
        .trimEnd()
  return (line) =>
    line
      .map(({ text, tone }) => paint(tone, text))
      .join('')
      .trimEnd()
}

/** Writes one line and its end. */
export function print(to: Output, text = ''): void {
  to.write(`${text}\n`)
}

/** How wide a line may be: as wide as the terminal, on a pipe as it is said. */
export function columnsOf({ isTTY, columns = 80 }: Output, onPipe: number): number {
  return isTTY === true ? columns : onPipe
}

/** Writes a line of prose: on a terminal wrapped at words, the second and later lines indented; on a pipe as one line. */
export function printProse(
  terminal: Terminal,
  line: Line,
  { to = terminal.output, indent = 2 }: { readonly to?: Output; readonly indent?: number } = {},
): void {
  const paint = painter(terminal, to)
  for (const part of wrapLine(line, columnsOf(to, Number.POSITIVE_INFINITY), indent)) print(to, paint(part))
}

/** Whether the picture may be redrawn in place. */
export function canRedraw(terminal: Terminal): boolean {
  return terminal.output.isTTY === true && terminal.environment.TERM !== 'dumb'
}

function paint(tone: Tone, text: string): string {
  const style = styles[tone]
  return style.length === 0 ? text : styleText(style, text, { validateStream: false })
}

/** FORCE_COLOR beats NO_COLOR, as in Node itself; any value but `0` and `false` forces. */
function wantsColour(terminal: Terminal, to: Output): boolean {
  const { FORCE_COLOR: force, NO_COLOR: none, NODE_DISABLE_COLORS: off, TERM: kind } = terminal.environment
  if (force !== undefined) return force !== '0' && force !== 'false'
  if ((none !== undefined && none !== '') || (off !== undefined && off !== '')) return false
  return to.isTTY === true && kind !== 'dumb'
}
