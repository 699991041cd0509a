/** Plays an exported conversation again: the same engine, with the replies, outcomes and answers of its log, comes to the same log [Tb29]. */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Entry } from '@witan/protocol/entries'
import { systemClock } from '../identity/clock.ts'
import { traceIdOf } from '../identity/trace.ts'
import type { Store } from '../store/store.ts'
import { memoryStore } from '../store/drivers/memory.ts'
import { bring, notReplayable, type Replayed } from './bring.ts'
import { cutOff } from './cut-off.ts'
import { give } from './give.ts'
import { type Prepared, prepared, type ReplaySource } from './prepare.ts'
import { indexOfStep, type OtherModel, playOn } from './live.ts'
import { isLate } from './late.ts'
import { isBrought } from './lookahead.ts'
import { type Difference, nextIn, stopScript } from './script.ts'
import { end, type ReplayStage } from './stage.ts'
import { takeOver } from './take-over.ts'
import { compareTrees, type TreeChange } from './tree-diff.ts'
import { doesOneAsk, wake } from './turns.ts'

export type { Difference } from './script.ts'
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
  const playing = await prepared(source, store)
  const { stage } = playing
  const { script } = stage
  const copied = script.at
  try {
    while (nextIn(script) !== null && script.at < upTo) {
      const { at } = script
      await step(playing)
      if (script.at >> 8 !== at >> 8) onProgress?.(script.at)
    }
    if (other === undefined) await rest(stage)
    else if (script.difference === null) await playOn(stage, playing.replayed, other)
  } finally {
    await stop(stage)
    wake(stage.turns)
  }
  const { database, whole } = source
  const runs = whole.entries
    .slice(copied)
    .filter(isRunStart)
    .map(({ place: { run } }) => ({ id: run, traceId: traceIdOf(database, run) }))
  const { difference, at: entries } = script
  return { database, conversation: whole.row.id, entries, copied, runs, difference, store }
}

function isRunStart({ type, kind, place }: Entry): boolean {
  return type === 'start' && kind === 'agent' && place.call === place.run
}

/** Moves the replay on by at least one entry, or notes where it stops. */
async function step({ stage, replayed, contents }: Prepared): Promise<void> {
  const { script } = stage
  const { at } = script
  if (stage.turns.late.some((entry) => !isLate(stage.turns, entry))) await foldLate(stage, replayed)
  await allAsked(stage)
  if (script.at !== at) return
  const next = nextIn(script)
  if (next !== null && isBrought(script, next)) {
    if (await moved(stage, at)) return
    void bring(stage, replayed).catch(() => stopScript(script))
    return (await movedLater(stage, at, patienceMs)) ? undefined : stopScript(script)
  }
  const { database, id: conversation } = replayed.row
  const ways = [() => give(stage, contents), () => cutOff(stage), () => takeOver(stage, { database, conversation })]
  for (const way of ways) if ((await outcomeOf(stage, way())) && (await moved(stage, at))) return
  if (stage.turns.late.length > 0) {
    if (await movedLater(stage, at, patienceMs / 10)) return
    await foldLate(stage, replayed)
  }
  if (!(await movedLater(stage, at, patienceMs))) stopScript(script)
}

/** How long a replay waits for what runs outside the event loop, such as the digest of an artifact, before the engine counts as idle. */
const patienceMs = 1_000

/** Whether the log moves from `at` in this time. */
async function movedLater(stage: ReplayStage, at: number, ms: number): Promise<boolean> {
  for (const until = systemClock.now() + ms; systemClock.now() < until; await sleep(2))
    if (await moved(stage, at)) return true
  return false
}

/** Folds what another process brought. */
async function foldLate({ turns, parts }: ReplayStage, { row }: Replayed): Promise<void> {
  turns.late = []
  const log = await parts.warm.get(row.database, row.id)
  await log.catchUp()
  wake(turns)
}

/** Lets jobs ask their models where the log has it. */
async function allAsked({ turns }: ReplayStage): Promise<void> {
  for (let left = mostTurns; left > 0 && doesOneAsk(turns, null); left -= 1) {
    await nextTurn()
    wake(turns)
  }
}

/** How often the event loop turns without anything happening before the engine counts as idle. */
const idleTurns = 4
/** How often it turns while jobs decide and nothing is recorded. */
const mostTurns = 200

/** What a way comes to. One that waits for the log to move counts as taken. */
async function outcomeOf({ turns }: ReplayStage, way: boolean | Promise<boolean>): Promise<boolean> {
  let taken = typeof way === 'boolean' ? way : null
  const settle = (value: boolean) => {
    taken = value
  }
  if (typeof way !== 'boolean') void way.then(settle, () => settle(false))
  for (let left = mostTurns; left > 0; left -= 1) {
    await Promise.resolve()
    if (taken !== null) return taken
    await nextTurn()
    wake(turns)
  }
  return true
}

/** Lets the engine do what it can do now. True if the log has moved from `at`. */
async function moved({ script, turns }: ReplayStage, at: number): Promise<boolean> {
  let seen = { at: script.at, count: turns.count + script.stored }
  for (let idle = 0, left = mostTurns; idle < idleTurns && left > 0 && script.difference === null; idle += 1) {
    await nextTurn()
    wake(turns)
    left = script.at === seen.at ? left - 1 : mostTurns
    const count = turns.count + script.stored
    if (count !== seen.count || script.at !== seen.at) idle = -1
    seen = { at: script.at, count }
  }
  return script.at !== at || script.difference !== null
}

/** After the last entry nothing more may be recorded. */
async function rest(stage: ReplayStage): Promise<void> {
  if (stage.script.difference !== null) return
  for (let turn = 0; turn < idleTurns; turn += 1) await nextTurn()
}

async function stop(stage: ReplayStage): Promise<void> {
  end(stage)
  stage.pending.isOver = true
}
