/** What the pages read from the server, and for how long it counts as fresh. */
import { QueryClient, useQuery } from '@tanstack/react-query'
import { isWitanError } from '@witan/client'
import { witan } from './witan.ts'

const mostAgents = 2000
const recentConversations = 100

/** The cache behind every page. What the server refused is not asked again by itself. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (failures, error) => failures < 2 && (!isWitanError(error) || error.retryable),
    },
  },
})

/** Every agent by id, up to 2,000. */
export function useAgents() {
  return useQuery({
    queryKey: ['agents'],
    queryFn: async () => {
      const agents = []
      for await (const agent of witan.agents.all({ limit: 200 })) {
        agents.push(agent)
        if (agents.length === mostAgents) break
      }
      return agents.sort((one, other) => one.id.localeCompare(other.id))
    },
  })
}

/** What an agent can reach. Not asked without an agent. */
export function useGraph(agentId: string | undefined) {
  return useQuery({
    queryKey: ['graph', agentId],
    queryFn: () => witan.agents.graph(agentId ?? ''),
    enabled: agentId !== undefined,
  })
}

/** The 100 latest conversations, the latest first. */
export function useConversations() {
  return useQuery({
    queryKey: ['conversations'],
    queryFn: async () => {
      const page = await witan.conversations.list({ limit: recentConversations })
      return [...page.items].sort((one, other) => other.lastMessageAt.localeCompare(one.lastMessageAt))
    },
  })
}

/** The words that a conversation began with: its first event. They never change, so they are read once. */
export function useBeginning(id: string, enabled: boolean) {
  return useQuery({
    queryKey: ['beginning', id],
    queryFn: async () => {
      const { events } = await witan.conversations.events(id, { from: 0, limit: 1 })
      const [first] = events
      return first?.type === 'message' ? String(first.content['text'] ?? '') : ''
    },
    // One that has no message yet may get one.
    staleTime: ({ state }) => (state.data === '' ? 10_000 : Number.POSITIVE_INFINITY),
    enabled,
  })
}

/** One conversation's row with what is open in it. */
export function useConversation(id: string) {
  return useQuery({ queryKey: ['conversation', id], queryFn: () => witan.conversations.get(id) })
}

/** The document of one agent on one path. */
export function useDocument(path: string) {
  return useQuery({
    queryKey: ['document', path],
    queryFn: () => witan.documents.get(path, { limit: 100 }),
    staleTime: 0,
  })
}

/** Asks again for what a change in this conversation may have changed. */
export function refreshConversation(id: string): void {
  void queries.invalidateQueries({ queryKey: ['conversation', id] })
  void queries.invalidateQueries({ queryKey: ['conversations'] })
}
