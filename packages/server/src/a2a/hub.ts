/** The hub of a domain: one endpoint for all its agents. The text of a message picks one [Mb15]. */
import type { OwnRuns, PublishedAgent } from '@witan/core/tooling'
import { isWitanError } from '@witan/protocol'
import { readAddress, readLocal } from '@witan/protocol/names'
import { A2aError } from './a2a-error.ts'
import { invalid, type ReadMessage } from './message.ts'

/** What picks an agent. */
interface Hub {
  /** The agents of the domain. */
  readonly agents: readonly PublishedAgent[]
  /** The local part of the agent that is asked where a text names none. */
  readonly defaultAgent: string | null
  readonly isAnonymous: boolean
}

/** The handle that a text begins with, and whether another one follows at once. */
const handlePattern = /^\s*(@[^\s@,:;!?]+(?:@[^\s@,:;!?]+)?)[,:;]?(?:\s+(@[^\s@]+))?/

/** The agent that a message reaches. A task and a context stay with the agent that they began with. Throws `INVALID_PARAMS`, `TASK_NOT_FOUND`. */
export async function pickAgent(hub: Hub, message: ReadMessage, own: OwnRuns): Promise<PublishedAgent> {
  const known = hub.isAnonymous ? null : await boundTo(message, own)
  if (message.taskId !== null || message.contextId !== null) {
    const agent = hub.agents.find(({ data }) => data.id === known)
    if (agent === undefined)
      throw new A2aError('TASK_NOT_FOUND', 'There is no such task or context of yours at this agent.')
    return agent
  }
  const picked = handled(hub, textOf(message))
  if (picked === null) throw invalid(`Begin the text with the handle of an agent, such as ${namesOf(hub)}`)
  return picked
}

async function boundTo({ taskId, contextId }: ReadMessage, own: OwnRuns): Promise<string | null> {
  try {
    if (taskId !== null) return (await own.get(taskId)).agent
    return contextId === null ? null : await own.agentOf(contextId)
  } catch (error) {
    if (isWitanError(error) && error.code === 'NOT_FOUND') return null
    throw error
  }
}

function textOf({ prompt }: ReadMessage): string {
  if (prompt === null || typeof prompt === 'string') return prompt ?? ''
  const [first] = prompt
  return first?.type === 'text' ? first.text : ''
}

/** One handle of a known agent picks it; several, one of nobody, and none at all leave it to the default agent. */
function handled({ agents, defaultAgent }: Hub, text: string): PublishedAgent | null {
  const [, handle, another] = handlePattern.exec(text.slice(0, 1_000)) ?? []
  const named = handle === undefined || another !== undefined ? null : agentOf(agents, handle)
  return named ?? agents.find(({ address }) => address.local === defaultAgent) ?? null
}

/** A handle is a local part, or a whole address of the domain. A mark of the sentence may stand at its end. */
function agentOf(agents: readonly PublishedAgent[], handle: string): PublishedAgent | null {
  for (const text of [handle, handle.replace(/\.+$/, '')]) {
    const isWhole = text.indexOf('@', 1) > 0
    const whole = isWhole ? readAddress(text) : null
    const local = isWhole ? null : readLocal(text.slice(1)).value
    const found = agents.find(({ address }) =>
      whole === null ? address.local === local : whole.ok && address.text === whole.address.text,
    )
    if (found !== undefined) return found
  }
  return null
}

function namesOf({ agents }: Hub): string {
  const names = agents.slice(0, 5).map(({ address }) => `@${address.local}`)
  return names.length === 0 ? '`@docs`' : names.join(', ')
}
