/** What the parts of a run in the terminal share. */
import type { Chat } from '@witan/client'
import type { Connection } from './connect.ts'
import { shellWord } from './shell-word.ts'
import type { Terminal } from './terminal.ts'

/** The terminal, connection and conversation of a run. */
export interface Stage {
  readonly terminal: Terminal
  readonly connection: Connection
  readonly chat: Chat
  /** The runs that were drawn here; kept only if follow-ups are printed later. */
  readonly drawn?: Set<string>
  /** The command waits for the run's tasks, so it does not print that they still run. */
  readonly waits?: boolean
  /** Shows what models reason, not only how long it took. */
  readonly reasoning?: boolean
}

/** The command that goes on with the conversation. */
export function comeBack({ connection, chat }: Stage): string {
  return `witan chat ${shellWord(chat.agent)} --id ${shellWord(chat.id)}${connection.options}`
}
