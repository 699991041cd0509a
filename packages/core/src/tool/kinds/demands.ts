/** What an agent demands before its work, as the tool that is the body of its call until all of it is met [C21]. */
import { policyAnswer } from '../policy.ts'
import { type Demand, demandsOf, demandsTool, isAskedFor } from '../demand.ts'
import { failed, type Outcome, pendingOn, result } from '../outcome.ts'
import type { CallAnswer, Caller, RunningTool, ToolSource } from '../tool.ts'
import type { InterruptionDraft } from '../waiting.ts'

/** The tool, for agents that demand something. */
export const demandTools: ToolSource = ({ agent }) => (demandsOf(agent).length === 0 ? [] : [tool])

const tool: RunningTool = Object.freeze({
  name: demandsTool,
  kind: null,
  offer: null,
  initialOnly: true,
  notice: null,
  effect: 'none',
  bound: [],
  unlisted: ['demands'],
  immediate: false,
  timeoutMs: 60_000,
  check: (args) => ({ ok: true, arguments: args }),
  invoke: (request, { caller, answers }) => outcomeOf(request.arguments['demands'] as number[], caller, answers),
} satisfies RunningTool)

/** All are asked at once. Those that are declined, or not met in time, also for another call, fail the call in words that say nothing of them. */
function outcomeOf(indexes: readonly number[], { agent }: Caller, answers: readonly CallAnswer[]): Outcome {
  const demands = indexes.flatMap((index) => demandsOf(agent)[index] ?? [])
  const met = demands.map((demand) => answerTo(demand, answers))
  for (const answer of met) {
    const given = answer === null ? null : policyAnswer(answer, `A condition of \`${agent.id}\``)
    if (given === null || 'resolution' in given) continue
    const code = given.failure?.code === 'QUESTION_EXPIRED' ? 'QUESTION_EXPIRED' : 'APPROVAL_DENIED'
    return failed(code, given.failure?.detail ?? '')
  }
  const open = demands.filter((_, index) => met[index] === null)
  return open.length > 0 ? pendingOn(...open.map((demand) => draftOf(demand, agent.id))) : result(null)
}

function draftOf({ kind, message, of }: Demand, issuer: string): InterruptionDraft {
  return { kind: 'policy', issuer, policy: { kind, message }, terms: { of } }
}

function answerTo(demand: Demand, answers: readonly CallAnswer[]) {
  const known = answers.find((one) => one.kind === 'interruption' && isAskedFor(one.asked, demand))
  return known?.kind === 'interruption' ? known.answer : null
}
