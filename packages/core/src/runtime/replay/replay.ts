/** Plays an exported conversation again: the same engine, with the replies, outcomes and answers of its log, comes to the same log [Tb29]. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Entry } from '@witan/protocol/entries'
import { traceIdOf } from '../../identity/trace.ts'
import type { Store } from '../../store/store.ts'
import { memoryStore } from '../../store/drivers/memory.ts'
import { bring } from './bring.ts'
import { give, provoke } from './give.ts'
import { type Prepared, prepared, type ReplaySource } from './prepare.ts'
import { isBrought } from './lookahead.ts'
import { type Difference, nextIn, stopScript } from './script.ts'
import type { ReplayStage } from './stage.ts'
import { takeOver } from './take-over.ts'
import { force, type Schedule, schedules, wake } from './turns.ts'

export type { Difference } from './script.ts'
export type { ReplaySource } from './prepare.ts'

/** What came of a replay. */
export interface ReplayReport {
  readonly database: string
  readonly conversation: string
  /** The entries that were recorded again, equal to those of the export. */
  readonly entries: number
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
 * Plays a conversation again in a fresh store in memory. No model and no tool is called. It ends at the first entry that differs. Where
 * calls were under way at once the log may not say when each was asked: then the replay tries what else may have been. Throws
 * `BODY_INVALID` before anything is played if the export has something that a replay does not play again.
 */
export async function replay(source: ReplaySource, options: ReplayOptions = {}): Promise<ReplayReport> {
  let best: ReplayReport | null = null
  for (const schedule of schedules) {
    const report = await playOnce(source, schedule, options)
    if (best === null || report.difference === null || report.entries > best.entries) best = report
    if (best.difference === null) break
  }
  return best as ReplayReport
}

async function playOnce(
  source: ReplaySource,
  schedule: Schedule,
  { onProgress }: ReplayOptions,
): Promise<ReplayReport> {
  const store = memoryStore({ now: () => source.whole.row.createdAt, maxRestingMs: Number.POSITIVE_INFINITY })
  await store.open()
  const playing = await prepared(source, store, schedule)
  const { stage } = playing
  const { script } = stage
  try {
    while (nextIn(script) !== null) {
      const { at } = script
      await step(playing)
      if (onProgress !== undefined && script.at >> 8 !== at >> 8) onProgress(script.at)
    }
    await rest(stage)
  } finally {
    wake(stage.turns)
    await stop(stage)
  }
  const { database, whole } = source
  const runs = whole.entries
    .filter(isRunStart)
    .map(({ place: { run } }) => ({ id: run, traceId: traceIdOf(database, run) }))
  const { difference, at: entries } = script
  return { database, conversation: whole.row.id, entries, runs, difference, store }
}

function isRunStart({ type, kind, place }: Entry): boolean {
  return type === 'start' && kind === 'agent' && place.call === place.run
}

/** Moves the replay on by at least one entry, or notes where it stops. */
async function step({ stage, replayed, contents }: Prepared): Promise<void> {
  const { script } = stage
  const { at } = script
  const next = nextIn(script)
  if (next !== null && isBrought(script, next)) {
    if (await moved(stage, at)) return
    void bring(stage.parts, script, replayed).catch(() => stopScript(script))
    return (await moved(stage, at)) ? undefined : stopScript(script)
  }
  const { database, id: conversation } = replayed.row
  const ways = [
    () => give(stage, contents),
    () => true,
    () => give(stage, contents),
    () => takeOver(stage, { database, conversation }),
    () => force(stage.turns, nextIn(script)?.job ?? ''),
    () => provoke(stage),
  ]
  for (const way of ways) if ((await way()) && (await moved(stage, at))) return
  stopScript(script)
}

/** How often the event loop turns without anything happening before the engine counts as idle. */
const idleTurns = 4

/** Waits until the log has moved from `at`; false if the engine is idle first. */
async function moved({ script, turns }: ReplayStage, at: number): Promise<boolean> {
  for (let idle = 0; idle < idleTurns; idle += 1) {
    if (script.at !== at || nextIn(script) === null) return true
    const before = turns.count
    await nextTurn()
    wake(turns)
    if (turns.count !== before) idle = -1
  }
  return script.at !== at
}

/** After the last entry nothing more may be recorded. */
async function rest(stage: ReplayStage): Promise<void> {
  if (stage.script.difference !== null) return
  for (let turn = 0; turn < idleTurns; turn += 1) await nextTurn()
}

async function stop({ parts }: ReplayStage): Promise<void> {
  parts.expiry.close()
  parts.env.timeLimit.close()
  parts.tracker.close(new Error('The replay is over.'))
}
