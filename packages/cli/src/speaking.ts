/** Prints what an agent answered. */
import type { Source } from '@witan/protocol/knowledge'
import { print, printProse, printText, type Terminal } from './terminal.ts'
import { sourceLines } from './tree/knowledge.ts'
import { oneLine } from './tree/width.ts'

/** An answer. `agent` gave it; an older server names nobody. `root` is the agent that was asked. */
interface Spoken {
  readonly text: string
  readonly agent: string | undefined
  readonly root: string
  /** The passages that it names. */
  readonly sources: readonly Source[] | undefined
}

/** Prints an answer with its sources; after a hand-over below the id of the agent that gave it. */
export function printSpoken(terminal: Terminal, { text, agent, root, sources }: Spoken): void {
  if (agent !== undefined && agent !== root) print(terminal, [{ text: `${oneLine(agent)}:`, tone: 'strong' }])
  printText(terminal, text.trimEnd())
  printSources(terminal, sources)
}

/** Prints the sources of an answer below it. Nothing without any. */
export function printSources(terminal: Terminal, sources: readonly Source[] = []): void {
  if (sources.length === 0) return
  print(terminal)
  print(terminal, [{ text: sources.length === 1 ? 'Source' : 'Sources', tone: 'strong' }])
  for (const line of sourceLines(sources)) printProse(terminal, line, { indent: 14 })
}
