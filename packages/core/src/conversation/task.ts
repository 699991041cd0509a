/** What the fold knows of tasks: what they may spend, what their tree gets back, and whom their end must be told. */
import type { AgentEndBody, ErrorBody, TaskGrant } from '@witan/protocol/entries'
import { roundCost } from '@witan/protocol/entries'
import { type Spending, spentBy } from '../budget/budget.ts'
import { contentOf } from './hear.ts'
import { nothingSpent } from './run.ts'
import { type AgentCall, type ConversationState, type EndedTask, liveJob, type RunState } from './state.ts'
import { mergeUsage } from './usage.ts'

/** A task begins: what it got is spent for its tree until it ends [D13]. */
export function startTask(
  from: RunState,
  call: AgentCall,
  grant: TaskGrant,
): Pick<RunState, 'tree' | 'revisions' | 'grant' | 'account'> {
  add(from.lent, granted(grant), 1)
  from.tasks.push({ place: call.place, toolCallId: call.toolCallId ?? '', startedAt: call.startedAt })
  const { limits, onExhausted } = from.tree
  const own = {
    ...limits,
    maxModelCalls: grant.modelCalls,
    maxModelIterationsPerCall: grant.iterations,
    maxTokens: grant.tokens,
    maxCostUsd: grant.costUsd,
  }
  return {
    tree: { limits: own, onExhausted },
    revisions: from.revisions,
    grant: { ...grant, from: from.root.place.call },
    account: from.lent,
  }
}

/** A task has ended: its tree gets back what is left, and its end waits to be told [F22]. */
export function endTask(state: ConversationState, task: RunState, body: AgentEndBody | ErrorBody): void {
  const { place, parent } = task.root
  state.tasks.delete(place.call)
  const { grant } = task
  const from = grant === null ? null : liveJob(state, grant.from)
  const caller = parent as AgentCall
  if (grant !== null) add(task.account, granted(grant), -1)
  settleAccount(state, task, body)
  const payer = from === null ? null : nearestLive(from, caller)
  if (payer !== null) mergeUsage(payer.usage, task.root.usage)
  const ended = endedTask(task, body)
  if (ended.text !== toldBy(body)) state.scrubbed.set(place.call, ended.text)
  if (!task.cancelled) state.untold.set(place.call, ended)
}

/**
 * Whose usage a task's becomes: its caller's, or where that has ended, and told its sum, that of the nearest one above it in its job.
 * Null where the whole job has ended: then the task alone tells it.
 */
function nearestLive({ calls }: RunState, caller: AgentCall): AgentCall | null {
  for (let call: AgentCall | null = caller; call !== null; call = call.parent)
    if (calls.get(call.place.call) === call) return call
  return null
}

/** A job has ended: what it spent is counted where it belongs, and so is what its live tasks may still spend. */
export function settleAccount(state: ConversationState, job: RunState, { lost = 0 }: AgentEndBody | ErrorBody): void {
  add(job.account, spentBy(job, { ...nothingSpent(), modelCalls: lost }), 1)
  for (const task of state.tasks.values()) if (task.account === job.lent) task.account = job.account
}

/** What is to be told of a task that ends like this. */
export function endedTask({ root }: RunState, body: AgentEndBody | ErrorBody): EndedTask {
  const { place, scrub } = root
  const caller = root.parent as AgentCall
  const text = toldBy(body)
  return {
    place,
    caller: { place: caller.place, job: caller.job },
    status: 'code' in body ? 'failed' : 'completed',
    // Its caller need not declare what it was bound to: such a value stays below [C17].
    text: scrub === null ? text : scrub(text),
  }
}

/** The words of an end, as they are. */
function toldBy(body: AgentEndBody | ErrorBody): string {
  return 'code' in body ? body.detail : contentOf(body.output ?? body.text)
}

function granted({ modelCalls, iterations, tokens, costUsd }: TaskGrant): Spending {
  return { modelCalls, iterations: iterations ?? 0, tokens: tokens ?? 0, costUsd: costUsd ?? 0 }
}

function add(to: Spending, { modelCalls, iterations, tokens, costUsd }: Spending, sign: 1 | -1): void {
  to.modelCalls += sign * modelCalls
  to.iterations += sign * iterations
  to.tokens += sign * tokens
  to.costUsd = roundCost(to.costUsd + sign * costUsd)
}

/** Tasks that go on without their run know how it ended [E52]. */
export function noteEnd(state: ConversationState, run: RunState, body: AgentEndBody | ErrorBody): void {
  if (run.tasks.length === 0) return
  const id = run.root.place.call
  if ('code' in body) state.badEnds.set(id, `failed: ${body.detail}`)
  else if (body.finishReason === 'cancelled') state.badEnds.set(id, 'was cancelled')
}
