/** What notices change: nearly all are for people alone. */
import type { CallPlace, Entry, NoticeBody } from '@witan/protocol/entries'
import { endReflection } from './critique.ts'
import { decisionOf } from '../hook/decision.ts'
import { foldDecision } from './hooks.ts'
import { countersOf } from './merge-usage.ts'
import { withhold } from './remembered.ts'
import type { LiveJob } from './state.ts'

/** Folds a notice of a job. */
export function foldNotice(run: LiveJob, { place, body }: Entry & { type: 'notice' }): void {
  if (body.code === 'RUN_RECOVERED') run.recovered += 1
  if (body.code === 'MODEL_WARNING') run.warnings = [...run.warnings, body.detail]
  const call = run.calls.get(place.call)
  if (call === undefined) return
  if (body.code === 'USAGE_INCOMPLETE') countersOf(call).complete = false
  if (body.code === 'MEMORY_WITHHELD') withhold(call)
  if (body.code === 'GUARDRAIL_HIT') foldHit(run, place, body)
  if (body.code === 'REFLECTION_SKIPPED') endReflection(call, body.reason)
}

function foldHit(run: LiveJob, place: CallPlace, body: NoticeBody): void {
  const decision = decisionOf({ type: 'notice', kind: null, body })
  if (decision !== null) foldDecision(run, place, decision)
}
