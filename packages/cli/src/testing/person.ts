/** A terminal with a person at it: what is written is kept, and what they type is typed when a prompt appears. */
import { PassThrough } from 'node:stream'
import { runCommandLine } from '../cli.ts'
import type { ExitCode } from '../exit.ts'

/** What came of it; `screen` is everything that was written, escape codes and all. */
export interface Sat {
  readonly code: ExitCode
  readonly screen: string
}

const prompt = '› '

/** Runs a command line; at each prompt of an open line the next of `lines` is typed. */
export async function sitting(
  words: readonly string[],
  lines: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<Sat> {
  const input = Object.assign(new PassThrough(), { isTTY: true })
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 40 })
  const waiting = [...lines]
  let screen = ''
  output.on('data', (data: Buffer) => {
    screen += String(data)
    const next = screen.endsWith(prompt) || screen.endsWith(`${prompt}\u001b[5G`) ? waiting.shift() : undefined
    if (next !== undefined) setImmediate(() => input.write(`${next}\r`))
  })
  const environment = { NO_COLOR: '1', ...more }
  const code = await runCommandLine(words, { input, output, errors: output, environment, folder: '/' })
  return { code, screen }
}
