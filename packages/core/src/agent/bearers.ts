/** Which variables of the environment may be sent to which servers as a credential: whoever saves an agent may not read the process's secrets. */
import type { RemoteAgent } from '@witan/protocol/entries'

/** For each variable the origins that it may be sent to. `*`: every variable to every server. */
export type BearerTerms = '*' | Readonly<Record<string, readonly string[]>>

/** Whether the variable that an edge names may be sent to the server of its card; true for an edge that names none. */
export type MaySend = (edge: Pick<RemoteAgent, 'card' | 'bearerEnv'>) => boolean

/** What is named in the terms, and in the agents of the program's own code, may be sent. */
export function maySendOf(terms: BearerTerms = {}, agents: readonly object[] = []): MaySend {
  if (terms === '*') return () => true
  const named = new Set<string>()
  for (const [variable, origins] of Object.entries(terms))
    for (const origin of origins) named.add(pairOf(variable, origin) ?? '')
  for (const { card, bearerEnv } of agents.flatMap(edgesIn)) named.add(pairOf(bearerEnv, card) ?? '')
  return ({ card, bearerEnv }) => bearerEnv === undefined || named.has(pairOf(bearerEnv, card) ?? ' ')
}

/** Why what an edge names is not sent, and what whoever runs the server would write to allow it. */
export function notSent({ card = '', bearerEnv = '' }: Pick<RemoteAgent, 'card' | 'bearerEnv'>): {
  readonly detail: string
  readonly hint: string
} {
  const origin = URL.canParse(card) ? new URL(card).origin : 'an address'
  const terms = JSON.stringify({ [bearerEnv]: [origin] })
  return {
    detail: `The variable \`${bearerEnv}\` of the environment may not be sent to ${origin}.`,
    hint: `Whoever runs this server allows that in its configuration: \`federation.bearerEnv\` with ${terms}.`,
  }
}

function pairOf(variable: unknown, url: unknown): string | null {
  if (typeof variable !== 'string' || typeof url !== 'string' || !URL.canParse(url)) return null
  return `${variable} ${new URL(url).origin}`
}

type Edge = Readonly<Partial<Record<'card' | 'bearerEnv', unknown>>>

/** The edges of an agent as it was written: nothing of it is checked yet. */
function edgesIn(agent: object): readonly Edge[] {
  const { remotes } = ('data' in agent ? agent.data : agent) as { readonly remotes?: unknown }
  return Array.isArray(remotes) ? remotes.filter((one) => typeof one === 'object' && one !== null) : []
}
