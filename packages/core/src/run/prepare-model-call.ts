/** Builds the request for a model call: checks the budget, and collects the tools and the history of the agent call. */
import { type Problem, problem, type UsageCounters } from '@witan/protocol'
import { type Allowance, type Circumstances, allowModelCall } from '../budget/budget.ts'
import type { AgentCall } from '../conversation/state.ts'
import { mergeUsage } from '../conversation/merge-usage.ts'
import { readUpTo } from '../conversation/inbox.ts'
import { hasFiles, type LoadContent, withFiles } from '../conversation/with-files.ts'
import { faultPoint } from '../identity/fault-point.ts'
import { withFallbacks } from '../model/fallback.ts'
import type { ModelMessage } from '../model/message.ts'
import type { Model, ModelRequest } from '../model/model.ts'
import { type OpenModelCall, failRun, type Job, record } from '../job/job.ts'
import { recordNoReply } from '../job/lost-calls.ts'
import { circumstances } from '../job/task.ts'
import type { Toolset } from '../tool/tool.ts'
import { toolsOf } from './caller.ts'
import { modelRequest, purposeOf, type RequestPurpose } from './model-request.ts'
import { skipCritique } from './reflect.ts'
import { requestDigest } from './request-digest.ts'
import { failCall } from './settle.ts'

/** Attempt numbers per epoch: a later owner's attempts are always higher, even if some earlier ones were not stored. */
const attemptsPerEpoch = 4096

/** The number of the first attempt of a call in this epoch. */
export function firstAttempt({ identity }: { readonly identity: Pick<Job['identity'], 'epoch'> }): number {
  return (identity.epoch - 1) * attemptsPerEpoch + 1
}

/** One model call that the budget allows. */
export interface PreparedModelCall extends OpenModelCall {
  readonly model: Model
  readonly request: ModelRequest
  /** False for the final answer: its tools are switched off. */
  readonly offered: boolean
  readonly isToolless: boolean
  readonly purpose: RequestPurpose
  /** How many waiting messages it reads, and the ids of those that have an id. */
  readonly messagesRead: number
  readonly messageIdsRead: readonly string[]
  readonly attempt: number
  readonly startedAt: number
  readonly folded: number
  /** The seq of the last message of a person that it reads; 0 for none. */
  readonly readUpTo: number
  /** See the end of a model. */
  readonly digest: string
}

const nobody: readonly string[] = []

/** The next model call, which counts as under way from here on. Null if the agent call or the run has failed instead. */
export function prepareModelCall(call: AgentCall, job: Job): PreparedModelCall | null {
  const lacking = lackingValue(call, job)
  if (lacking !== null) {
    failRun(job, lacking)
    return null
  }
  const startedAt = job.env.clock.now()
  const { allowance, purpose, isToolless } = termsOf(call, job, circumstances(job, startedAt))
  const about = { call, purpose, folded: null }
  if (allowance.kind === 'refused') {
    if (giveUpReflection(call, job, { purpose, why: allowance.detail })) return null
    const refusal = refusalOf(allowance, job)
    const { detail } = refusal
    recordNoReply(job, { ...about, modelId: call.model }, { code: 'BUDGET_EXCEEDED', detail, spent: false })
    failRun(job, refusal)
    return null
  }
  const offered = allowance.kind === 'tools'
  const { request, messagesRead, toolset } = modelRequest(call, job, { offered, purpose })
  const model = modelFor(call, job, { purpose, messages: request.messages })
  if (model === null) {
    const wanted = modelNameOf(call, purpose)
    const detail = `Agent \`${call.agent.id}\` wants model \`${wanted}\`, which this runtime does not have.`
    recordNoReply(job, { ...about, modelId: wanted }, { code: 'MODEL_UNKNOWN', detail, spent: false })
    if (purpose === 'critique') {
      skipCritique(call, job, { reason: 'model', why: `this runtime does not have the model \`${wanted}\`` })
      return null
    }
    failCall(call, job, {
      code: 'MODEL_UNKNOWN',
      detail,
      hint: 'Configure the connection, or change the model of the agent.',
    })
    return null
  }
  if (call.iterations === 0) recordNotices(call, job, toolset)
  faultPoint('budget-reserved')
  const modelCall: PreparedModelCall = {
    call,
    model,
    request,
    offered,
    isToolless,
    usesIteration: offered && !isToolless,
    messagesRead,
    messageIdsRead: messagesRead === 0 ? nobody : call.document.inbox.flatMap(({ id }) => id ?? []),
    attempt: firstAttempt(job) + call.iterations,
    startedAt,
    folded: job.log.state.folded,
    readUpTo: readUpTo(call),
    digest: requestDigest(call.agent, request),
    reserved: 0,
    purpose,
    modelId: model.id,
    isAsking: false,
    isLost: false,
  }
  job.lifecycle.modelCalls.push(modelCall)
  return modelCall
}

