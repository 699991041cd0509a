/** Prints what an agent answered. */
import { print, printText, type Terminal } from './terminal.ts'
import { oneLine } from './tree/width.ts'

/** An answer. `agent` gave it; an older server names nobody. `root` is the agent that was asked. */
interface Spoken {
  readonly text: string
  readonly agent: string | undefined
  readonly root: string
}

/** Prints an answer; after a hand-over below the id of the agent that gave it. */
export function printSpoken(terminal: Terminal, { text, agent, root }: Spoken): void {
  if (agent !== undefined && agent !== root) print(terminal, [{ text: `${oneLine(agent)}:`, tone: 'strong' }])
  printText(terminal, text.trimEnd())
}
