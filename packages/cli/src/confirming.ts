/** Asks the person at the terminal whether to go on. */
import { createLineReader, type Terminal } from './terminal.ts'

/** Whether there is a person to ask: both what is read and what is written is a terminal. */
export function canAsk({ input, output }: Terminal): boolean {
  return input.isTTY === true && output.isTTY === true
}

/** True for `y` and `yes`; the end of the input is no. */
export async function askYes(terminal: Terminal, question: string): Promise<boolean> {
  const reader = createLineReader(terminal)
  const closed = new Promise<string>((settle) => reader.once('close', () => settle('')))
  try {
    const asked = new Promise<string>((settle) => reader.question(`${question} yes or no › `, settle))
    const said = await Promise.race([asked, closed])
    return /^\s*y(?:es)?\s*$/i.test(said)
  } finally {
    reader.close()
  }
}
