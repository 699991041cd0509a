/** Asks the person at the terminal whether to go on. */
import { createInterface } from 'node:readline/promises'
import type { Terminal } from './terminal.ts'

/** Whether there is a person to ask: both what is read and what is written is a terminal. */
export function canAsk({ input, output }: Terminal): boolean {
  return input.isTTY === true && output.isTTY === true
}

/** True for `y` and `yes`; the end of the input is no. */
export async function askYes(terminal: Terminal, question: string): Promise<boolean> {
  const reader = createInterface({
    input: terminal.input,
    output: terminal.output as NodeJS.WritableStream,
    terminal: true,
  })
  const closed = new Promise<string>((settle) => reader.once('close', () => settle('')))
  try {
    const said = await Promise.race([reader.question(`${question} yes or no › `), closed])
    return /^\s*y(?:es)?\s*$/i.test(said)
  } finally {
    reader.close()
  }
}
