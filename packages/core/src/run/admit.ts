/** Admitting a step: every tool call of a reply gets its intent, its child or its question into the log, in the same append as the reply. */
import { isWitanError, toProblem } from '@witan/protocol'
import type { CallPlace } from '@witan/protocol/entries'
import { baseInvocation, childPath } from '../conversation/fold.ts'
import type { AgentCall, Slot } from '../conversation/state.ts'
import { bind, documentKey, withGenerated } from '../parameter/bind.ts'
import { visibleValues } from '../parameter/visibility.ts'
import { type PreparedArguments, prepareArguments } from '../tool/arguments.ts'
import type { ResultOutcome } from '../tool/outcome.ts'
import type { ImmediateTool, InterruptionDraft, Spawn, Tool } from '../tool/tool.ts'
import { toolsOf } from './caller.ts'
import { initialCalls } from './initial.ts'
import { type CallTools, failRun, type Job, record, recordRows } from './job.ts'

/** Admits every tool call that the last reply of `call` asked for. */
export function admit(call: AgentCall, job: Job): void {
  const tools = toolsOf(call, job)
  for (const slot of [...call.slots]) {
    if (slot.state !== 'asked') continue
    const tool = tools.toolset.get(slot.name)
    if (tool === undefined) refuse(slot, job, unknownTool(slot.name, tools))
    else admitOne({ slot, tool, tools }, job)
    if (job.run.failure !== null) return
  }
}

interface Admission {
  readonly slot: Slot
  readonly tool: Tool
  readonly tools: CallTools
}

/** The arguments of a slot, prepared once; after a restart they are prepared again from the same text. */
export function preparedOf(slot: Slot, tool: Tool, job: Job): PreparedArguments {
  const known = job.memo.prepared.get(slot)
  if (known !== undefined) return known
  const made = prepareArguments(tool, slot.asked.arguments)
  job.memo.prepared.set(slot, made)
  return made
}

function admitOne({ slot, tool, tools }: Admission, job: Job): void {
  const prepared = preparedOf(slot, tool, job)
  for (const notice of prepared.notices) record(job, slot.owner.place, { type: 'notice', kind: null, body: notice })
  if (!prepared.ok) return refuse(slot, job, { code: 'TOOL_ARGS_INVALID', detail: prepared.detail })
  if (!tool.immediate) return recordStart({ slot, job, arguments: prepared.raw, bound: tool.bound })
  invokeNow({ slot, tool, tools }, prepared, job)
}

/** An immediate tool only uses verbs and gives an outcome; what it throws fails the whole run. */
function invokeNow(
  { slot, tool, tools }: Admission & { tool: ImmediateTool },
  prepared: PreparedArguments & { ok: true },
  job: Job,
): void {
  const request = { callId: job.env.ids.call(), toolCallId: slot.asked.id, arguments: prepared.arguments }
  let placed = false
  const start = () => {
    placed = true
    recordStart({ slot, job, arguments: prepared.raw, bound: tool.bound, callId: request.callId })
  }
  const verbs = {
    spawn: (child: Spawn) => {
      placed = true
      spawn({ slot, child, callId: request.callId }, job)
    },
    interrupt: (draft: InterruptionDraft) => {
      start()
      interrupt(slot, draft, job)
    },
  }
  try {
    const outcome = tool.invoke(request, tools.caller, verbs)
    if (outcome.kind === 'transfer') throw new Error(`tool ${tool.name} transfers, which no edge does yet`)
    if (outcome.kind === 'pending') return
    if (!placed) start()
    recordOutcome(slot, job, outcome)
  } catch (error) {
    if (!isWitanError(error)) job.env.report(error)
    failRun(job, toProblem(error))
  }
}

function unknownTool(name: string, { toolset }: CallTools): { code: 'TOOL_UNKNOWN'; detail: string } {
  const offered = [...toolset.values()].flatMap((tool) => (tool.offer === null ? [] : [tool.name]))
  const list = offered.length === 0 ? 'There are no tools.' : `Available: ${offered.join(', ')}.`
  return { code: 'TOOL_UNKNOWN', detail: `unknown tool ${name.slice(0, 64)}; nothing was run. ${list}` }
}

