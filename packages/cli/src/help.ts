/** The help texts. */
import type { Command, Option } from './command.ts'

const exits =
  'Exit codes: 0 done, 1 it failed, 2 wrong usage, 3 the run waits for someone, 78 wrong configuration or store.'

/** The help of the whole program. */
export function programHelp(commands: readonly Command[]): string {
  const rows = commands.map((command) => [usageOf(command), command.summary] as const)
  return [
    'witan: a runtime for systems of agents',
    '',
    'Usage: witan COMMAND [OPTIONS]',
    '',
    ...table(rows),
    '',
    'witan COMMAND --help tells more. A command speaks to the server of the configured store if one runs,',
    'to --url URL if that is given, and else runs in this process.',
    exits,
  ].join('\n')
}

/** The help of one command. */
export function commandHelp(command: Command): string {
  const options = { ...command.options, help: { help: 'Show this.' } }
  return [
    command.summary,
    '',
    `Usage: witan ${usageOf(command)} [OPTIONS]`,
    '',
    ...table(Object.entries(options).map(([name, option]) => [flag(name, option), option.help] as const)),
    ...(command.examples === undefined ? [] : ['', ...command.examples.map((line) => `  ${line}`)]),
    '',
    exits,
  ].join('\n')
}

function usageOf(command: Command): string {
  const operands = (command.operands ?? []).map(({ name, optional, many }) => {
    const word = many ? `${name}…` : name
    return optional ? `[${word}]` : word
  })
  return [command.name, ...operands].join(' ')
}

function flag(name: string, option: Option): string {
  const short = option.short === undefined ? '' : `-${option.short}, `
  return `${short}--${name}${option.value === undefined ? '' : ` ${option.value}`}`
}

function table(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
