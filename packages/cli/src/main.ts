/** The program `witan`: this process's arguments, streams and exit code. */
import { runCommandLine } from './cli.ts'
import { exitCodes } from './exit.ts'
import { printText, processTerminal } from './terminal.ts'

const terminal = processTerminal()

// A reader that stops early (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})
// Node would print an error of a tool or a module as it is, with whatever it holds for the terminal.
process.on('uncaughtException', (error: unknown) => {
  const said = error instanceof Error ? (error.stack ?? error.message) : String(error)
  printText(terminal, said, terminal.errors)
  process.exit(exitCodes.failed)
})

process.exitCode = await runCommandLine(process.argv.slice(2), terminal)
