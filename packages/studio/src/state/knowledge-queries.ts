/** What the pages of knowledge read from the server. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { StoredKnowledgeBase } from '@witan/protocol/knowledge'
import { useReadsAll } from './account.ts'
import { queries } from './queries.ts'
import { witan } from './witan.ts'

const mostBases = 1000
const pageOfDocuments = 50
const pageOfPassages = 50
/** Others may add documents meanwhile. */
const lookAgainMs = 5_000

/** Every base, up to 1,000. Not asked for those who may not read them. */
export function useKnowledge() {
  const enabled = useReadsAll()
  return useQuery({
    queryKey: ['knowledge'],
    queryFn: async () => {
      const bases: StoredKnowledgeBase[] = []
      for await (const base of witan.knowledge.all({ limit: 200 })) {
        bases.push(base)
        if (bases.length === mostBases) break
      }
      return bases
    },
    refetchInterval: lookAgainMs,
    enabled,
  })
}

/** One base, with how much it has. */
export function useBase(id: string) {
  return useQuery({
    queryKey: ['knowledge', id],
    queryFn: () => witan.knowledge.get(id),
    refetchInterval: lookAgainMs,
  })
}

/** The documents of a base whose keys begin with a prefix, page after page. Not asked for a base over a query. */
export function useKnowledgeDocuments({ id, query }: Pick<StoredKnowledgeBase, 'id' | 'query'>, prefix: string) {
  return useInfiniteQuery({
    queryKey: ['knowledge', id, 'documents', prefix],
    queryFn: ({ pageParam: cursor }) =>
      witan.knowledge.documents.list(id, {
        limit: pageOfDocuments,
        ...(prefix === '' ? {} : { prefix }),
        ...(cursor === null ? {} : { cursor }),
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    enabled: query === null,
  })
}

/** One document with its text. */
export function useKnowledgeDocument(base: string, key: string) {
  return useQuery({
    queryKey: ['knowledge', base, 'document', key],
    queryFn: () => witan.knowledge.documents.get(base, key),
  })
}

/** The passages of one document, page after page. */
export function usePassages(base: string, key: string) {
  return useInfiniteQuery({
    queryKey: ['knowledge', base, 'passages', key],
    queryFn: ({ pageParam: cursor }) =>
      witan.knowledge.documents.passages(base, key, {
        limit: pageOfPassages,
        ...(cursor === null ? {} : { cursor }),
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}

/** After a document is deleted: asks again for all but that one, whose page may still be there. */
export function refreshWithout(base: string, key: string): void {
  const isOfIt = (queryKey: readonly unknown[]) =>
    queryKey[1] === base && queryKey[2] !== 'documents' && queryKey[3] === key
  void queries.invalidateQueries({ queryKey: ['knowledge'], predicate: (query) => !isOfIt(query.queryKey) })
}

/** Asks again for everything about knowledge. */
export function refreshKnowledge(): void {
  void queries.invalidateQueries({ queryKey: ['knowledge'] })
}
