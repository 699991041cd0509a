/**
 * Approvals: a person approves calls of the tools that an agent names, with exactly their arguments, before such a call has
 * any effect [Fb06].
 */
import type { AgentData, Interruption } from '@witan/protocol'
import { isNumberAsText } from '@witan/protocol/digits'
import { validatorOf } from '../../model/json-schema.ts'
import type { ApprovalPredicate, ApprovalTerms } from '../approval.ts'
import { callDigest } from '../digest.ts'
import type { JsonSchema } from '../schema.ts'
import type { Answer, Caller, Gate, GatedCall, GateResult, Tool, ToolSource } from '../tool.ts'

/** What the approval gates of a runtime need. */
export interface ApprovalOptions {
  /** The predicate that an agent's code defines for one of its tools. */
  predicate(agent: string, tool: string): ApprovalPredicate | undefined
  /** Reports what a predicate throws. */
  report(error: unknown): void
}

/** The same tools, with a gate before those that need approval in their agent. */
export function approved(source: ToolSource, options: ApprovalOptions): ToolSource {
  return (caller: Caller): readonly Tool[] => {
    const tools = source(caller)
    if (caller.agent.approvals.length === 0 && caller.mcp.length === 0) return tools
    return tools.map((tool) => (canRun(tool) ? gated(tool, caller.agent, options) : tool))
  }
}

/** False for a delegate that is not offered: it only answers why, so there is nothing to approve. */
function canRun(tool: Tool): boolean {
  return tool.offer !== null || !tool.immediate
}

type Approval = AgentData['approvals'][number]

/** Gates by the approvals of an agent's revision, then by tool, since one tool may serve many agents. */
const known = new WeakMap<readonly Approval[], WeakMap<Tool, Tool>>()

function gated(tool: Tool, { id, approvals }: AgentData, options: ApprovalOptions): Tool {
  const own = known.get(approvals) ?? new WeakMap<Tool, Tool>()
  known.set(approvals, own)
  const found = own.get(tool) ?? withGate(tool, { id, approvals }, options)
  own.set(tool, found)
  return found
}

function withGate(
  tool: Tool,
  { id, approvals }: Pick<AgentData, 'id' | 'approvals'>,
  { predicate, report }: ApprovalOptions,
): Tool {
  const conditions = approvals.flatMap((one) => (toolOf(one) === tool.name ? [conditionOf(one)] : []))
  if (conditions.length === 0) {
    if (tool.asksFirst !== true) return tool
    conditions.push(null)
  }
  const asks = conditions.map((when): ((call: GatedCall) => boolean) => {
    if (when === null) return () => true
    if (when !== 'code') return (call) => fitsAny(when, call)
    const decide = predicate(id, tool.name)
    return decide === undefined ? () => true : ({ taken }) => decided(decide, taken, report)
  })
  return { ...tool, gate: gateOf(tool, { asks, isConditional: !conditions.includes(null) }) }
}

function toolOf(approval: Approval): string {
  return typeof approval === 'string' ? approval : approval.tool
}

/** The condition of an approval; null: every call needs it. */
function conditionOf(approval: Approval): Exclude<Approval, string>['when'] | null {
  return typeof approval === 'string' ? null : approval.when
}

/**
 * A model may write a number as text, which its tool accepts as a number, so the condition is checked against both forms; and
 * against a third if a number was read as text, because it lost digits. If the check exceeds its limits, the person is asked.
 */
function fitsAny(when: JsonSchema, { arguments: written, taken }: GatedCall): boolean {
  try {
    const condition = validatorOf(when)
    let isRounded = false
    const rounded: unknown = JSON.parse(JSON.stringify(written), (_, value: unknown) => {
      if (!isNumberAsText(value)) return value
      isRounded = true
      return Number(value)
    })
    const forms = [written, JSON.parse(JSON.stringify(taken)), ...(isRounded ? [rounded] : [])]
    return forms.some((args) => condition.fits(args) !== false)
  } catch {
    return true
  }
}

/** Asks the person if the predicate cannot decide: it throws, or it returns a promise. */
function decided(
  decide: ApprovalPredicate,
  args: Readonly<Record<string, unknown>>,
  report: (error: unknown) => void,
): boolean {
  try {
    const answer: unknown = decide(structuredClone(args))
    if (answer instanceof Promise) answer.catch(report)
    return answer !== false
  } catch (error) {
    report(error)
    return true
  }
}

function gateOf(
  tool: Tool,
  when: { readonly asks: readonly ((call: GatedCall) => boolean)[]; readonly isConditional: boolean },
): Gate {
  const terms: ApprovalTerms | null =
    tool.offer === null
      ? null
      : {
          schema: tool.offer.parameters,
          bound: tool.bound,
          ...(tool.takesAnyName === true ? { takesAnyName: true } : {}),
        }
  return {
    isConditional: when.isConditional,
    ask: (call) =>
      when.asks.some((asks) => asks(call))
        ? {
            kind: 'approval',
            tool: call.tool,
            arguments: { ...call.arguments },
            digest: callDigest(call.tool, call.arguments),
            terms,
          }
        : null,
    pass,
  }
}

function pass(call: GatedCall, asked: Interruption, answer: Answer): GateResult {
  if ('error' in answer) {
    const why = answer.lapsed === 'expired' ? 'nobody approved it in time' : answer.error
    return {
      ok: false,
      code: answer.lapsed === 'expired' ? 'QUESTION_EXPIRED' : 'APPROVAL_DENIED',
      detail: `not run: ${why}`,
    }
  }
  const { decision, arguments: changed, reason } = answer.value as ApprovalValue
  if (decision !== 'approved') return denied(reason)
  if (asked.kind !== 'approval' || asked.digest !== callDigest(call.tool, call.arguments))
    return { ok: false, code: 'APPROVAL_DENIED', detail: 'not run: the approval is for another call' }
  return { ok: true, arguments: changed ?? call.arguments }
}

interface ApprovalValue {
  readonly decision?: unknown
  readonly arguments?: Readonly<Record<string, unknown>>
  readonly reason?: string
}

function denied(reason = ''): GateResult {
  const why = reason.trim() === '' ? 'a person did not allow this call; it was not run' : reason
  return { ok: false, code: 'APPROVAL_DENIED', detail: `denied: ${why}` }
}
