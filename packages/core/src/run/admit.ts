/** Admitting a step: every tool call of a reply gets its intent, its child or its question into the log, in the same append as the reply. */
import { type ErrorCode, isWitanError, toProblem } from '@witan/protocol'
import type { CallPlace, TaskGrant } from '@witan/protocol/entries'
import { baseInvocation } from '../conversation/fold.ts'
import { childPath, freeDocument } from '../conversation/place.ts'
import type { AgentCall, Slot } from '../conversation/state.ts'
import { faultPoint } from '../identity/fault-point.ts'
import { bind, documentKey, withGenerated } from '../parameter/bind.ts'
import { type Scrubber, scrubberOf } from '../parameter/scrub.ts'
import { visibleValues } from '../parameter/visibility.ts'
import { type PreparedArguments, prepareArguments } from '../tool/arguments.ts'
import type { ModelSpending, ResultOutcome } from '../tool/outcome.ts'
import type { ImmediateTool, InterruptionDraft, Spawn, Tool } from '../tool/tool.ts'
import { toolsOf } from '../job/caller.ts'
import { initialCalls } from '../job/initial.ts'
import { gatedCall, hold, interrupt, passGate } from '../job/interrupt.ts'
import { grantOf, recordSpawn } from '../job/task.ts'
import { type CallTools, failRun, type Job, record } from '../job/job.ts'

/** Admits every tool call that the last reply of `call` asked for. */
export function admit(call: AgentCall, job: Job): void {
  const tools = toolsOf(call, job)
  for (const slot of [...call.slots]) {
    if (slot.state !== 'asked') continue
    const tool = tools.toolset.get(slot.name)
    if (tool === undefined || (tool.initialOnly === true && !isInitial(call)))
      refuse(slot, job, unknownTool(slot.name, tools))
    else admitOne({ slot, tool, tools }, job)
    if (job.run.failure !== null) return
  }
  faultPoint('admitted')
}

/** Whether what is asked stands before the first reply of its model [Rb40]. */
function isInitial({ iterations }: AgentCall): boolean {
  return iterations === 0
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
  if (slot.passed === null)
    for (const notice of prepared.notices) record(job, slot.owner.place, { type: 'notice', kind: null, body: notice })
  if (!prepared.ok) return refuse(slot, job, { code: 'TOOL_ARGS_INVALID', detail: prepared.detail })
  if (tool.gate !== undefined && slot.passed === null) return hold(slot, tool.gate.ask(gatedCall(tool, prepared)), job)
  const passed = passGate(slot, tool, prepared)
  if (!passed.ok) return refuse(slot, job, passed)
  const call = { ...passed, raw: passed.raw, callId: slot.passed?.asked.callId ?? job.env.ids.call() }
  if (!tool.immediate) return recordStart({ slot, job, arguments: call.raw, bound: tool.bound, callId: call.callId })
  invokeNow({ slot, tool, tools }, call, job)
}

/** A call that may go on, under its own id; `raw` is what its start says of its arguments. */
interface PassedCall {
  readonly callId: string
  readonly raw: unknown
  readonly arguments: Readonly<Record<string, unknown>>
}

/** An immediate tool only uses verbs and gives an outcome; what it throws fails the whole run. */
function invokeNow(
  { slot, tool, tools }: Admission & { tool: ImmediateTool },
  { callId, raw, arguments: args }: PassedCall,
  job: Job,
): void {
  const request = { callId, toolCallId: slot.asked.id, arguments: args }
  let placed = false
  const start = () => {
    placed = true
    recordStart({ slot, job, arguments: raw, bound: tool.bound, callId })
  }
  const verbs = {
    spawn: (child: Spawn, options?: { readonly background: boolean }) => {
      const background = options?.background === true
      const grant = background ? grantOf(job) : null
      if (background && grant === null) return false
      placed = true
      spawn({ slot, child, callId, grant }, job)
      return true
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
function refuse(slot: Slot, job: Job, why: { readonly code: ErrorCode; readonly detail: string }): void {
  const callId = slot.passed?.asked.callId ?? job.env.ids.call()
  recordStart({ slot, job, arguments: slot.asked.arguments, bound: [], callId })
  record(job, slot.place as CallPlace, { type: 'error', kind: 'tool', body: why })
}

function recordStart(start: {
  slot: Slot
  job: Job
  arguments: unknown
  bound: readonly string[]
  callId: string
}): void {
  const { slot, job } = start
  const { place } = slot.owner
  const own: CallPlace = { ...place, call: start.callId, parentCall: place.call }
  const body = { name: slot.name, toolCallId: slot.asked.id, arguments: start.arguments, bound: start.bound }
  record(job, own, { type: 'start', kind: 'tool', body })
}

/** Records what a tool came to. An error is told in words without hidden values, whatever the tool threw [D15]. */
export function recordOutcome(slot: Slot, job: Job, outcome: ResultOutcome): void {
  const place = slot.place as CallPlace
  for (const spent of outcome.spent ?? []) recordSpent(slot, job, spent)
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

function recordSpent(slot: Slot, job: Job, spent: ModelSpending): void {
  const nothing = { text: '', toolCalls: [], taken: 0, attempt: 0, offered: false, accepted: true }
  record(job, slot.owner.place, { type: 'end', kind: 'model', body: { ...spent, ...nothing, purpose: 'progress' } })
}

interface Spawning {
  readonly slot: Slot
  readonly child: Spawn
  readonly callId: string
  /** Set for a task. */
  readonly grant: TaskGrant | null
}

function spawn({ slot, child, callId, grant }: Spawning, job: Job): void {
  const parent = slot.owner
  const pinned = job.env.pinned(job.log.state.database, child.agent, job.run.revisions)
  if (pinned === null) throw new Error(`agent ${child.agent} is gone or disabled`)
  const { state } = job.log
  const binding = bind(pinned.data.parameters, { parent: parent.parameters, given: state.given, map: child.map })
  const parameters = withGenerated(binding, child.generated)
  const base = childPath(parent.document.path, child.agent)
  const ordinal = 1 + (state.ordinals.get(base) ?? 0)
  const known = freeDocument(state, documentKey(base, parameters), grant === null ? parent.job : callId)
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
  const body = {
    ...child,
    revision: pinned.revision,
    toolCallId: slot.asked.id,
    parameters: visibleValues(pinned.data.parameters, parameters),
    revisions: {},
    initial: initialCalls(pinned.data, known === null || child.history === 'isolated'),
    hidden: false,
    originRunId: null,
  }
  if (grant === null) record(job, place, { type: 'start', kind: 'agent', body })
  else recordSpawn(job, place, { ...body, background: grant })
  flagHidden(job, { place, message: child.message, scrub: scrubberOf(pinned.data.parameters, parameters) })
}

/** A model wrote a value into the task of a child that must not see it: the child reads it without, and people are told [E16]. */
function flagHidden(
  job: Job,
  { place, message, scrub }: { readonly place: CallPlace; readonly message: string; readonly scrub: Scrubber },
): void {
  if (scrub === null || scrub(message) === message) return
  const detail = `The task for \`${place.author}\` holds a value that is hidden from it; it reads the task without.`
  record(job, place, { type: 'notice', kind: null, body: { code: 'HIDDEN_VALUE_IN_TEXT', detail } })
}
