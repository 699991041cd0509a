/** Command lines for the server of this page, to copy. */
import { usePrincipal } from './account.ts'
import { commandHere, firstConfig } from './first-steps.ts'
import { useAgents } from './queries.ts'

const loopback = new Set(['127.0.0.1', 'localhost', '[::1]'])

/** A command of `witan` for this server. */
export function useCommand(words: string): string {
  const { origin, hostname } = window.location
  const isLocal = usePrincipal()?.id === 'user:local' && loopback.has(hostname)
  return commandHere(words, { origin, isLocal })
}

/** What brings a first conversation: a command that says a word to the first agent there is, or a configuration with an agent. */
export function useFirstCode(): { readonly label: string; readonly text: string } {
  const agent = useAgents().data?.find(({ disabled }) => !disabled)
  const text = useCommand(`run ${agent?.id} "Hello"`)
  return agent === undefined ? { label: 'witan.config.ts', text: firstConfig } : { label: 'In a terminal', text }
}
