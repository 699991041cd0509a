/** The command line: finds the command, runs it, and turns whatever happens into an exit code. */
import { nearest } from '@witan/core/tooling'
import { readArguments } from './arguments.ts'
import type { Command } from './command.ts'
import { agentCommands } from './commands/agents.ts'
import { artifactCommands } from './commands/artifacts.ts'
import { protocolCommands } from './commands/protocols.ts'
import { auditCommand } from './commands/audit.ts'
import { chatCommand } from './commands/chat.ts'
import { checkCommand } from './commands/check.ts'
import { conversationCommands } from './commands/conversations.ts'
import { devCommand } from './commands/dev.ts'
import { doctorCommand } from './commands/doctor.ts'
import { interruptionCommands } from './commands/interruptions.ts'
import { keyCommands } from './commands/keys.ts'
import { knowledgeCommands } from './commands/knowledge.ts'
import { mcpCommands } from './commands/mcp.ts'
import { memoryCommands } from './commands/memory.ts'
import { archiveCommand } from './commands/archive.ts'
import { movingCommands } from './commands/export-import.ts'
import { resolveCommand } from './commands/resolve.ts'
import { runCommand } from './commands/run.ts'
import { serveCommand } from './commands/serve.ts'
import { signingCommands } from './commands/signing.ts'
import { taskCommands } from './commands/tasks.ts'
import { usageCommand } from './commands/usage.ts'
import { workCommand } from './commands/work.ts'
import type { ExitCode } from './exit.ts'
import { exitCodeOf, exitCodes, UsageError } from './exit.ts'
import { printFailure } from './failure.ts'
import { commandHelp, groupHelp, programHelp } from './help.ts'
import type { Terminal } from './terminal.ts'
import { columnsOf, printText } from './terminal.ts'
import { version } from './version.ts'

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  devCommand,
  serveCommand,
  workCommand,
  runCommand,
  chatCommand,
  checkCommand,
  ...agentCommands,
  ...protocolCommands,
  ...mcpCommands,
  ...knowledgeCommands,
  ...memoryCommands,
  ...conversationCommands,
  ...taskCommands,
  ...interruptionCommands,
  usageCommand,
  auditCommand,
  ...artifactCommands,
  ...keyCommands,
  ...signingCommands,
  resolveCommand,
  ...movingCommands,
  archiveCommand,
  doctorCommand,
]

/** Runs one command line, without the program's name. Never throws: an error is printed and becomes the exit code. */
export async function runCommandLine(words: readonly string[], terminal: Terminal): Promise<ExitCode> {
  try {
    return await dispatch(words, terminal)
  } catch (error) {
    printFailure(terminal, error)
    return exitCodeOf(error)
  }
}

async function dispatch(words: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const [first] = words
  if (first === '--version' || first === '-v' || first === 'version') return say(terminal, version())
  const columns = columnsOf(terminal.output, 80)
  if (first === undefined || first === 'help' || isHelp(first))
    return say(
      terminal,
      helpFor(
        words.slice(1).filter((word) => !word.startsWith('-')),
        columns,
      ),
    )
  if (words[1] !== undefined && isHelp(words[1])) return say(terminal, helpFor([first], columns))
  const { command, rest } = find(words)
  const end = rest.indexOf('--')
  if ((end < 0 ? rest : rest.slice(0, end)).some(isHelp)) return say(terminal, commandHelp(command, columns))
  return await command.run(readArguments(command, rest), terminal)
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-h'
}

/** The help of the program, of a group of commands, or of the command that the words name. */
function helpFor(words: readonly string[], columns: number): string {
  const [first, second] = words
  if (first === undefined) return programHelp(commands, columns)
  const group = groupOf(first)
  return second === undefined && group.length > 0
    ? groupHelp(first, group, columns)
    : commandHelp(find(words).command, columns)
}

/** The commands that share that first word. */
function groupOf(word: string): readonly Command[] {
  return commands.filter((command) => command.name.startsWith(`${word} `))
}

function find(words: readonly string[]): { readonly command: Command; readonly rest: readonly string[] } {
  const [first = '', second = ''] = words
  const one = commands.find((command) => command.name === first)
  if (one) return { command: one, rest: words.slice(1) }
  const two = commands.find((command) => command.name === `${first} ${second}`)
  if (two) return { command: two, rest: words.slice(2) }
  const group = groupOf(first)
  if (group.length > 0) {
    const words = group.map((command) => command.name.slice(first.length + 1))
    const what = second === '' ? `witan ${first} needs one more word.` : `There is no witan ${first} ${second}.`
    throw new UsageError(what, `${meant(second, words)}One of: ${words.join(', ')}.`)
  }
  const hint = `${meant(first, names().split(', '))}One of: ${names()}. See witan --help.`
  throw new UsageError(`There is no command "${first}".`, hint)
}

function meant(word: string, known: readonly string[]): string {
  const near = word === '' ? null : nearest(word, known)
  return near === null ? '' : `Did you mean "${near}"? `
}

function names(): string {
  return [...new Set(commands.map((command) => command.name.split(' ')[0]))].join(', ')
}

function say(terminal: Terminal, text: string): ExitCode {
  printText(terminal, text)
  return exitCodes.done
}
