/** What a command is: its words, its options, and what it does. */
import type { ExitCode } from './exit.ts'
import type { Terminal } from './terminal.ts'

/** One option. `value` is the placeholder of a text option; without it the option is a switch. */
export interface Option {
  readonly help: string
  readonly value?: string
  readonly short?: string
  readonly multiple?: boolean
}

/** One word that must or may follow the command's name. */
interface Operand {
  readonly name: string
  readonly optional?: boolean
  /** Any number of words; only the last operand. */
  readonly many?: boolean
}

/** Options and operands as they were given. */
export interface Given {
  readonly operands: readonly string[]
  text(name: string): string | undefined
  texts(name: string): readonly string[]
  has(name: string): boolean
}

/** One command. Its name may have two words. */
export interface Command {
  readonly name: string
  readonly summary: string
  readonly operands?: readonly Operand[]
  readonly options?: Readonly<Record<string, Option>>
  /** A line or two of examples for its help. */
  readonly examples?: readonly string[]
  run(given: Given, terminal: Terminal): Promise<ExitCode>
}

/** Which configuration. */
export const configOption: Readonly<Record<string, Option>> = {
  config: {
    value: 'FILE',
    help: 'The configuration; default: the nearest witan.config.ts or .json, from this folder upwards.',
  },
}

/** Which server is spoken to. */
export const connectionOptions: Readonly<Record<string, Option>> = {
  ...configOption,
  url: { value: 'URL', help: 'Use the server at this address instead.' },
  token: { value: 'TOKEN', help: 'Its token, an API key or a JWT; or set WITAN_TOKEN.' },
}

/** What models reason. */
export const reasoningOption: Readonly<Record<string, Option>> = {
  reasoning: {
    help: 'Show what models reason, if their agents allow it; by default a terminal shows only how long it took.',
  },
}

/** Output for programs. */
export const jsonOption: Readonly<Record<string, Option>> = {
  json: { help: 'Print JSON for a program.' },
}