/** Why the root of a run that came over A2A cannot begin: nobody there gives a value, and its agent needs one. Null if it can. */
function lackingValue({ parent, agent, parameters }: AgentCall, { run }: Job): Problem | null {
  if (parent !== null || run.principal.incoming === undefined) return null
  const lacking = agent.parameters.find(({ name, sendToModel }) => sendToModel && !parameters.has(name))
  if (lacking === undefined) return null
  const detail = `Agent \`${agent.id}\` needs \`${lacking.name}\`, and a caller over A2A gives no parameters.`
  return problem('PARAM_MISSING', detail, {
    hint: 'Hide the parameter, or let another agent with its value call this one.',
  })
}

/** What the budget allows the next model call of an agent's call, and what kind of model call that is. */
interface Terms extends Pick<PreparedModelCall, 'purpose' | 'isToolless'> {
  readonly allowance: Allowance
}

/** The terms of the next model call in these circumstances. */
function termsOf(call: AgentCall, job: Job, at: Circumstances): Terms {
  const purpose = purposeOf(call)
  const isToolless = purpose !== null || toolsOf(call, job).offers.length === 0
  const spending = {
    agent: call.agent,
    iterations: call.iterations - call.uncountedIterations,
    isToolless,
    isForOutput: purpose !== null,
    // A critique is of no use without the revision that it may ask for.
    ...(purpose === 'critique' ? { room: 2 } : {}),
  }
  return { allowance: allowModelCall(job.run, spending, at), purpose, isToolless }
}

/** Whether a refused call is one of a reflection: then the answer stands as it is, or the call fails. */
function giveUpReflection(
  call: AgentCall,
  job: Job,
  { purpose, why }: { readonly purpose: RequestPurpose; readonly why: string },
): boolean {
  if (purpose === 'critique')
    skipCritique(call, job, { reason: 'budget', why: `the budget has no room for it (${why})` })
  else if (call.draft !== null) failCall(call, job, { code: 'BUDGET_EXCEEDED', detail: why, hint: 'Raise the limit.' })
  else return false
  return true
}

/** The model that a critique names, or that of the call. */
function modelNameOf({ agent, model }: AgentCall, purpose: RequestPurpose): string {
  return purpose === 'critique' ? (agent.reflection.model ?? model) : model
}

/** The model of a call with its configured fallbacks, each with the files of the messages; null if the model is not configured. */
function modelFor(
  call: AgentCall,
  job: Job,
  { purpose, messages }: { readonly purpose: RequestPurpose; readonly messages: readonly ModelMessage[] },
): Model | null {
  const wanted = modelNameOf(call, purpose)
  const model = job.env.model(wanted)
  const { fallbacks = [] } = wanted === call.model ? call.agent : {}
  const attached = hasFiles(messages)
  if (model === null || (fallbacks.length === 0 && !attached)) return model
  const others = fallbacks.filter((name) => name !== wanted).flatMap((name) => job.env.model(name) ?? [])
  if (!attached) return withFallbacks(model, others)
  const { database, id } = job.log.state
  const load: LoadContent = (digest) => job.env.content({ database, conversation: id, digest })
  const [first, ...rest] = [model, ...others].map((one) => withFiles(one, load)) as [Model, ...Model[]]
  return rest.length === 0 ? first : withFallbacks(first, rest)
}

/** With what a job fails if the budget refuses a model call now. */
function refusalOf({ detail, hint }: Allowance & { readonly kind: 'refused' }, job: Job): Problem {
  return problem('BUDGET_EXCEEDED', `${detail} ${spenders(job)}.`, { hint })
}

/** The number of model calls per agent path, as text: in the order of the paths, since who began first is chance. */
function spenders(job: Job): string {
  const sum = new Map<string, UsageCounters>()
  for (const call of job.run.calls.values()) mergeUsage(sum, call.usage)
  const asked = [...sum].filter(([, { modelCalls }]) => modelCalls > 0).sort(([a], [b]) => (a < b ? -1 : 1))
  const made = asked.map(([path, counters]) => `${path} ${counters.modelCalls}`)
  const { failedCalls } = job.run
  return `(${[...made, ...(failedCalls === 0 ? [] : [`failed ${failedCalls}`])].join(', ')})`
}

/** Records, once per call, why delegates are not offered and whether its task or prompt holds a value hidden from the agent [E16]. */
function recordNotices(call: AgentCall, job: Job, toolset: Toolset): void {
  for (const {
    name: tool,
    notice: detail,
    noticeCode: code = 'DELEGATE_UNAVAILABLE',
    notices = [],
  } of toolset.values()) {
    for (const body of notices) record(job, call.place, { type: 'notice', kind: null, body })
    if (detail !== null) record(job, call.place, { type: 'notice', kind: null, body: { code, detail, tool } })
  }
  if (call.handOver !== null || call.scrub === null || call.scrub(call.message) === call.message) return
  const { id } = call.agent
  const detail =
    call.parent === null
      ? `The prompt holds a value that is hidden from \`${id}\`; what a person types is read as it is.`
      : `The task for \`${id}\` holds a value that is hidden from it; it reads the task without.`
  record(job, call.place, { type: 'notice', kind: null, body: { code: 'HIDDEN_VALUE_IN_TEXT', detail } })
}
