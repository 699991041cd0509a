/** Opens interruptions, during a tool call or before it, and applies the answer to a call that an approval held back. */
import type { Interruption } from '@witan/protocol'
import type { CallPlace, EntryContent, RequiredBody } from '@witan/protocol/entries'
import { askedView } from '../conversation/fold-interruptions.ts'
import { shownCaller } from '../identity/principal.ts'
import { isBody } from '../conversation/body.ts'
import type { ToolCall } from '../conversation/state.ts'
import type { PreparedArguments } from '../tool/arguments.ts'
import type { GatedCall, GateResult, Tool } from '../tool/tool.ts'
import type { InterruptionDraft } from '../tool/waiting.ts'
import { type Job, record, recordRows } from '../job/job.ts'

/** Opens an interruption for a call that has started; the call waits for the answer. */
export function interrupt(toolCall: ToolCall, draft: InterruptionDraft, job: Job): void {
  open({ toolCall, draft, place: toolCall.place as CallPlace, held: undefined }, job)
}

/** Opens an interruption before the call, for the gate of its tool. The log holds no start of the call until the answer comes. */
export function hold(toolCall: ToolCall, draft: InterruptionDraft, job: Job): void {
  const owner = toolCall.owner.place
  const place = { ...owner, call: job.env.ids.call(), parentCall: owner.call }
  open({ toolCall, draft, place, held: { toolCallId: toolCall.requested.id } }, job)
}

interface InterruptionRequest {
  readonly toolCall: ToolCall
  readonly draft: InterruptionDraft
  readonly place: CallPlace
  readonly held: RequiredBody['held']
}

function open({ toolCall, draft, place, held }: InterruptionRequest, job: Job): void {
  const { env, log } = job
  const { database, id } = log.state
  const { addressee = null, terms = null, below, ...prompt } = draft
  const { agent, place: owner, remote } = toolCall.owner
  const seconds = expirySeconds(toolCall, job)
  const asks = isBody(toolCall) ? below : toolCall.name
  const path = [...owner.agentPath.split('/').slice(1), ...(asks === undefined ? [] : [asks])].join('/')
  const expiresAt = seconds === null ? null : env.storeNow(database) + seconds * 1000
  const view = {
    ...prompt,
    ...shownCaller(job.run.principal),
    id: env.ids.interruption(),
    path: path === '' ? agent.id : path,
    agent: remote ?? agent.id,
    callId: place.call,
    addressee,
    state: 'open',
    expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  } as Interruption
  const body = held === undefined ? view : { ...view, held }
  record(job, place, { type: `${view.kind}_required`, kind: null, body } as EntryContent)
  const row = {
    database,
    conversation: id,
    job: job.identity.id,
    call: place.call,
    view,
    bound: view.kind === 'action' ? boundValues(toolCall) : {},
    terms,
    answer: null,
    answeredBy: null,
    createdAt: env.clock.now(),
    expiresAt,
    settledAt: null,
  }
  recordRows(job, { open: row })
  if (expiresAt !== null) env.expireAt(database, expiresAt)
}

const daySeconds = 86_400

/** What the agent says; a run that came over A2A waits for a day where it says nothing, since its caller may be gone for good. */
function expirySeconds({ owner }: ToolCall, { run }: Job): number | null {
  const { interruptionExpiresInSeconds: seconds } = owner.agent
  return seconds ?? (run.principal.incoming === undefined ? null : daySeconds)
}

function boundValues({ owner }: ToolCall): Record<string, unknown> {
  const bound: Record<string, unknown> = {}
  for (const [name, value] of owner.parameters) bound[name] = value.box.reveal()
  return bound
}

/** The call in the form that the gate of a tool reads. */
export function gatedCall(tool: Tool, prepared: PreparedArguments & { readonly ok: true }): GatedCall {
  return { tool: tool.name, arguments: prepared.kept, taken: prepared.arguments }
}

/**
 * The arguments that a call runs with: the model's, or those that the answer at the tool's gate approved. They are computed again
 * from the log after a restart. Without an answer no call passes, unless the gate is conditional.
 */
export function passGate(
  toolCall: ToolCall,
  tool: Tool,
  prepared: PreparedArguments & { readonly ok: true },
): GateResult & { readonly raw?: unknown } {
  const { gate } = tool
  if (gate === undefined) return prepared
  const { passed } = toolCall
  if (passed === null && gate.isConditional) return prepared
  if (passed === null) return { ok: false, code: 'APPROVAL_DENIED', detail: 'not run: nobody was asked' }
  const passage = gate.pass(gatedCall(tool, prepared), askedView(passed.asked), passed.answer)
  if (!passage.ok) return passage
  const checked = tool.check(passage.arguments)
  if (checked.ok) return { ...checked, raw: passage.arguments }
  return { ok: false, code: 'TOOL_ARGS_INVALID', detail: checked.issues.slice(0, 5).join('; ') }
}
