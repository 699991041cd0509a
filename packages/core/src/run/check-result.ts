/** Asks hooks of the result of a tool, before its model reads it [F02, Tb12]. */
import type { AgentCall, ToolCall } from '../conversation/state.ts'
import type { Taken, Verdict } from '../hook/ask.ts'
import type { HookedKind } from '../hook/define-hooks.ts'
import { frozen, ownCopy } from '../identity/frozen.ts'
import { runByPieces } from '../identity/pausable.ts'
import { hooksAt } from '../job/check-dues.ts'
import type { Job } from '../job/job.ts'
import { scrubbingValue } from '../parameter/scrub-value.ts'
import { type ResultOutcome, returned } from '../tool/outcome.ts'
import type { Tool } from '../tool/tool.ts'
import { preparedOf } from './admit.ts'
import { ask, valueIn } from './hook-question.ts'

/** A result, and the tool that gave it. */
interface GivenResult {
  readonly toolCall: ToolCall
  readonly tool: Tool | Pick<Tool, 'name' | 'kind'>
  readonly outcome: Pick<ResultOutcome, 'value' | 'failure'>
}

/** Asks hooks of the result of a tool. */
export function askOfResult(
  { call, job, signal }: { readonly call: AgentCall; readonly job: Job; signal(): AbortSignal },
  { toolCall, tool, outcome }: GivenResult,
): Verdict | Promise<Verdict> {
  const prepared = 'check' in tool ? preparedOf(toolCall, tool, job) : job.cache.prepared.get(toolCall)
  const args = prepared?.ok === true ? prepared.kept : {}
  const { value, failure } = outcome
  return ask<unknown>(call, job, {
    ...{ at: 'afterTool', row: hooksAt(job, 'afterTool', { agent: call.agent, tool: tool.name }), signal },
    about: (written) => ({
      ...{ tool: tool.name, kind: hookedKind(tool), arguments: frozen(ownCopy(args)) },
      ...(written === undefined
        ? { result: frozen(ownCopy(value)), error: frozen(ownCopy(failure)) }
        : { result: written, error: null }),
    }),
    take: (rewrite) => resultIn(call, tool.name, valueIn(rewrite, 'result')),
  })
}

async function resultIn(call: AgentCall, tool: string, value: unknown): Promise<Taken<unknown> | null> {
  const outcome = await returned(tool, value)
  if (outcome.failure !== null) return null
  const { scrubOthers } = call
  const clean = scrubOthers === null ? outcome.value : await runByPieces(scrubbingValue(outcome.value, scrubOthers))
  return { value: frozen(clean ?? null) }
}

const kinds: Readonly<Record<string, HookedKind>> = {
  function: 'function',
  mcp: 'function',
  query: 'query',
  action: 'action',
  subAgent: 'agent',
  agentTool: 'agent',
  transfer: 'transfer',
  peer: 'peer',
  remote: 'remote',
}

/** The kind of a tool, as hooks know it. */
export function hookedKind({ kind }: Pick<Tool, 'kind'>): HookedKind {
  return kinds[kind ?? ''] ?? 'builtin'
}
