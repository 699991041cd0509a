/** The decision: from the state of a run to what is to be done next. Pure. */
import { type AgentCall, isTop, type RunState, type Slot } from '../conversation/state.ts'

/** A step of work. `admit`, `resume` and `end` only record; `think` and `act` reach outside. */
export type Work =
  | { readonly kind: 'think'; readonly call: AgentCall }
  | { readonly kind: 'admit'; readonly call: AgentCall }
  | { readonly kind: 'act'; readonly slot: Slot; readonly id: string }
  | { readonly kind: 'resume'; readonly slot: Slot }
  | { readonly kind: 'end'; readonly call: AgentCall }

/** What to do next. `busy`: everything possible is under way; `stop`: abort what is under way, then close. */
export type Next =
  | { readonly kind: 'work'; readonly work: readonly Work[] }
  | { readonly kind: 'busy' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'finish' }

/** Decides from the run and the ids of what is under way. At most `maxParallel` effects run at once [C14]. */
export function decide(run: RunState, busy: ReadonlyMap<string, unknown>): Next {
  if (run.cancelled || run.failure !== null) return busy.size > 0 ? { kind: 'stop' } : { kind: 'finish' }
  const work: Work[] = []
  let free = run.tree.limits.maxParallel - busy.size
  for (const call of run.calls.values()) {
    if (!call.active) continue
    if (call.slots.length > 0) free = decideSlots(call, busy, { work, free })
    else if (call.final !== null && call.document.inbox.length === 0) {
      if (isTop(call)) return { kind: 'finish' }
      work.push({ kind: 'end', call })
    } else if (!busy.has(call.place.call) && free > 0) {
      free -= 1
      work.push({ kind: 'think', call })
    }
  }
  if (work.length > 0) return { kind: 'work', work }
  return busy.size > 0 ? { kind: 'busy' } : { kind: 'wait' }
}

function decideSlots(
  call: AgentCall,
  busy: ReadonlyMap<string, unknown>,
  into: { readonly work: Work[]; free: number },
): number {
  if (call.slots.some((slot) => slot.state === 'asked')) {
    into.work.push({ kind: 'admit', call })
    return into.free
  }
  for (const slot of call.slots) {
    const id = slot.place?.call ?? ''
    if (slot.state === 'answered') into.work.push({ kind: 'resume', slot })
    else if (slot.state === 'started' && into.free > 0 && !busy.has(id)) {
      into.free -= 1
      into.work.push({ kind: 'act', slot, id })
    }
  }
  return into.free
}
