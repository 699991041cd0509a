/** The model calls of a run, and who read what, for those who may read them. */
import { useQuery } from '@tanstack/react-query'
import { type ConversationView, isWitanError } from '@witan/client'
import type { ModelCallLine } from '@witan/protocol/schemas'
import { useCallback, useEffect, useMemo, useRef } from 'react'
import { useReadsAll } from './account.ts'
import { queries } from './queries.ts'
import { runSummary } from './tree.ts'
import { witan } from './witan.ts'

/** How many a page of them has. */
const pageOf = 200
/** While a run works, its newest model calls are read again so often. */
const againMs = 3_000

/** The pages that were read: those before the last one, which have ended, and the last one, which may grow. */
interface Pages {
  readonly before: readonly ModelCallLine[]
  readonly last: readonly ModelCallLine[]
  /** Where the last page begins, and the next one; null for the first, and where there is none. */
  readonly at: string | null
  readonly next: string | null
  /** Model calls that were read one by one, since their pages are far from those that are shown. */
  readonly far: ReadonlyMap<string, Far>
}

/** The model calls of one agent's call; `next` is where they go on, null at their end. */
interface Far {
  readonly lines: readonly ModelCallLine[]
  readonly next: string | null
}

/** The model calls of a run as far as they are read. */
interface KnownModelCalls {
  readonly lines: readonly ModelCallLine[]
  /** Whether there are more on the server. */
  readonly isPart: boolean
  /**
   * Reads on because a model call of this agent's call is not read yet: the next page of the run, and if that does not have it, those of the
   * call alone. Does nothing while it reads, and where nothing is left.
   */
  readonly more: (callId: string) => void
}

/** Reads the first page, then the last one again while the run works; null for who may not read them, and before they are known. */
export function useModelCalls(
  conversationId: string,
  { view, runId }: { readonly view: ConversationView; readonly runId: string },
  wanted: boolean,
): KnownModelCalls | null {
  const isOn = useReadsAll() && wanted
  const { state } = runSummary(view, runId)
  const isOpen = state === 'running' || state === 'waiting'
  const key = useMemo(() => ['model-calls', conversationId, runId], [conversationId, runId])
  const { data, refetch } = useQuery({
    queryKey: key,
    queryFn: async () => {
      const known = queries.getQueryData<Pages>(key)
      const read = await readPage(conversationId, runId, { at: known?.at ?? null, before: known?.before ?? [] })
      // Meanwhile a further page may have come.
      const now = queries.getQueryData<Pages>(key)
      const { far = new Map() } = now ?? {}
      return now === undefined || now.at === read.at ? { ...read, far } : now
    },
    enabled: isOn,
    refetchInterval: isOpen ? againMs : false,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end of the run is what asks for it.
  useEffect(() => {
    if (isOn && data !== undefined) void refetch()
  }, [state])
  const reading = useRef({ isOn: false, last: '' })
  const more = useCallback(
    (callId: string) => {
      const known = queries.getQueryData<Pages>(key)
      if (reading.current.isOn || known === undefined || known.next === null) return
      const isFar = reading.current.last === callId
      reading.current = { isOn: true, last: isFar ? '' : callId }
      const done = () => {
        reading.current.isOn = false
      }
      const read = isFar ? readFar(conversationId, runId, { callId, known }) : readNext(conversationId, runId, known)
      read.finally(done).then(
        (change) => queries.setQueryData<Pages>(key, (now) => (now === undefined ? now : { ...now, ...change })),
        // What is read again says where to go on.
        () => refetch(),
      )
    },
    [conversationId, runId, key, refetch],
  )
  return useMemo(
    () => (data === undefined ? null : { lines: linesOf(data), isPart: data.next !== null, more }),
    [data, more],
  )
}

/** Each once: what was read of single calls may have come in a page too. */
function linesOf({ before, last, far }: Pages): readonly ModelCallLine[] {
  const lines = [...before, ...last]
  if (far.size === 0) return lines
  const known = new Set(lines.map(({ id }) => id))
  return [...lines, ...[...far.values()].flatMap((one) => one.lines.filter(({ id }) => !known.has(id)))]
}

function readNext(conversationId: string, run: string, known: Pages): Promise<Omit<Pages, 'far'>> {
  const before = [...known.before, ...known.last.filter(isEnded)]
  return readPage(conversationId, run, { at: known.next, before })
}

async function readFar(
  conversationId: string,
  run: string,
  { callId, known }: { readonly callId: string; readonly known: Pages },
): Promise<Pick<Pages, 'far'>> {
  const { lines = [], next = null } = known.far.get(callId) ?? {}
  const query = { run, call: callId, limit: pageOf, ...(next === null ? {} : { cursor: next }) }
  const { items, nextCursor } = await witan.conversations.modelCalls.list(conversationId, query)
  const read = { lines: [...(next === null ? [] : lines), ...items.filter(isEnded)], next: nextCursor }
  return { far: new Map([...known.far, [callId, read]]) }
}

function isEnded({ status }: ModelCallLine): boolean {
  return status !== 'running'
}

const firstPage = { at: null, before: [] }

async function readPage(
  conversationId: string,
  run: string,
  { at, before }: Pick<Pages, 'at' | 'before'>,
): Promise<Omit<Pages, 'far'>> {
  try {
    const query = { run, limit: pageOf, ...(at === null ? {} : { cursor: at }) }
    const { items, nextCursor } = await witan.conversations.modelCalls.list(conversationId, query)
    return { before, last: items, at, next: nextCursor }
  } catch (error) {
    if (!isWitanError(error)) throw error
    // What was under way at the end of a page has ended under another id.
    if (at !== null && error.code === 'BODY_INVALID') return await readPage(conversationId, run, firstPage)
    // An older server has none.
    if (error.code !== 'NOT_FOUND') throw error
    return { before, last: [], at, next: null }
  }
}

/** One model call, whole. */
export function useModelCall(conversationId: string, id: string) {
  return useQuery({
    queryKey: ['model-call', conversationId, id],
    queryFn: () => witan.conversations.modelCalls.get(conversationId, id),
  })
}

/** Which models read the entry with that seq. */
export function useReaders(conversationId: string, seq: number) {
  return useQuery({
    queryKey: ['readers', conversationId, seq],
    queryFn: () => witan.conversations.modelCalls.readers(conversationId, seq),
    staleTime: 0,
  })
}
