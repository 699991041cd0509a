/** Asking somebody outside, in the middle of a call or before it, and what the answer makes of a call that was held. */
import type { Interruption } from '@witan/protocol'
import type { CallPlace, EntryContent, RequiredBody } from '@witan/protocol/entries'
import { askedView } from '../conversation/asking.ts'
import type { Slot } from '../conversation/state.ts'
import type { PreparedArguments } from '../tool/arguments.ts'
import type { GatedCall, InterruptionDraft, Passage, Tool } from '../tool/tool.ts'
import { type Job, record, recordRows } from './job.ts'

/** A call that has started asks, and waits for the answer. */
export function interrupt(slot: Slot, draft: InterruptionDraft, job: Job): void {
  ask({ slot, draft, place: slot.place as CallPlace, held: undefined }, job)
}

/** The gate of a tool asks before the call: the call has no start yet, and whoever goes on from the log sees that it has none. */
export function hold(slot: Slot, draft: InterruptionDraft, job: Job): void {
  const owner = slot.owner.place
  const place = { ...owner, call: job.env.ids.call(), parentCall: owner.call }
  ask({ slot, draft, place, held: { toolCallId: slot.asked.id } }, job)
}

interface Asking {
  readonly slot: Slot
  readonly draft: InterruptionDraft
  readonly place: CallPlace
  readonly held: RequiredBody['held']
}

function ask({ slot, draft, place, held }: Asking, job: Job): void {
  const { env, log } = job
  const { addressee = null, terms = null, ...prompt } = draft
  const { interruptionExpiresInSeconds: seconds, id: agent } = slot.owner.agent
  const expiresAt = seconds === null ? null : env.storeNow() + seconds * 1000
  const view = {
    ...prompt,
    id: env.ids.interruption(),
    path: [...slot.owner.place.agentPath.split('/').slice(1), slot.name].join('/'),
    agent,
    callId: place.call,
    addressee,
    state: 'open',
    expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  } as Interruption
  const body = held === undefined ? view : { ...view, held }
  record(job, place, { type: `${view.kind}_required`, kind: null, body } as EntryContent)
  const { database, id } = log.state
  const row = {
    database,
    conversation: id,
    job: job.identity.id,
    call: place.call,
    view,
    bound: view.kind === 'action' ? boundValues(slot) : {},
    terms,
    answer: null,
    answeredBy: null,
    createdAt: env.clock.now(),
    expiresAt,
    settledAt: null,
  }
  recordRows(job, { open: row })
  if (expiresAt !== null) env.expireAt(expiresAt)
}

function boundValues({ owner }: Slot): Record<string, unknown> {
  const bound: Record<string, unknown> = {}
  for (const [name, value] of owner.parameters) bound[name] = value.box.reveal()
  return bound
}

/** How the gate of a tool sees a call. */
export function gatedCall(tool: Tool, prepared: PreparedArguments & { readonly ok: true }): GatedCall {
  return { tool: tool.name, arguments: prepared.kept }
}

/**
 * The arguments that a call goes on with: the model's, or where there is a gate those that its answer lets through. Worked out
 * again from the log after a restart; a gate that nobody answered lets nothing through, whoever asks.
 */
export function passGate(
  slot: Slot,
  tool: Tool,
  prepared: PreparedArguments & { readonly ok: true },
): Passage & { readonly raw?: unknown } {
  const { gate } = tool
  if (gate === undefined) return prepared
  const { passed } = slot
  if (passed === null) return { ok: false, code: 'APPROVAL_DENIED', detail: 'not run: nobody was asked' }
  const passage = gate.pass(gatedCall(tool, prepared), askedView(passed.asked), passed.answer)
  if (!passage.ok) return passage
  const checked = tool.check(passage.arguments)
  if (checked.ok) return { ...checked, raw: passage.arguments }
  return { ok: false, code: 'TOOL_ARGS_INVALID', detail: checked.issues.slice(0, 5).join('; ') }
}
