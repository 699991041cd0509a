/** Runs a function or a query of an agent alone, as in the first step of a new conversation that is stored nowhere. */
import { type ErrorCode, type Problem, WitanError } from '@witan/protocol'
import type { CallPlace, Entry } from '@witan/protocol/entries'
import { type Trial, trialRequestSchema } from '@witan/protocol/tools'
import { pinRoot } from '../command/accept.ts'
import type { ToolCall } from '../conversation/state.ts'
import { notFound } from '../identity/not-found.ts'
import { runWithPauses } from '../identity/pausable.ts'
import { record } from '../job/job.ts'
import { scrubbingValue } from '../parameter/scrub-value.ts'
import { act } from '../run/act.ts'
import { admit } from '../run/admit.ts'
import { toolsOf } from '../run/caller.ts'
import type { Tool } from '../tool/tool.ts'
import { agentsBelow, neededBy, requireValues, startingValues } from './new-conversation.ts'
import { parseBody } from './body.ts'
import type { TryOptions } from './contract.ts'
import { type FirstCall, firstCall } from './first-call.ts'
import { noticesIn } from './tool-lines.ts'
import type { Scope } from './scope.ts'

/** A tool of an agent, and what it is tried with. */
interface Trying extends TryOptions {
  readonly agent: string
  readonly tool: string
}

/**
 * Tries a tool. Throws `NOT_FOUND` for a tool that the agent does not have, `TOOL_NOT_TRIABLE` for one of another kind, `CONFIRM_REQUIRED`,
 * `APPROVAL_REQUIRED`, and what the start of a conversation throws for parameters that it would not take.
 */
export async function tryTool(scope: Scope, { agent, tool: name, signal, onStart, ...trying }: Trying): Promise<Trial> {
  const { parts, database } = scope
  const request = parseBody(trialRequestSchema, trying.request ?? {})
  const root = pinRoot(parts, { database, agent })
  const below = () => agentsBelow(parts, database, root.data)
  const { given, parameters } = startingValues(scope, { ...request, users: null }, { root: root.data, below })
  requireValues(root.data, neededBy(root.data), given)
  const initial = [{ id: 'call_1', name, arguments: JSON.stringify(request.arguments) }]
  const first = firstCall(scope, { root, parameters, initial })
  const tool = triable(first, { agent, name })
  if (tool.effect !== 'none' && !request.confirm) throw confirmRequired(name)
  const since = parts.env.clock.now()
  const [toolCall] = first.call.toolCalls
  if (toolCall === undefined) throw new Error(`the call of ${name} did not begin`)
  admit(first.call, first.job)
  if (toolCall.interruptions.some(({ held }) => held !== undefined)) {
    if (!request.approve) throw approvalRequired(name)
    approve(toolCall, first, scope.principal.id)
    admit(first.call, first.job)
  }
  if (first.job.lifecycle.failure !== null) throw problemError(first.job.lifecycle.failure)
  if (toolCall.state === 'started') {
    onStart?.(agent)
    await carryOut(toolCall, first, signal)
  }
  return { ...(await outcomeOf(toolCall, first)), elapsedMs: parts.env.clock.now() - since }
}

/** The kinds of tools that run alone. */
const alone: ReadonlySet<string | null> = new Set(['function', 'query'])

function triable({ call, job }: FirstCall, { agent, name }: { readonly agent: string; readonly name: string }): Tool {
  const tool = toolsOf(call, job).toolset.get(name)
  if (tool === undefined || tool.kind === null) throw notFound('tool', name)
  if (alone.has(tool.kind)) return tool
  const detail = `\`${name}\` of \`${agent}\` is of kind \`${tool.kind}\`, which does not run alone.`
  throw new WitanError('TOOL_NOT_TRIABLE', detail, {
    hint: 'Functions and queries can be tried. Start a conversation.',
  })
}

function confirmRequired(name: string): WitanError {
  const detail = `\`${name}\` has an effect outside, and it is not tried for show: it happens.`
  return new WitanError('CONFIRM_REQUIRED', detail, { path: 'confirm', hint: 'Send `confirm: true` if it may.' })
}

function approvalRequired(name: string): WitanError {
  const detail = `A person approves this call of \`${name}\` before it runs.`
  return new WitanError('APPROVAL_REQUIRED', detail, { path: 'approve', hint: 'Send `approve: true` to approve it.' })
}

/** The caller approves what waits for it, with the arguments as they are. */
function approve(toolCall: ToolCall, { job }: FirstCall, by: string): void {
  const [asked] = toolCall.interruptions
  if (asked === undefined) throw new Error(`the call of ${toolCall.name} waits for nothing`)
  const place: CallPlace = { ...toolCall.owner.place, call: asked.callId, parentCall: toolCall.owner.place.call }
  const answer = { value: { decision: 'approved' } }
  record(job, place, {
    type: 'resolved',
    kind: null,
    body: { id: asked.id, kind: 'approval', state: 'answered', by, answer },
  })
}

async function carryOut(toolCall: ToolCall, { job }: FirstCall, signal: AbortSignal | undefined): Promise<void> {
  const controller = new AbortController()
  const stop = () => controller.abort(signal?.reason)
  if (signal?.aborted === true) stop()
  signal?.addEventListener('abort', stop)
  try {
    await act(toolCall, job, controller)
  } finally {
    signal?.removeEventListener('abort', stop)
    controller.abort() // nothing that the tool left behind may still save or wait
  }
}

/** What the log of the call says came of it, as the model of its agent reads it. */
async function outcomeOf(toolCall: ToolCall, { recorded }: FirstCall): Promise<Omit<Trial, 'elapsedMs'>> {
  const own = recorded.filter((entry) => entry.kind === 'tool' && entry.place.call === toolCall.place?.call)
  const notices = noticesIn(recorded)
  const bound = boundIn(own)
  const { scrub } = toolCall.owner
  const ended = own.find((entry) => entry.type === 'end' || entry.type === 'error')
  if (ended?.type === 'end' && ended.kind === 'tool') {
    const { result, forModel = result } = ended.body
    const shown = scrub === null ? forModel : await runWithPauses(scrubbingValue(forModel, scrub))
    return { status: 'completed', result: shown, error: null, bound, notices }
  }
  if (ended?.type === 'error' && ended.kind === 'tool') {
    const { code, detail } = ended.body
    const shown = scrub === null ? detail : scrub(detail)
    return { status: 'failed', result: null, error: { code, detail: shown }, bound, notices }
  }
  return { status: 'waiting', result: null, error: null, bound, notices }
}

/** The names whose values the call got: those of its start, and those that it read besides. */
function boundIn(entries: readonly Entry[]): string[] {
  const names = entries.flatMap(({ body }) => (body as { readonly bound?: readonly string[] }).bound ?? [])
  return [...new Set(names)]
}

function problemError({ code, detail, hint }: Problem): WitanError {
  return new WitanError(code as ErrorCode, detail, hint === null ? {} : { hint })
}
