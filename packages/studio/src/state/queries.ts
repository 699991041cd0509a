/** What the pages read from the server, and for how long it counts as fresh. */
import { keepPreviousData, QueryClient, queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { isWitanError } from '@witan/client'
import type { StoredAgent } from '@witan/protocol'
import type { ConversationParticipant } from '@witan/protocol/schemas'
import { type AgentLook, arrangeAgents, asStored, inOrder, type KnownAgent, lookOf, looksOf } from './agents.ts'
import { comesBack, onReopened } from './connection.ts'
import { witan } from './witan.ts'

const mostAgents = 2000
const pageOfConversations = 50
const mostWaiting = 200
/** No stream reports other conversations, so an open page asks for them again and again. */
const lookAgainMs = 5_000

/** The cache behind every page. What the server refused is not asked again by itself; once the server is back, all is. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // The server may be on this machine, which a browser reaches offline too.
      networkMode: 'always',
      retry: (failures, error) => failures < 2 && !comesBack(error) && (!isWitanError(error) || error.retryable),
    },
  },
})
onReopened(() => void queries.invalidateQueries())

/** Every agent, up to 2,000: first those that no other agent lists, each group by name. */
export function useAgents() {
  return useQuery(allAgents)
}

let reachesAgents = true

const allAgents = queryOptions({
  queryKey: ['agents'],
  queryFn: async () => {
    const agents = []
    reachesAgents = true
    try {
      for await (const agent of witan.agents.all({ limit: 200 })) {
        agents.push(asStored(agent))
        if (agents.length === mostAgents) break
      }
    } catch (error) {
      // Who only takes part in conversations reaches no agents.
      if (!isWitanError(error) || error.code !== 'NOT_FOUND') throw error
      reachesAgents = false
    }
    return inOrder(arrangeAgents(agents))
  },
  // Who begins has none, and writes the first one beside this page.
  refetchInterval: ({ state }) => (state.data?.length === 0 && reachesAgents ? lookAgainMs : false),
})

/** How an agent is shown; by its id where it is not known. */
export function useAgentLook(): (id: string) => AgentLook {
  // Every row of a tree shows a name: a new row must not read all agents again.
  const agents = useQuery({ ...allAgents, refetchOnMount: false }).data
  return (id) => (agents === undefined ? undefined : knownLooks(agents).get(id)) ?? lookOf(id)
}

/** What an agent is called; its id where it has no name, or is not known. */
export function useAgentName(): (id: string) => string {
  const look = useAgentLook()
  return (id) => look(id).name
}

const looks = new WeakMap<readonly KnownAgent[], ReadonlyMap<string, AgentLook>>()

function knownLooks(agents: readonly KnownAgent[]): ReadonlyMap<string, AgentLook> {
  const known = looks.get(agents) ?? looksOf(agents)
  looks.set(agents, known)
  return known
}

/** What an agent can reach. Not asked without an agent. */
export function useGraph(agentId: string | undefined) {
  return useQuery({
    queryKey: ['graph', agentId],
    queryFn: () => witan.agents.graph(agentId ?? ''),
    enabled: agentId !== undefined,
  })
}

/** What a check says of an agent as it is. Only admins may ask for one. */
export function useCheck(agent: StoredAgent, isAdmin: boolean) {
  return useQuery({
    queryKey: ['check', agent.id, agent.revision],
    queryFn: () => witan.agents.check([agent]),
    enabled: isAdmin,
  })
}

/** What the model of an agent is offered. Not asked for an agent with a workflow. */
export function useAgentTools({ id, revision, workflow }: Pick<StoredAgent, 'id' | 'revision' | 'workflow'>) {
  return useQuery({
    queryKey: ['tools', id, revision],
    queryFn: () => witan.agents.tools.list(id),
    enabled: workflow == null,
  })
}

/** The protocols of these names. Not asked without a name; one that is not reached is left out. */
export function useProtocols(names: readonly string[]) {
  return useQuery({
    queryKey: ['protocols', ...names],
    queryFn: () => Promise.all([...new Set(names)].map((name) => witan.protocols.get(name).catch(() => null))),
    select: (found) => found.filter((one) => one !== null),
    enabled: names.length > 0,
  })
}

/** Conversations, the latest first, page by page; with words, those that a search finds. */
export function useConversations(search: string) {
  return useInfiniteQuery({
    queryKey: ['conversations', search],
    queryFn: ({ pageParam }) =>
      witan.conversations.list({
        limit: pageOfConversations,
        ...(search === '' ? {} : { search }),
        ...(pageParam === null ? {} : { cursor: pageParam }),
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
    refetchInterval: lookAgainMs,
  })
}

/** Whose interruptions are shown: those that the user is asked to answer, everybody's, those addressed to the user, or to nobody. */
export type WaitsFor = 'mine' | 'all' | 'me' | 'none'

/** The open interruptions of all conversations, the oldest first, at most 200 of each kind. `isMore` if there are more. */
export function useWaiting(whom: WaitsFor) {
  return useQuery({
    queryKey: ['waiting', whom],
    queryFn: async () => {
      const asked = whom !== 'mine' ? [whom] : (await mayAnswerAny()) ? (['me', 'none'] as const) : (['me'] as const)
      const pages = await Promise.all(asked.map(readWaiting))
      const items = pages.flatMap((page) => page.items)
      if (pages.length > 1) items.sort((one, other) => (one.createdAt ?? '').localeCompare(other.createdAt ?? ''))
      return { items, isMore: pages.some(({ nextCursor }) => nextCursor !== null) }
    },
    placeholderData: keepPreviousData,
    refetchInterval: lookAgainMs,
  })
}

/** Who the caller is to the server, as it is read everywhere. */
export const principalQuery = queryOptions({
  queryKey: ['principal'],
  queryFn: () => witan.principal(),
  staleTime: 60_000,
})

/** A reader is shown what is addressed to nobody, but may not answer it. */
async function mayAnswerAny(): Promise<boolean> {
  const { roles } = await queries.fetchQuery(principalQuery)
  return roles.some((role) => role === 'admin' || role === 'answer' || role === 'run')
}

async function readWaiting(whom: 'all' | 'me' | 'none') {
  return witan.interruptions.list({ limit: mostWaiting, ...(whom === 'all' ? {} : { addressee: whom }) })
}

/** Everybody who takes part in a conversation or did. */
export function useParticipants(id: string) {
  return useQuery({
    queryKey: ['participants', id],
    queryFn: async () => {
      const people: ConversationParticipant[] = []
      for await (const person of witan.conversations.participants.all(id, { limit: 200 })) people.push(person)
      return people
    },
  })
}

/** Asks again who takes part in a conversation. */
export function refreshParticipants(id: string): void {
  void queries.invalidateQueries({ queryKey: ['participants', id] })
}

/** One conversation's row with what is open in it. */
export function useConversation(id: string) {
  return useQuery({ queryKey: ['conversation', id], queryFn: () => witan.conversations.get(id) })
}

/** The document of one agent on one path: its newest messages, and with each further page a hundred earlier ones. */
export function useDocument(path: string) {
  return useInfiniteQuery({
    queryKey: ['document', path],
    queryFn: ({ pageParam: cursor }) =>
      witan.documents.get(path, { limit: 100, detail: 'full', ...(cursor === null ? {} : { cursor }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ olderCursor }) => olderCursor,
    staleTime: 0,
  })
}

/** Asks again for what a change in this conversation may have changed. */
export function refreshConversation(id: string): void {
  void queries.invalidateQueries({ queryKey: ['conversation', id] })
  void queries.invalidateQueries({ queryKey: ['conversations'] })
  refreshWaiting()
}

/** Asks again what waits. */
export function refreshWaiting(): void {
  void queries.invalidateQueries({ queryKey: ['waiting'] })
}
