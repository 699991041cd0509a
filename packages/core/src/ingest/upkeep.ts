/**
 * What stores have of bases that were deleted, and of bases that read otherwise now: found at the start and every few minutes by each process
 * that takes work, so that it is brought to an end whatever became of the process that changed the base.
 */
import type { KnowledgeBase } from '@witan/protocol/knowledge'
import type { Clock } from '../identity/clock.ts'
import { randomId } from '../identity/ids.ts'
import { readingOf } from '../knowledge/digest.ts'
import type { KnowledgeRecords } from '../knowledge/records.ts'

/** What looking after bases needs. */
export interface UpkeepContext {
  readonly knowledge: KnowledgeRecords
  readonly clock: Clock
  /** The databases of the store. */
  databases(): Promise<readonly string[]>
  /** The bases of a database by the names of their documents, as they stand in the store now. */
  basesOf(database: string): Promise<ReadonlyMap<string, KnowledgeBase>>
  report(error: unknown): void
}

/** Where documents are. */
interface Place {
  readonly database: string
  /** The name of their base for the store. */
  readonly base: string
}

/** How often a process looks for bases that are to be cleared or read again, in ms: another process may have died, or a model been away. */
const lookMs = 300_000
/** How many documents of a base wait to be read again at a time, so that what is ingested meanwhile comes soon. */
const rereadAtOnce = 50

/** Lets the next documents of a base be read again that were read otherwise, behind a key. False if there are none, or some wait already. */
export async function rereadSome(
  { knowledge, clock }: Pick<UpkeepContext, 'knowledge' | 'clock'>,
  { database, base: name }: Place,
  { base, after = '' }: { readonly base: KnowledgeBase; readonly after?: string },
): Promise<boolean> {
  if (base.query !== null) return false
  const again = { base: name, id: randomId(), at: clock.now(), reading: readingOf(base), after, limit: rereadAtOnce }
  return (await knowledge.beginReread(database, again)) > 0
}

/** Looks after the bases of a database: clears what is left of deleted ones. True if documents are to be read again. */
export async function lookAfter(context: Omit<UpkeepContext, 'databases'>, database: string): Promise<boolean> {
  const { knowledge, basesOf } = context
  const stored = await knowledge.listBases(database)
  if (stored.length === 0) return false
  // Read behind the documents: a base has its definition before its first document.
  const bases = await basesOf(database)
  let isAgain = false
  for (const { base: name, readings } of stored) {
    const base = bases.get(name)
    if (base === undefined) await knowledge.deleteKnowledge(database, name)
    else if (readings.some((reading) => reading !== readingOf(base)))
      isAgain = (await rereadSome(context, { database, base: name }, { base })) || isAgain
  }
  return isAgain
}

/** Looks after all databases now and every few minutes, until the returned function is called. `found` is called when documents wait. */
export function keepLooking(context: UpkeepContext, found: () => void): () => Promise<void> {
  const { clock, databases, report } = context
  let isOver = false
  let cancel = () => {}
  let looking: Promise<void> = Promise.resolve()
  const look = async () => {
    for (const database of await databases()) {
      if (isOver) return
      // One that cannot be looked after leaves the others alone.
      await lookAfter(context, database).then((isAgain) => isAgain && found(), report)
    }
  }
  const again = () => {
    looking = look().catch(report)
    cancel = clock.after(lookMs, () => void looking.then(() => isOver || again()), { background: true })
  }
  again()
  return async () => {
    isOver = true
    cancel()
    await looking
  }
}
