/** Folds tasks: their grants, the budget that returns to their tree, and the ends to report. */
import type { AgentEndBody, ErrorBody, TaskGrant } from '@witan/protocol/entries'
import { plainDetail, roundCost } from '@witan/protocol/entries'
import { type Spending, spentBy } from '../budget/budget.ts'
import { callersView, type Gathered, isTextAndError, plainEnd } from './callers-view.ts'
import { answerText } from './fold-hand-over.ts'
import { contentOf } from './said.ts'
import { nothingSpent } from './run.ts'
import { type AgentCall, type ConversationState, liveJob, type LiveJob } from './state.ts'
import type { EndedTask } from './task-state.ts'
import { mergeUsage } from './merge-usage.ts'

/** Starts a task. Its grant counts as spent by its tree until it ends [D13]. */
export function startTask(
  from: LiveJob,
  call: AgentCall,
  grant: TaskGrant,
): Pick<LiveJob, 'tree' | 'principal' | 'revisions' | 'grant' | 'account'> {
  add(from.taskSpending, granted(grant), 1)
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
    principal: from.principal,
    revisions: from.revisions,
    grant: { ...grant, from: from.root.place.call },
    account: from.taskSpending,
  }
}

/** Holds the part of the budget that a call has for itself, as that of a task is held; or lets it go [D13]. */
export function holdShare(run: LiveJob, { share }: AgentCall, sign: 1 | -1): void {
  if (share !== null) add(run.taskSpending, granted(share), sign)
}

/** Ends a task. Its tree gets the rest of the grant back, and its end is kept for a report [F22]. */
export function endTask(state: ConversationState, task: LiveJob, body: AgentEndBody | ErrorBody): void {
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
  const { forModel } = ended.answer
  if (contentOf(forModel) !== contentOf(ownAnswer(body))) state.answers.set(place.call, ended.answer)
  if (!task.cancelled) state.unreported.set(place.call, ended)
}

/**
 * The call that a task's usage is added to: its caller, or if that has ended, the nearest live call above it in the same job. Null if
 * the job has ended; then only the task itself reports its usage.
 */
function nearestLive({ calls }: LiveJob, caller: AgentCall): AgentCall | null {
  for (let call: AgentCall | null = caller; call !== null; call = call.parent)
    if (calls.get(call.place.call) === call) return call
  return null
}

/** Charges what an ended job spent, and the grants of its live tasks, to the job's account. */
export function settleAccount(state: ConversationState, job: LiveJob, { lost = 0 }: AgentEndBody | ErrorBody): void {
  add(job.account, spentBy(job, { ...nothingSpent(), modelCalls: lost }), 1)
  for (const task of state.tasks.values()) if (task.account === job.taskSpending) task.account = job.account
}

/** The report of a task with this end. */
export function endedTask({ root, principal }: LiveJob, body: AgentEndBody | ErrorBody): EndedTask {
  const { place, gathered } = root
  const forModel = scrubbedAnswer(answerFor(body, gathered), root)
  const caller = root.parent as AgentCall
  return {
    place,
    caller: { place: caller.place, job: caller.job },
    status: 'code' in body ? 'failed' : 'completed',
    principal,
    // Values bound to the task but not declared by its caller are scrubbed [C17].
    answer: { forModel, plain: plainAnswer(body, root) ?? forModel },
  }
}

/** The answer without what a model's server said; undefined where it has said nothing. */
function plainAnswer(body: AgentEndBody | ErrorBody, root: AgentCall): unknown {
  const plain = plainEnd(body, root.gathered)
  if (plain.body === body && !root.gathered?.errors.length) return undefined
  return scrubbedAnswer(answerFor(plain.body, plain.gathered), root)
}

/** The answer of a task in its own result. */
function ownAnswer(body: AgentEndBody | ErrorBody): unknown {
  return 'code' in body ? body.detail : (body.output ?? body.text)
}

/** The answer in the form that the edge sets: with all texts, or with text and error [K20, K21]. */
function answerFor(body: AgentEndBody | ErrorBody, gathered: Gathered | null): unknown {
  const isPlainFailure = 'code' in body && gathered?.terms.form !== 'textAndError'
  return gathered === null || isPlainFailure ? ownAnswer(body) : callersView(body, gathered)
}

function scrubbedAnswer(answer: unknown, root: AgentCall): unknown {
  if (root.scrub === null && root.handedTo === null) return answer
  if (isTextAndError(answer))
    return Object.fromEntries(Object.entries(answer).map(([key, text]) => [key, answerText(root, text)]))
  const text = contentOf(answer)
  const clean = answerText(root, text)
  return clean === text ? answer : clean
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

/** Notes how a run failed or was cancelled, for the reports of its tasks [E52]. */
export function noteEnd(state: ConversationState, run: LiveJob, body: AgentEndBody | ErrorBody): void {
  if (run.tasks.length === 0) return
  const id = run.root.place.call
  if ('code' in body)
    state.badEnds.set(id, { forModel: `failed: ${body.detail}`, plain: `failed: ${plainDetail(body)}` })
  else if (body.finishReason === 'cancelled')
    state.badEnds.set(id, { forModel: 'was cancelled', plain: 'was cancelled' })
}
