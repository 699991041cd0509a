/** Runs a command line in this process on a terminal that is a pipe, and keeps what it wrote. */
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { runCommandLine } from '../cli.ts'
import type { ExitCode } from '../exit.ts'

/** What a command came to. */
export interface Ended {
  readonly code: ExitCode
  readonly out: string
  readonly err: string
}

/** What a command is given beside its words. */
export interface Around {
  readonly input?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly folder?: string
  /** On a terminal of this width, where nobody types; else on a pipe. */
  readonly columns?: number
}

/** The configuration of the small desk. */
export const deskConfig = fileURLToPath(new URL('./front-desk.config.ts', import.meta.url))

/** The configuration of the agent that asks. */
export const askConfig = fileURLToPath(new URL('./ask-desk.config.ts', import.meta.url))

/** Runs one command line, without the program's name. */
export async function witan(
  words: readonly string[],
  { input = '', environment = {}, folder = '/', columns }: Around = {},
): Promise<Ended> {
  const screen = columns === undefined ? {} : { isTTY: true, columns }
  const written = { out: '', err: '' }
  const code = await runCommandLine(words, {
    input: Readable.from([input]),
    output: { ...screen, write: (text) => (written.out += text) },
    errors: { ...screen, write: (text) => (written.err += text) },
    environment,
    folder,
  })
  return { code, ...written }
}
