/** The command line as a library: run it, or draw a run's tree from its events. */

// the command line
export { runCommandLine } from './cli.ts'
export type { Output, Terminal } from './terminal.ts'
export { processTerminal } from './terminal.ts'
export type { ExitCode } from './exit.ts'
export { exitCodes } from './exit.ts'

// the tree
export type { DrawOptions, Line, Span, Tone } from './tree/lines.ts'
export { drawTree } from './tree/lines.ts'
export { plainLines } from './tree/plain.ts'
export { usageLines } from './tree/usage.ts'
