/** A terminal with a person at it: what is written is kept, and what they type is typed when a prompt appears. */
import { PassThrough } from 'node:stream'
import { runCommandLine } from '../cli.ts'
import type { ExitCode } from '../exit.ts'

/** What came of it; `screen` is everything that was written, escape codes and all. */
interface Sat {
  readonly code: ExitCode
  readonly screen: string
}

/** An empty open line: the prompt, and the cursor set behind it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what a terminal gets.
const prompt = /› \u001b\[\d+G$/

/** What a person types at a prompt; or what happens elsewhere while the prompt stands. */
type Move = string | (() => Promise<unknown>)

/** Runs a command line; at each prompt of an open line the next of `moves` is made. `COLUMNS` is the width, 80 unless given. */
export async function sitting(
  words: readonly string[],
  moves: readonly Move[],
  more: Readonly<Record<string, string>> = {},
): Promise<Sat> {
  const input = Object.assign(new PassThrough(), { isTTY: true })
  const columns = Number(more.COLUMNS ?? 80)
  const output = Object.assign(new PassThrough(), { isTTY: true, columns, rows: 40 })
  const waiting = [...moves]
  let screen = ''
  output.on('data', (data: Buffer) => {
    screen += String(data)
    const next = prompt.test(screen) ? waiting.shift() : undefined
    if (typeof next === 'string') setImmediate(() => input.write(`${next}\r`))
    else next?.().catch((error: unknown) => output.destroy(error as Error))
  })
  const environment = { NO_COLOR: '1', ...more }
  const code = await runCommandLine(words, { input, output, errors: output, environment, folder: '/' })
  return { code, screen }
}
