/** Plays an exported conversation again: the same engine, with the replies, outcomes and answers of its log, comes to the same log [Tb29]. */
import type { Entry } from '@witan/protocol/entries'
import { traceIdOf } from '../identity/trace.ts'
import type { Store } from '../store/store.ts'
import { memoryStore } from '../store/drivers/memory.ts'
import { end } from './engine.ts'
import { assertEnded, step } from './follow.ts'
import { indexOfStep, type OtherModel, playOn } from './live.ts'
import { notReplayable, prepared, type ReplaySource } from './prepare.ts'
import { type Difference, nextIn } from './followed-log.ts'
import { compareTrees, type TreeChange } from './tree-diff.ts'

export type { Difference } from './followed-log.ts'
export type { ReplaySource } from './prepare.ts'

/** What came of a replay. */
export interface ReplayReport {
  readonly database: string
  readonly conversation: string
  /** The entries that are there again, equal to those of the export. */
  readonly entries: number
  /** How many of them a fork had copied from another conversation: they are taken over as they are. */
  readonly copied: number
  /** The runs in the order of their start. */
  readonly runs: readonly { readonly id: string; readonly traceId: string }[]
  /** Null if both logs are equal. */
  readonly difference: Difference | null
  /** Where the conversation is now. */
  readonly store: Store
}

/** How a replay is watched. */
export interface ReplayOptions {
  /** Called now and then with the number of entries that are there again. */
  readonly onProgress?: (entries: number) => void
}

/**
 * Plays a conversation again in a fresh store in memory. No model and no tool is called. It ends at the first entry that differs. Throws
 * `BODY_INVALID` before anything is played if the export has something that a replay does not play again.
 */
export async function replay(source: ReplaySource, options: ReplayOptions = {}): Promise<ReplayReport> {
  return play(source, options)
}

/** What came of going on with another model. `difference` is set if the log could not be followed up to the step: then nothing was asked. */
export interface ContinuedReport extends ReplayReport {
  /** The calls of both logs. */
  readonly tree: readonly TreeChange[]
}

/**
 * Plays a conversation again up to a step, a model reply of the log counted from 1, and goes on with another model from there. Its tools
 * give what they gave in the log to the same arguments, and people answer what they answered to the same questions; nothing else is
 * called. Throws `BODY_INVALID` if the log has fewer steps.
 */
export async function replayFrom(
  source: ReplaySource,
  other: OtherModel,
  options: ReplayOptions = {},
): Promise<ContinuedReport> {
  const { entries } = source.whole
  const upTo = indexOfStep(entries, other.from)
  if (upTo === null) throw notReplayable(`its log has fewer than ${other.from} model replies`)
  const report = await play(source, { ...options, upTo, other })
  const after = (await report.store.readSnapshot(report.database, report.conversation))?.entries ?? []
  return { ...report, entries: after.length, tree: report.difference === null ? compareTrees(entries, after) : [] }
}

/** Where a play ends. */
interface PlayOptions {
  /** The number of entries up to which the log is followed. */
  readonly upTo?: number
  readonly other?: OtherModel
}

async function play(source: ReplaySource, options: PlayOptions & ReplayOptions): Promise<ReplayReport> {
  const { upTo = source.whole.entries.length, other, onProgress } = options
  const store = memoryStore({ now: () => source.whole.row.createdAt, maxRestingMs: Number.POSITIVE_INFINITY })
  await store.open()
  const engine = await prepared(source, store)
  const { followed } = engine
  const copied = followed.came.length
  try {
    while (nextIn(followed) !== null && followed.came.length < upTo) {
      const at = followed.came.length
      await step(engine)
      if (followed.came.length >> 8 !== at >> 8) onProgress?.(followed.came.length)
    }
    const ended = source.whole.jobs.flatMap(({ id, endedAt }) => (endedAt === null ? [] : [id]))
    if (followed.difference === null) await (other === undefined ? assertEnded(engine, ended) : playOn(engine, other))
  } finally {
    end(engine)
  }
  const { database, whole } = source
  const { difference, came } = followed
  await store.putSnapshot(database, { ...whole, row: { ...whole.row, database, lastSeq: came.length }, entries: came })
  const runs = whole.entries
    .slice(copied)
    .filter(isRunStart)
    .map(({ place: { run } }) => ({ id: run, traceId: traceIdOf(database, run) }))
  return { database, conversation: whole.row.id, entries: came.length, copied, runs, difference, store }
}

function isRunStart({ type, kind, place }: Entry): boolean {
  return type === 'start' && kind === 'agent' && place.call === place.run
}
