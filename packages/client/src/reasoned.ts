/** What a call's model has reasoned so far: the pieces of its model calls, and how long they took. */
import type { Reasoned } from './conversation-view.ts'

const nothing: Reasoned = { text: '', settled: 0, ms: 0, since: null }

/** Adds a piece. `isNew`: it replaces what the present model call has reasoned so far. */
export function addReasoning(
  before: Reasoned | null,
  { text, at, isNew }: { readonly text: string; readonly at: string; readonly isNew: boolean },
): Reasoned {
  const { ms, since, settled, text: all } = before ?? nothing
  const kept = isNew ? all.slice(0, settled) : all
  const gap = kept.length === settled && kept !== '' && text !== '' ? '\n\n' : ''
  return { text: kept + gap + text, settled, ms, since: isNew ? at : (since ?? at) }
}

/** The model writes its answer, or has ended. */
export function stopReasoning(before: Reasoned | null, at: string): Reasoned | null {
  if (before === null || before.since === null) return before
  const passed = Date.parse(at) - Date.parse(before.since)
  return { ...before, ms: before.ms + (Number.isFinite(passed) ? Math.max(0, passed) : 0), since: null }
}

/** The model call has ended: what it reasoned stays. */
export function settleReasoning(before: Reasoned | null, at: string): Reasoned | null {
  const stopped = stopReasoning(before, at)
  return stopped === null ? null : { ...stopped, settled: stopped.text.length }
}

/** Another model call takes the place of the present one. */
export function dropReasoning(before: Reasoned | null): Reasoned | null {
  return before === null ? null : { ...before, text: before.text.slice(0, before.settled), since: null }
}
