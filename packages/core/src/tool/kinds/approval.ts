/** Approvals: a person releases each call of the tools that an agent names, with exactly its arguments, before anything of it happens [Fb06]. */
import type { Interruption } from '@witan/protocol'
import type { ApprovalTerms } from '../../interruption/answer.ts'
import { callDigest } from '../../interruption/digest.ts'
import type { Answer, Caller, Gate, GatedCall, Passage, Tool, ToolSource } from '../tool.ts'

/** The same tools, with a gate before those that their agent wants approved. */
export function approved(source: ToolSource): ToolSource {
  return (caller: Caller): readonly Tool[] => {
    const { approvals } = caller.agent
    const tools = source(caller)
    if (approvals.length === 0) return tools
    return tools.map((tool) => (approvals.includes(tool.name) && canRun(tool) ? gated(tool) : tool))
  }
}

/** A delegate that is not offered only ever answers why: there is nothing to release. */
function canRun(tool: Tool): boolean {
  return tool.offer !== null || !tool.immediate
}

const known = new WeakMap<Tool, Tool>()

function gated(tool: Tool): Tool {
  const found = known.get(tool) ?? { ...tool, gate: gateOf(tool) }
  known.set(tool, found)
  return found
}

function gateOf(tool: Tool): Gate {
  const terms: ApprovalTerms | null = tool.offer === null ? null : { schema: tool.offer.parameters, bound: tool.bound }
  return {
    ask: (call) => ({
      kind: 'approval',
      tool: call.tool,
      arguments: { ...call.arguments },
      digest: callDigest(call.tool, call.arguments),
      terms,
    }),
    pass,
  }
}

function pass(call: GatedCall, asked: Interruption, answer: Answer): Passage {
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
    return { ok: false, code: 'APPROVAL_DENIED', detail: 'not run: what was approved is not this call' }
  return { ok: true, arguments: changed ?? call.arguments }
}

interface ApprovalValue {
  readonly decision?: unknown
  readonly arguments?: Readonly<Record<string, unknown>>
  readonly reason?: string
}

function denied(reason = ''): Passage {
  const why = reason.trim() === '' ? 'a person did not allow this call; it was not run' : reason
  return { ok: false, code: 'APPROVAL_DENIED', detail: `denied: ${why}` }
}
