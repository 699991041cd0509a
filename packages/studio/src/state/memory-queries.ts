/** What the page of memory reads from the server. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { queries } from './queries.ts'
import { witan } from './witan.ts'

const pageOfBlocks = 100
const pageOfRevisions = 20
const mostConversations = 200
/** Agents write while the page is open. */
const lookAgainMs = 5_000

/** Whom blocks are about: one subject, or everybody whom the caller may see. */
export type About = { readonly subject: string } | 'everybody'

/** The blocks about somebody, page after page. Not asked as long as nobody is known. */
export function useBlocks(about: About | undefined) {
  const filter = about === undefined || about === 'everybody' ? {} : about
  return useInfiniteQuery({
    queryKey: ['memory', 'blocks', about],
    queryFn: ({ pageParam: cursor }) =>
      witan.memory.list({ ...filter, limit: pageOfBlocks, ...(cursor === null ? {} : { cursor }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: lookAgainMs,
    enabled: about !== undefined,
  })
}

/** The texts that a block has had, the latest first. */
export function useBlockRevisions(id: string, revision: number) {
  return useInfiniteQuery({
    queryKey: ['memory', 'revisions', id, revision],
    queryFn: ({ pageParam: cursor }) =>
      witan.memory.revisions(id, { limit: pageOfRevisions, ...(cursor === null ? {} : { cursor }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}

/** The first 200 conversations that quote what is known about somebody, and whether there are more. */
export function useQuoting(about: { readonly subject: string; readonly agent?: string }) {
  return useQuery({
    queryKey: ['memory', 'conversations', about],
    queryFn: async () => {
      const { items, nextCursor } = await witan.memory.conversations(about, { limit: mostConversations })
      return { ids: items.map(({ conversationId }) => conversationId), isMore: nextCursor !== null }
    },
  })
}

/** Asks again for everything about memory. */
export function refreshMemory(): Promise<void> {
  return queries.invalidateQueries({ queryKey: ['memory'] })
}
