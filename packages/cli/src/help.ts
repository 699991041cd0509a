/** The help texts, wrapped at words. */
import type { Command, Option } from './command.ts'
import type { Line } from './tree/lines.ts'
import { wrapLine } from './tree/wrap.ts'

const exits =
  'Exit codes: done 0, failed 1, wrong usage 2, the run waits for an answer 3, wrong configuration or store 78.'
const connecting =
  'witan COMMAND --help prints more. A command uses the server at --url URL if set, else the running server of the configured store, else this process.'

/** The help of the whole program. */
export function programHelp(commands: readonly Command[], columns: number): string {
  return [
    'witan: a runtime for systems of agents',
    '',
    'Usage: witan COMMAND [OPTIONS]',
    '',
    ...commandTable(commands, columns),
    '',
    ...paragraph(connecting, columns),
    '',
    ...paragraph(exits, columns),
  ].join('\n')
}

/** The help of the commands that share their first word. */
export function groupHelp(name: string, commands: readonly Command[], columns: number): string {
  const words = commands.map((command) => command.name.slice(name.length + 1)).join('|')
  return [
    ...paragraph(`Usage: witan ${name} ${words} [OPTIONS]`, columns, 2),
    '',
    ...commandTable(commands, columns),
    '',
    ...paragraph(`witan ${name} WORD --help has details.`, columns),
  ].join('\n')
}

/** The help of one command. */
export function commandHelp(command: Command, columns: number): string {
  const options = { ...command.options, help: { short: 'h', help: 'Show this.' } }
  const rows = Object.entries(options).map(([name, option]) => [flag(name, option), option.help] as const)
  const examples = command.examples ?? []
  return [
    ...paragraph(command.summary, columns),
    '',
    ...paragraph(`Usage: witan ${usageOf(command)} [OPTIONS]`, columns, 2),
    '',
    ...table(rows, columns),
    ...(examples.length === 0 ? [] : ['', ...examples.flatMap((line) => exampleLines(line, columns))]),
    '',
    ...paragraph(exits, columns),
  ].join('\n')
}

function commandTable(commands: readonly Command[], columns: number): string[] {
  return table(
    commands.map((command) => [usageOf(command), command.summary] as const),
    columns,
  )
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

/** With fewer columns than these beside the names, the explanations go below them. */
const leastBeside = 36
const indent = 2
const below = 6

/** Names and what they do: side by side, or below each other where it is narrow. */
export function table(rows: readonly (readonly [string, string])[], columns: number): string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  const right = indent + width + 2
  if (columns - right >= leastBeside)
    return rows.flatMap(([left, text]) =>
      paragraph(`${' '.repeat(indent)}${left.padEnd(width)}  ${text}`, columns, right),
    )
  return rows.flatMap(([left, text]) => [
    `${' '.repeat(indent)}${left}`,
    ...paragraph(`${' '.repeat(below)}${text}`, columns, below),
  ])
}

function paragraph(text: string, columns: number, hanging = 0): string[] {
  return wrapLine([{ text, tone: 'plain' }], columns, hanging).map(textOf)
}

/** A long command breaks with a `\` before one of its options or its `&&`, so that it can be copied. */
function exampleLines(example: string, columns: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const part of example.split(/ (?=-|&&)/)) {
    const longer = line === '' ? `  ${part}` : `${line} ${part}`
    if (line === '' || longer.length + 2 <= columns) {
      line = longer
    } else {
      lines.push(`${line} \\`)
      line = `      ${part}`
    }
  }
  return [...lines, line]
}

function textOf(line: Line): string {
  return line.map(({ text }) => text).join('')
}
