/** Which definitions the start of an agent's call names. */
import type { AgentStartBody } from './entry.ts'

/** The revisions that a start names, by id. That of an agent on another server is not known here: its start names none of its own. */
export function definitionsIn({
  agent,
  revision,
  revisions,
  remote,
}: Pick<AgentStartBody, 'agent' | 'revision' | 'revisions' | 'remote'>): readonly (readonly [string, number])[] {
  const all = Object.entries(revisions)
  return remote === undefined ? [[agent, revision], ...all] : all
}
