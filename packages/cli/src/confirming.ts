/** Asks the person at the terminal whether to go on. */
import type { Given, Option } from './command.ts'
import { UsageError } from './exit.ts'
import { createLineReader, print, type Terminal } from './terminal.ts'

/** The option of a command that deletes what it has not been given by name. */
export const yesOption: Readonly<Record<string, Option>> = {
  yes: { short: 'y', help: 'Do not ask before deleting. Required in a script.' },
}

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

/**
 * Whether something may be deleted: with `--yes`, or if the person at the terminal says so; a no is printed. Without either it throws
 * `UsageError`, so that a script never deletes anything without `--yes`.
 */
export async function mayDelete(given: Given, terminal: Terminal, question: string): Promise<boolean> {
  if (given.has('yes')) return true
  if (!canAsk(terminal))
    throw new UsageError(
      'Nothing was changed: without a terminal, deleting cannot be confirmed.',
      'Add --yes to delete without a question.',
    )
  if (await askYes(terminal, question)) return true
  print(terminal, 'Nothing was changed.')
  return false
}