/** Records a call that does not run: its start and its error; the model reads the error and the run goes on. */
function refuse(
  slot: Slot,
  job: Job,
  why: { readonly code: 'TOOL_UNKNOWN' | 'TOOL_ARGS_INVALID'; readonly detail: string },
): void {
  recordStart({ slot, job, arguments: slot.asked.arguments, bound: [] })
  record(job, slot.place as CallPlace, { type: 'error', kind: 'tool', body: why })
}

function recordStart(start: {
  slot: Slot
  job: Job
  arguments: unknown
  bound: readonly string[]
  callId?: string
}): void {
  const { slot, job } = start
  const { place } = slot.owner
  const own: CallPlace = { ...place, call: start.callId ?? job.env.ids.call(), parentCall: place.call }
  const body = { name: slot.name, toolCallId: slot.asked.id, arguments: start.arguments, bound: start.bound }
  record(job, own, { type: 'start', kind: 'tool', body })
}

/** Records what a tool came to. An error is told in words without hidden values, whatever the tool threw [D15]. */
export function recordOutcome(slot: Slot, job: Job, outcome: ResultOutcome): void {
  const place = slot.place as CallPlace
  if (outcome.failure === null)
    record(job, place, {
      type: 'end',
      kind: 'tool',
      body: { result: outcome.value ?? null, truncated: outcome.truncated },
    })
  else {
    const { code, detail } = outcome.failure
    const { scrub } = slot.owner
    record(job, place, { type: 'error', kind: 'tool', body: { code, detail: scrub === null ? detail : scrub(detail) } })
  }
}

function spawn({ slot, child, callId }: { slot: Slot; child: Spawn; callId: string }, job: Job): void {
  const parent = slot.owner
  const pinned = job.env.pinned(job.log.state.database, child.agent, job.run.revisions)
  if (pinned === null) throw new Error(`agent ${child.agent} is gone or disabled`)
  const { state } = job.log
  const binding = bind(pinned.data.parameters, { parent: parent.parameters, given: state.given, map: child.map })
  const parameters = withGenerated(binding, child.generated)
  const base = childPath(parent.document.path, child.agent)
  const ordinal = 1 + (state.ordinals.get(base) ?? 0)
  const known = state.documents.get(documentKey(base, parameters))
  const document = known?.path ?? (ordinal === 1 ? base : `${base}~${ordinal}`)
  const invocation = baseInvocation(parent, child.agent)
  const times = job.run.invocations.get(invocation) ?? 0
  const place: CallPlace = {
    call: callId,
    parentCall: parent.place.call,
    run: parent.place.run,
    document,
    author: child.agent,
    agentPath: `${parent.place.agentPath}/${child.agent}`,
    invocation: times === 0 ? invocation : `${invocation}#${times + 1}`,
  }
  record(job, place, {
    type: 'start',
    kind: 'agent',
    body: {
      ...child,
      revision: pinned.revision,
      toolCallId: slot.asked.id,
      parameters: visibleValues(pinned.data.parameters, parameters),
      revisions: {},
      initial: initialCalls(pinned.data, known === undefined),
      hidden: false,
      originRunId: null,
    },
  })
}

function interrupt(slot: Slot, draft: InterruptionDraft, job: Job): void {
  const place = slot.place as CallPlace
  const { agentPath } = slot.owner.place
  const below = agentPath.split('/').slice(1)
  const view = {
    ...draft,
    id: job.env.ids.interruption(),
    path: [...below, draft.name].join('/'),
    agent: slot.owner.agent.id,
    callId: place.call,
    addressee: null,
    state: 'open' as const,
    expiresAt: null,
  }
  const { database, id } = job.log.state
  record(job, place, { type: 'action_required', kind: null, body: view })
  const createdAt = job.env.clock.now()
  const bound: Record<string, unknown> = {}
  for (const [name, value] of slot.owner.parameters) bound[name] = value.box.reveal()
  const row = {
    database,
    conversation: id,
    job: job.identity.id,
    call: place.call,
    view,
    bound,
    answer: null,
    answeredBy: null,
    createdAt,
    settledAt: null,
  }
  recordRows(job, { open: row })
}
