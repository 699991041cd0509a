/** Plays an exported conversation again: the same engine, with the replies, outcomes and answers of its log, comes to the same log [Tb29]. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Entry } from '@witan/protocol/entries'
import { traceIdOf } from '../../identity/trace.ts'
import type { Store } from '../../store/store.ts'
import { memoryStore } from '../../store/drivers/memory.ts'
import { bring, notReplayable } from './bring.ts'
import { give, provoke } from './give.ts'
import { type Prepared, prepared, type ReplaySource } from './prepare.ts'
import { indexOfStep, type OtherModel, playOn } from './live.ts'
import { isBrought } from './lookahead.ts'
import { type Difference, nextIn, stopScript } from './script.ts'
import type { ReplayStage } from './stage.ts'
import { takeOver } from './take-over.ts'
import { compareTrees, type TreeChange } from './tree-diff.ts'
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
export async function replayFrom(source: ReplaySource, other: OtherModel): Promise<ContinuedReport> {
  const { entries } = source.whole
  const upTo = indexOfStep(entries, other.from)
  if (upTo === null) throw notReplayable(`its log has fewer than ${other.from} model replies`)
  const report = await playOnce(source, 'shown', { upTo, other })
  const after = (await report.store.readWhole(report.database, report.conversation))?.entries ?? []
  return { ...report, entries: after.length, tree: report.difference === null ? compareTrees(entries, after) : [] }
}

interface PlayOptions extends ReplayOptions {
  /** The number of entries up to which the log is followed. */
  readonly upTo?: number
  readonly other?: OtherModel
}

async function playOnce(source: ReplaySource, schedule: Schedule, options: PlayOptions): Promise<ReplayReport> {
  const { onProgress, upTo = source.whole.entries.length, other } = options
  const store = memoryStore({ now: () => source.whole.row.createdAt, maxRestingMs: Number.POSITIVE_INFINITY })
  await store.open()
  const playing = await prepared(source, store, schedule)
  const { stage } = playing
  const { script } = stage
  try {
    while (nextIn(script) !== null && script.at < upTo) {
      const { at } = script
      await step(playing)
      if (onProgress !== undefined && script.at >> 8 !== at >> 8) onProgress(script.at)
    }
    if (other === undefined) await rest(stage)
    else if (script.difference === null) await playOn(stage, playing.replayed, other)
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
