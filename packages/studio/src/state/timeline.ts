/** The calls of a run on a line of time: when each began, and when it worked and waited for people. */
import type { CallView, ConversationView } from '@witan/client'
import { formatElapsed } from './format.ts'
import { retrievalWords } from './knowledge.ts'
import { memoryWords } from './memory.ts'
import { periodsOf } from './spans.ts'
import { treeRows } from './tree.ts'

/** A part of a call's time, in ms since the run began. */
interface Period {
  readonly fromMs: number
  readonly toMs: number
  readonly isWaiting: boolean
}

/** A call on the line of time. All times are in ms. */
export interface TimelineItem {
  readonly call: CallView
  readonly level: number
  /** Since the run began. */
  readonly fromMs: number
  readonly workedMs: number
  readonly waitedMs: number
  readonly periods: readonly Period[]
  /** Whether it still goes on. */
  readonly grows: boolean
}

/** The calls of a run and how long it has taken, in ms. */
interface Timeline {
  readonly items: readonly TimelineItem[]
  readonly wholeMs: number
}

const unfolded = { collapsed: new Set<string>() }

/** The calls of a run in the order of its tree. `nowMs` is the time of the page, to which what goes on is drawn. */
export function timelineOf(view: ConversationView, runId: string, nowMs: number): Timeline {
  const began = Date.parse(view.calls.get(runId)?.startedAt ?? '')
  if (Number.isNaN(began)) return { items: [], wholeMs: 0 }
  let wholeMs = 0
  const items = treeRows(view, runId, unfolded).map(({ call, level }): TimelineItem => {
    const all = periodsOf(view, call.callId, nowMs)
    const periods = all.map(({ from, to, isWaiting }) => ({ fromMs: from - began, toMs: to - began, isWaiting }))
    const sum = (isWaiting: boolean) =>
      periods.reduce((ms, one) => (one.isWaiting === isWaiting ? ms + one.toMs - one.fromMs : ms), 0)
    wholeMs = Math.max(wholeMs, periods.at(-1)?.toMs ?? 0)
    return {
      call,
      level,
      fromMs: Math.max(0, Date.parse(call.startedAt) - began),
      workedMs: sum(false),
      waitedMs: sum(true),
      periods,
      grows: call.endedAt === null && call.state !== 'cancelled',
    }
  })
  return { items, wholeMs }
}

/** `leaf, from 0.4 s, worked 1.2 s, waited 3.0 s`. */
export function timelineWords({ call, fromMs, workedMs, waitedMs, grows }: TimelineItem, name: string): string {
  const words = [name, `from ${seconds(fromMs)}`, `worked ${seconds(workedMs)}`, `waited ${seconds(waitedMs)}`]
  if (call.retrievals.length > 0) words.push(retrievalWords(call.retrievals))
  const kept = memoryWords(call)
  if (kept !== null) words.push(kept)
  if (grows) words.push('goes on')
  return words.join(', ')
}

/** Tenths of seconds up to a minute, so that all of a short run have one unit. */
function seconds(ms: number): string {
  return ms < 59_950 ? `${(ms / 1000).toFixed(1)} s` : formatElapsed(ms)
}

/** Moments for a scale of this length: at most six, at round numbers of ms. */
export function ticksOf(wholeMs: number): readonly number[] {
  if (wholeMs <= 0) return [0]
  const rough = wholeMs / 5
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => one >= rough) ?? rough
  return Array.from({ length: Math.floor(wholeMs / step) + 1 }, (_, index) => index * step)
}
