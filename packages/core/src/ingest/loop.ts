/** The loop that works on waiting documents: those that this process takes in, and those that a dead one has left. */
import type { KnowledgeBase } from '@witan/protocol/knowledge'
import type { Clock } from '../identity/clock.ts'
import { readingOf } from '../knowledge/digest.ts'
import type { DocumentEnd, HeldDocument } from '../knowledge/records.ts'
import { endInterrupted, type Reading, readDocument } from './read-document.ts'
import { keepLooking, rereadSome, type UpkeepContext } from './upkeep.ts'

/** What the loop needs. */
export interface LoopContext extends Omit<Reading, 'now'>, UpkeepContext {
  /** The owner of what this process holds: one for each runtime. */
  readonly owner: string
  readonly leaseMs: number
  /** False if this process reads nothing: it leaves what it takes in to others. */
  readonly takesWork: boolean
  readonly clock: Clock
  /** The base whose documents have this name, as it is now; null if it was deleted, which was looked up in the store. */
  baseOf(database: string, name: string): Promise<KnowledgeBase | null>
  /** Called when a document has ended. */
  ended(): void
}

/** The loop of a process. */
export interface IngestLoop {
  /** Looks for waiting documents now. */
  wake(): void
  /** Looks for them now and every third of a lease, and looks after bases. */
  open(): void
  /** Stops at once, and gives back what it holds. */
  close(): Promise<void>
}

/** How often a document may have been interrupted. */
const mostAttempts = 8
/** How many documents are read at a time: a slow one holds up no others, and each may take the memory of one. */
const mostReaders = 2

interface State {
  readonly context: LoopContext
  readonly reading: Reading
  readonly closed: AbortController
  /** Those who claim and read documents, one after the other. */
  readonly readers: Set<Promise<void>>
  /** How many documents are held. */
  holds: number
  /** Whether something was left held, as the store refused its end. */
  isLeft: boolean
  isWanted: boolean
  stopRenewing: () => void
  cancelPoll: () => void
  stopLooking: () => Promise<void>
}

/**
 * A loop that reads a few documents at a time, each as a whole: claimed alone, so that none is counted as begun for another that fails. What a
 * dead process held is read again when its lease has lapsed. A document that fails is counted in its ingest, and the next one is read.
 */
export function createLoop(context: LoopContext): IngestLoop {
  const nothing = () => {}
  const state: State = {
    context,
    reading: { ...context, now: () => context.clock.now() },
    closed: new AbortController(),
    readers: new Set(),
    ...{ holds: 0, isLeft: false, isWanted: false },
    ...{ stopRenewing: nothing, cancelPoll: nothing, stopLooking: async () => {} },
  }
  return { wake: () => wake(state), open: () => open(state), close: () => close(state) }
}

function open(state: State): void {
  poll(state)
  if (state.context.takesWork) state.stopLooking = keepLooking(state.context, () => wake(state))
}

function poll(state: State): void {
  const { clock, leaseMs } = state.context
  wake(state)
  state.cancelPoll = clock.after(leaseMs / 3, () => poll(state), { background: true })
}

async function close(state: State): Promise<void> {
  const { knowledge, owner } = state.context
  state.closed.abort(new Error('The ingest was closed.'))
  state.cancelPoll()
  await Promise.all([...state.readers, state.stopLooking()])
  if (state.holds > 0 || state.isLeft) await knowledge.releaseDocuments(owner)
}

function wake(state: State): void {
  const { closed, context, readers } = state
  if (closed.signal.aborted || !context.takesWork) return
  state.isWanted = true
  if (readers.size >= mostReaders) return
  const reader: Promise<void> = readOn(state)
    .catch((error: unknown) => {
      if (!closed.signal.aborted) context.report(error)
    })
    .finally(() => {
      readers.delete(reader)
      if (state.isWanted) wake(state)
    })
  readers.add(reader)
}

/** Claims and reads one document after the other. Another reader looks for more beside it. */
async function readOn(state: State): Promise<void> {
  const { knowledge, owner, leaseMs } = state.context
  while (!state.closed.signal.aborted) {
    state.isWanted = false
    const [held] = await knowledge.claimDocuments({ owner, leaseMs, limit: 1 })
    if (held === undefined) return
    hold(state, 1)
    try {
      wake(state)
      state.closed.signal.throwIfAborted()
      await endDocument(state, held)
    } catch (error) {
      state.isLeft = true
      state.isWanted = false
      throw error
    } finally {
      hold(state, -1)
    }
    state.context.ended()
  }
}

/** Counts what is held, and renews the leases while that is anything. */
function hold(state: State, change: 1 | -1): void {
  state.holds += change
  if (state.holds === 1 && change === 1) state.stopRenewing = renew(state.context)
  if (state.holds === 0) state.stopRenewing()
}

/** Renews the leases until it is stopped. */
function renew({ knowledge, owner, leaseMs, clock, report }: LoopContext): () => void {
  let isOver = false
  let cancel = () => {}
  const again = () => {
    const renewed = () => void knowledge.renewDocuments(owner, leaseMs).catch(report).finally(again)
    if (!isOver) cancel = clock.after(leaseMs / 3, renewed, { background: true })
  }
  again()
  return () => {
    isOver = true
    cancel()
  }
}

async function endDocument(state: State, held: HeldDocument): Promise<void> {
  const { knowledge, owner, baseOf } = state.context
  const base = await baseOf(held.database, held.base)
  if (base === null) return knowledge.deleteKnowledge(held.database, held.base)
  const end = await endOf(state, { base, held })
  await knowledge.endDocument(owner, held, end)
  await goOn(state, held, end)
}

async function endOf(
  { reading, closed }: State,
  { base, held }: { readonly base: KnowledgeBase; readonly held: HeldDocument },
): Promise<DocumentEnd> {
  if (held.attempt <= mostAttempts) return readDocument(reading, { base, held }, closed.signal)
  return endInterrupted(reading, { base, held }, `Its reading was interrupted ${mostAttempts} times.`)
}

/**
 * Lets the next documents be read again behind one that was, and any that was read as its base did before it changed. While a model is away,
 * the next look begins anew; one that failed by itself holds up no others.
 */
async function goOn({ context }: State, { database, base: name, key, content }: HeldDocument, end: DocumentEnd) {
  if (end.kind === 'failed' && end.code === 'EMBEDDING_FAILED' && end.failure === undefined) return
  const base = await context.baseOf(database, name)
  if (base === null) return
  const isOutdated = end.kind === 'stored' && end.form.reading !== readingOf(base)
  if (content === null) await rereadSome(context, { database, base: name }, { base, after: key })
  else if (isOutdated) await rereadSome(context, { database, base: name }, { base })
}
