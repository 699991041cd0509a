/** What the engine waits for in a replay: the model calls and tool calls under way, which the log answers. */
import type { Model, ModelCallOptions, ModelPart, ModelReply, ModelRequest } from '../model/model.ts'
import { failed, type PendingOutcome, type ResultOutcome } from '../tool/outcome.ts'
import type { RunningTool, ToolContext, Toolset } from '../tool/tool.ts'

/** A model call that waits for its reply. */
export interface PendingReply {
  /** The id of the agent's call. */
  readonly call: string
  readonly job: string
  readonly model: string
  readonly request: ModelRequest
  /** Whether it asks for a summary, and what precedes the summary in the log. */
  readonly summary: { readonly prefix: string } | null
  readonly options: ModelCallOptions
  answer(reply: ModelReply): void
  fail(error: unknown): void
}

/** A tool call that waits for its outcome. */
export interface PendingTool {
  readonly call: string
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  readonly owner: string
  readonly context: ToolContext
  finish(outcome: ResultOutcome | PendingOutcome): void
}

/** The calls under way, by the id of the agent's or the tool's call. */
export interface Pending {
  readonly replies: Map<string, PendingReply>
  readonly tools: Map<string, PendingTool>
  /** Set at the end of the replay: a call that begins later fails at once. */
  isOver: boolean
}

/** What the runtime keeps for a model call, beside what the contract says of it. */
interface KnownCall {
  readonly call?: {
    readonly job: string
    readonly place: { readonly call: string }
    readonly agent: { readonly history?: { readonly trim: { readonly resultPrefix?: string } } | null }
  }
  readonly request?: unknown
}

/** A model that waits for the log. `isLost` says whether the log notes a lost request of a call. */
export function waitingModel(id: string, pending: Pending, isLost: (call: string) => boolean): Model {
  return {
    id,
    stream(request, options) {
      return waiting({ id, pending, isLost }, request, options)
    },
  }
}

async function* waiting(
  { id, pending, isLost }: { readonly id: string; readonly pending: Pending; isLost(call: string): boolean },
  request: ModelRequest,
  options: ModelCallOptions,
): AsyncGenerator<ModelPart> {
  const { signal, state } = options
  const known = (state ?? {}) as KnownCall
  const call = known.call?.place.call ?? ''
  if (state !== undefined) {
    state.isAsking = isLost(call)
    state.isLost = state.isAsking
  }
  const { promise, resolve, reject } = Promise.withResolvers<ModelReply>()
  const summary = 'request' in known ? null : { prefix: known.call?.agent.history?.trim.resultPrefix ?? '' }
  const one = {
    call,
    job: known.call?.job ?? '',
    model: id,
    request,
    summary,
    options,
    answer: resolve,
    fail: reject,
  }
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  pending.replies.set(call, one)
  try {
    yield { type: 'reply', reply: await promise }
  } finally {
    signal.removeEventListener('abort', abort)
    if (pending.replies.get(call) === one) pending.replies.delete(call)
  }
}

/** The longest time-out of a timer. A replayed tool runs into a time limit only if the log says so. */
const neverMs = 2_147_483_647

/** What the log says of tool calls. */
interface ToolsAhead {
  /** The error of a call that the tool's own check refused; null if it took the arguments. */
  refusal(tool: string, args: Readonly<Record<string, unknown>>): string | null
  /** Whether a call is cut off while it asks a model. */
  isCutWhileAsking(call: string): boolean
}

/** The same tools; those that run in the process wait for the log. */
export function waitingTools(tools: Toolset, pending: Pending, of: ToolsAhead): Toolset {
  return new Map([...tools].map(([name, tool]) => [name, tool.immediate ? tool : waitingTool(tool, pending, of)]))
}

function waitingTool(tool: RunningTool, pending: Pending, { refusal, isCutWhileAsking }: ToolsAhead): RunningTool {
  const { tools } = pending
  return {
    ...tool,
    timeoutMs: neverMs,
    check(args) {
      const detail = refusal(tool.name, args)
      if (detail !== null) return { ok: false, issues: [detail] }
      const checked = tool.check(args)
      return checked.ok ? checked : { ok: true, arguments: args }
    },
    invoke: ({ callId, arguments: args }, context) =>
      new Promise((resolve) => {
        if (pending.isOver) return resolve(failed('TOOL_FAILED', 'The replay is over.'))
        if (context.state !== undefined) context.state.isAsking = isCutWhileAsking(callId)
        const one = { call: callId, name: tool.name, args, owner: context.caller.callId, context, finish: resolve }
        const end = () => {
          if (tools.get(callId) === one) tools.delete(callId)
        }
        context.signal.addEventListener('abort', end, { once: true })
        if (!context.signal.aborted) tools.set(callId, one)
      }),
  }
}
