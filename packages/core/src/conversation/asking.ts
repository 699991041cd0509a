/** What the fold makes of somebody being asked, and of the answer: in the middle of a call, or before one that is held until then. */
import type { Interruption, InterruptionKind } from '@witan/protocol'
import type { CallPlace, Entry, RequiredBody, ResolvedBody } from '@witan/protocol/entries'
import type { Answer } from '../tool/tool.ts'
import type { RunState } from './state.ts'

/** An entry that says that somebody is asked. */
export type RequiredEntry = Extract<Entry, { readonly type: `${InterruptionKind}_required` }>

/** Whether an entry says that somebody is asked. */
export function isRequired(entry: Entry): entry is RequiredEntry {
  return entry.type.endsWith('_required')
}

/** The interruption as readers get it. */
export function askedView({ held: _, ...view }: RequiredBody): Interruption {
  return view
}

/** Somebody is asked: the call waits. One that is held has no start yet, so its slot is found by what its model called it. */
export function foldRequired(run: RunState | null, place: CallPlace, body: RequiredBody): void {
  const { held } = body
  const owner = run?.calls.get(place.parentCall ?? '')
  const slot =
    held === undefined ? run?.slots.get(place.call) : owner?.slots.find((one) => one.asked.id === held.toolCallId)
  if (slot === undefined) return
  slot.interruption = body
  slot.state = 'waiting'
  slot.place = place
  run?.slots.set(place.call, slot)
}

/** It is settled: the call goes on from there, and one that was held is asked for again, now with what came of its gate. */
export function foldResolved(run: RunState | null, place: CallPlace, body: ResolvedBody): void {
  const slot = run?.slots.get(place.call)
  const asked = slot?.interruption ?? null
  if (slot === undefined || asked === null || asked.id !== body.id) return
  const answered = { asked, answer: answerOf(body) }
  slot.interruption = null
  if (asked.held === undefined) {
    slot.state = 'answered'
    slot.answered = answered
    return
  }
  run?.slots.delete(place.call)
  slot.state = 'asked'
  slot.place = null
  slot.passed = answered
}

function answerOf(body: ResolvedBody): Answer {
  if (body.state === 'cancelled') return { error: 'cancelled by the user', lapsed: 'cancelled' }
  if (body.state === 'expired') return { error: 'nobody answered in time', lapsed: 'expired' }
  return body.answer as Answer
}
