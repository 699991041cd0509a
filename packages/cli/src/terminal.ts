/** The terminal as the command line sees it: two streams, a width, colours or none. All that is written passes through here. */
import { createInterface, type Interface } from 'node:readline'
import { styleText } from 'node:util'
import { shownJson, shownJsonText, shownText } from '@witan/protocol/shown'
import { asShown, type Shown } from './shown.ts'
import type { Line, Tone } from './tree/lines.ts'
import { wrapLine } from './tree/wrap.ts'

/** What is written to, only by the functions of this file and of `tree/screen.ts`. `columns` and `isTTY` are missing on a pipe. */
export interface Output {
  write(text: Shown): unknown
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

/** Writes one line and its end. Whatever its text has of control, hidden or line-ending characters is shown, never obeyed. */
export function print(terminal: Terminal, line: Line | string = '', to: Output = terminal.output): void {
  to.write(asShown(`${painter(terminal, to)(typeof line === 'string' ? [{ text: line, tone: 'plain' }] : line)}\n`))
}

/** Writes a text of several lines as it is shown, and a line end. */
export function printText(terminal: Terminal, text: string, to: Output = terminal.output): void {
  to.write(asShown(`${shownText(text)}\n`))
}

/** Writes a value as indented JSON; a program reads the same value, and a terminal obeys nothing in it. */
export function printJson(terminal: Terminal, value: unknown): void {
  terminal.output.write(asShown(`${shownJson(value, 2)}\n`))
}

/** Writes a value as one line of JSON. */
export function printJsonLine(terminal: Terminal, value: unknown): void {
  terminal.output.write(asShown(`${shownJson(value)}\n`))
}

/** Writes a text for a program and a line end: JSON, or YAML with its hidden characters in double quotes. False asks to wait for `drain`. */
export function writeData(to: Output, text: string): boolean {
  return to.write(asShown(`${shownJsonText(text)}\n`)) !== false
}

/** Writes the bytes of a file as they are. Throws for a terminal, which would obey them. */
export function writeBytes(to: Output, bytes: Uint8Array): void {
  if (to.isTTY === true) throw new Error('A terminal would obey the bytes of a file.')
  to.write(bytes as unknown as Shown)
}

/** Writes a line of prose: on a terminal wrapped at words, the second and later lines indented; on a pipe as one line. */
export function printProse(
  terminal: Terminal,
  line: Line,
  { to = terminal.output, indent = 2 }: { readonly to?: Output; readonly indent?: number } = {},
): void {
  for (const part of wrapLine(line, columnsOf(to, Number.POSITIVE_INFINITY), indent)) print(terminal, part, to)
}

/** Turns a line into text: with colours on a terminal, without on a pipe, as NO_COLOR and FORCE_COLOR say. */
export function painter(terminal: Terminal, to: Output = terminal.output): (line: Line) => Shown {
  const hasColour = wantsColour(terminal, to)
  return (line) =>
    asShown(
      line
        .map(({ text, tone }) => {
          const shown = shownText(text).replaceAll('\n', ' ')
          return hasColour ? paint(tone, shown) : shown
        })
        .join('')
        .trimEnd(),
    )
}

/** Reads lines that a person types; what they type is on the screen as they type it. */
export function createLineReader({ input, output }: Terminal, isTerminal = true): Interface {
  return createInterface({ input, output: output as unknown as NodeJS.WritableStream, terminal: isTerminal })
}

/** How wide a line may be: as wide as the terminal, on a pipe as it is said. */
export function columnsOf(to: Output, onPipe: number): number {
  return to.isTTY === true ? widthOf(to) : onPipe
}

/** The columns of a terminal; 80 for one that does not know, which reports none or 0. */
export function widthOf({ columns }: Output): number {
  return columns === undefined || columns <= 0 ? 80 : columns
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
