/** The program `witan`: this process's arguments, streams and exit code. */
import { runCommandLine } from './cli.ts'
import { processTerminal } from './terminal.ts'

// A reader that stops early (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

process.exitCode = await runCommandLine(process.argv.slice(2), processTerminal())
