/** The model calls of a run, for those who may read them. */
import { useQuery } from '@tanstack/react-query'
import { type ConversationView, isWitanError } from '@witan/client'
import type { ModelCallLine } from '@witan/protocol/schemas'
import { useEffect } from 'react'
import { usePrincipal } from './account.ts'
import { runSummary } from './tree.ts'
import { witan } from './witan.ts'

/** The most that a tree shows. */
const mostShown = 2_000
/** While a run works, its model calls are read again so often. */
const againMs = 3_000

/** The model calls of a run, read again while it works; null for who may not read them, and before they are known. */
export function useModelCalls(
  conversationId: string,
  { view, runId }: { readonly view: ConversationView; readonly runId: string },
  wanted: boolean,
): readonly ModelCallLine[] | null {
  const mayRead = usePrincipal()?.roles.some((role) => role === 'admin' || role === 'read') === true
  const { state } = runSummary(view, runId)
  const isOpen = state === 'running' || state === 'waiting'
  const { data, refetch } = useQuery({
    queryKey: ['model-calls', conversationId, runId],
    queryFn: () => readLines(conversationId, runId),
    enabled: mayRead && wanted,
    refetchInterval: isOpen ? againMs : false,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end of the run is what asks for it.
  useEffect(() => {
    if (mayRead && wanted && data !== undefined) void refetch()
  }, [state])
  return data ?? null
}

async function readLines(conversationId: string, run: string): Promise<readonly ModelCallLine[]> {
  const lines: ModelCallLine[] = []
  try {
    for await (const line of witan.conversations.modelCalls.all(conversationId, { run, limit: 200 })) {
      lines.push(line)
      if (lines.length === mostShown) break
    }
  } catch (error) {
    // An older server has none.
    if (!isWitanError(error) || error.code !== 'NOT_FOUND') throw error
  }
  return lines
}

/** One model call, whole. */
export function useModelCall(conversationId: string, id: string) {
  return useQuery({
    queryKey: ['model-call', conversationId, id],
    queryFn: () => witan.conversations.modelCalls.get(conversationId, id),
  })
}
