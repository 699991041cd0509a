/** Tools of MCP servers: what a call of an agent was offered of them, with the values that are bound for it [P5]. */
import type { ListedTool } from '@witan/protocol/entries'
import { type McpUse, mcpUses } from '@witan/protocol/mcp'
import { channelOf } from '../../identity/channel.ts'
import { spanIdOf, traceIdOf } from '../../identity/trace.ts'
import { traceparentOf } from '../../identity/traceparent.ts'
import { validatorOf } from '../../model/json-schema.ts'
import { scrubbedValue } from '../../parameter/scrub-value.ts'
import { answeredInput, askedInput } from '../mcp/elicitation.ts'
import type { McpAnswer, McpCall, McpFailure, McpServers, McpSession, McpSettings } from '../mcp/mcp.ts'
import type { OfferedServer } from '@witan/protocol/mcp'
import { type McpLock, pinOf } from '../mcp/pins.ts'
import { readResult } from '../mcp/results.ts'
import { sessionOf } from '../mcp/session.ts'
import { failed, type Outcome, type ResultOutcome, result } from '../outcome.ts'
import { checkSchema, perBinding } from '../schema.ts'
import { describesName } from '../schema-names.ts'
import type { Caller, RunningTool, Tool, ToolContext, ToolRequest, ToolSource } from '../tool.ts'
import { withoutBound } from '../without-bound.ts'

/** What calls the tools of MCP servers in this process; null if it has none. */
export interface McpAccess {
  readonly servers: McpServers | null
  /** What was pinned; null for nothing. */
  readonly lock: McpLock | null
}

/** A tool of a server, and how an agent uses that server. */
interface OfferedTool {
  readonly use: McpUse
  readonly server: OfferedServer
  readonly tool: ListedTool
  /** The names of the agent's parameters: no argument goes out under one of them that is not bound. */
  readonly parameters: readonly string[]
}

/** The tools of MCP servers, for the calls that were offered them. */
export function mcpTools(access: McpAccess): ToolSource {
  const known = new WeakMap<McpUse, WeakMap<ListedTool, OfferedTool>>()
  const toolOf = perBinding((of: OfferedTool, bound) => asTool(of, bound, access))
  return (caller) => {
    if (caller.mcp.length === 0) return none
    const tools: Tool[] = []
    const parameters = caller.agent.parameters.map(({ name }) => name)
    for (const use of mcpUses(caller.agent)) {
      const server = caller.mcp.find((one) => one.server === use.server)
      const own = known.get(use) ?? new WeakMap<ListedTool, OfferedTool>()
      known.set(use, own)
      for (const tool of server?.tools ?? []) {
        const of = own.get(tool) ?? { use, server: server as OfferedServer, tool, parameters }
        own.set(tool, of)
        const bound = Object.keys(use.bind).filter((name) => describesName(tool.inputSchema, name))
        const lacking = bound.find((name) => !caller.parameters.has(use.bind[name] as string))
        tools.push(lacking === undefined ? toolOf(of, bound) : withoutValue(of, bound, use.bind[lacking] as string))
      }
    }
    return tools
  }
}

const none: readonly Tool[] = []

/** A value that is bound for the tool is missing: it is not offered, and a call gets an explanation. */
function withoutValue(of: OfferedTool, bound: readonly string[], parameter: string): Tool {
  const why = `\`${parameter}\` has no value here, and it is bound for this tool.`
  const tool = asTool(of, new Set(bound), { servers: null, lock: null })
  return {
    ...tool,
    offer: null,
    withheld: { why, offer: tool.offer },
    notice: `Not offered: ${why}`,
    noticeCode: 'TOOL_UNAVAILABLE',
    invoke: () => failed('TOOL_UNKNOWN', `\`${tool.name}\` cannot be used: ${why}`),
  }
}

/** A call ends by itself before this: the time limits of its server are shorter. */
const longestCall = 86_400_000

function asTool(of: OfferedTool, bound: ReadonlySet<string>, access: McpAccess): RunningTool {
  const { use, server, tool } = of
  const { offeredAs: name, description } = tool
  const parameters = withoutBound(tool.inputSchema, bound)
  const approval = use.approval ?? (server.trusted ? 'none' : 'writes')
  const asks = approval === 'all' || (approval === 'writes' && !tool.readOnly)
  return {
    name,
    kind: 'mcp',
    of: server.server,
    offer: { name, description, parameters },
    notice: null,
    effect: tool.effect,
    bound: [...new Set([...bound, ...of.parameters])],
    uses: [...bound],
    immediate: false,
    timeoutMs: longestCall,
    ...(asks ? { asksFirst: true } : {}),
    check: (args) => (validatorOf(parameters).fits(args) === 'unknown' ? tooLong : checkSchema(parameters, args)),
    invoke: (request, on) => invoke(of, access, { request, on, bound }),
  }
}

const tooLong = {
  ok: false,
  issues: ['they take too long to check against the schema of the tool; make them shorter'],
} as const

interface Invocation {
  readonly request: ToolRequest
  readonly on: ToolContext
  readonly bound: ReadonlySet<string>
}

async function invoke(of: OfferedTool, { servers, lock }: McpAccess, invocation: Invocation): Promise<Outcome> {
  const { use, server, tool } = of
  const { request, on, bound } = invocation
  const settings = servers?.settings.get(server.server)
  if (servers === null || settings === undefined)
    return failed(
      'MCP_SERVER_UNAVAILABLE',
      `\`${server.server}\` is not in the configuration of the process that works on this.`,
    )
  const { parameters, database, conversationId } = on.caller
  const session = sessionOf({ settings, use, parameters, channel: channelOf(database, conversationId) })
  if ('lacks' in session)
    return failed('MCP_SERVER_UNAVAILABLE', `\`${server.server}\` cannot be used: \`${session.lacks}\` has no value.`)
  const refused = settings.onChange === 'block' ? await changedSince(of, { servers, session, lock }, on.signal) : null
  if (refused !== null) return refused
  const args: Record<string, unknown> = { ...request.arguments }
  for (const name of bound) args[name] = parameters.get(use.bind[name] as string)?.box.reveal()
  const hidden = [...bound].flatMap((name) => [args[name]].flat().map(String))
  const waited = answeredInput(on)
  if (waited !== null && 'wait' in waited) return waited.wait
  if (waited !== null) {
    if (waited.wasGiven && tool.effect === 'once') return failureOf(stopped(server.server), 'once')
    await on.saveNote(waited.note)
  }
  const call: McpCall = {
    session,
    tool: tool.name,
    arguments: args,
    hidden,
    meta: { 'io.witan/callId': request.callId, traceparent: traceOf(request, on.caller) },
    signal: on.signal,
    given: waited === null ? null : waited.given,
    onProgress: ({ message, ...counts }) =>
      on.showProgress({ ...counts, message: message === null || on.scrub === null ? message : on.scrub(message) }),
  }
  const answer = await called(servers, call, tool.effect)
  return outcomeOf(of, { answer, settings, on })
}

/** The W3C header of a tool call: its run is the trace. */
function traceOf({ callId }: ToolRequest, { database, runId }: Caller): string {
  return traceparentOf({ traceId: traceIdOf(database, runId), spanId: spanIdOf(database, callId) })
}

/** A pinned server is first connected for a call: a tool that is another one by now is not called. */
async function changedSince(
  { server, tool }: OfferedTool,
  {
    servers,
    session,
    lock,
  }: { readonly servers: McpServers; readonly session: McpSession; readonly lock: McpLock | null },
  signal: AbortSignal,
): Promise<ResultOutcome | null> {
  if (lock?.servers[server.server] === undefined) return null
  const list = await servers.list(session, signal)
  if ('kind' in list) return failureOf(list, 'none')
  const now = list.tools.find(({ name }) => name === tool.name)
  if (now !== undefined && pinOf(lock, server.server, now) === 'same') return null
  const what = now === undefined ? 'is not there any more' : 'is not as it was pinned'
  return failed('MCP_TOOL_FAILED', `\`${server.server}\`: its tool \`${tool.offeredAs}\` ${what}. It was not called.`)
}

/** Calls a tool, once more if the connection was lost and the call may be repeated. */
async function called(servers: McpServers, call: McpCall, effect: ListedTool['effect']): Promise<McpAnswer> {
  const answer = await servers.call(call)
  const isLost = answer.kind === 'failed' && answer.reason === 'lost'
  return isLost && effect !== 'once' && !call.signal.aborted ? servers.call(call) : answer
}

const failureCodes = {
  unavailable: 'MCP_SERVER_UNAVAILABLE',
  lost: 'MCP_SERVER_UNAVAILABLE',
  timeout: 'TOOL_TIMEOUT',
  protocol: 'MCP_PROTOCOL_ERROR',
  refused: 'MCP_REQUEST_REFUSED',
  failed: 'MCP_TOOL_FAILED',
} as const

function failureOf({ reason, detail }: McpFailure, effect: ListedTool['effect']): ResultOutcome {
  if (reason === 'lost' && effect === 'once')
    return failed('OUTCOME_UNKNOWN', `${detail} Whether the effect happened is unknown. It was not called again.`)
  return failed(failureCodes[reason], detail)
}

/** The process stopped after it had sent the answers that the server asked for. */
function stopped(server: string): McpFailure {
  return {
    kind: 'failed',
    reason: 'lost',
    detail: `\`${server}\`: the process that called it stopped before it had answered.`,
  }
}

/** What a model reads of an answer. */
async function outcomeOf(
  { server, tool }: OfferedTool,
  { answer, settings, on }: { readonly answer: McpAnswer; readonly settings: McpSettings; readonly on: ToolContext },
): Promise<Outcome> {
  const about = { server: server.server, tool: tool.name }
  if (answer.kind === 'inputRequired') {
    const asked = askedInput(answer, settings, on)
    if ('refused' in asked)
      return {
        ...failed(
          'MCP_REQUEST_REFUSED',
          `\`${server.server}\` asked for something that is refused here: ${asked.refused}.`,
        ),
        notices: [
          {
            code: 'MCP_REQUEST_REFUSED',
            detail: `\`${server.server}\`: \`${tool.offeredAs}\` asked for something that is refused: ${asked.refused}.`,
            ...about,
          },
        ],
      }
    await on.saveNote(asked.note)
    return asked.outcome
  }
  if (answer.kind === 'failed') return scrubbed(failureOf(answer, tool.effect), on)
  const read = await readResult(answer, {
    outputSchema: tool.outputSchema ?? null,
    maxCharacters: settings.maxResultCharacters,
    save: async (draft) => (await on.artifacts.save(draft)).id,
  })
  if (read.isError) return scrubbed(failed('MCP_TOOL_FAILED', `${read.value}`), on)
  const mismatch =
    read.misfit === null
      ? []
      : [
          {
            code: 'MCP_OUTPUT_MISMATCH',
            detail: `\`${server.server}\`: what \`${tool.offeredAs}\` gave does not fit its output schema: ${read.misfit}. Its text was read instead, if it gave one.`,
            ...about,
          } as const,
        ]
  return scrubbed({ ...result(read.value, read.isCut), ...(mismatch.length === 0 ? {} : { notices: mismatch }) }, on)
}

/** No hidden value that a server was given comes back into the log. */
function scrubbed(outcome: ResultOutcome, { scrub }: ToolContext): ResultOutcome {
  if (scrub === null) return outcome
  const { value, failure, notices } = outcome
  return {
    ...outcome,
    ...(notices === undefined ? {} : { notices: notices.map((one) => ({ ...one, detail: scrub(one.detail) })) }),
    value: scrubbedValue(value, scrub),
    failure: failure === null ? null : { ...failure, detail: scrub(failure.detail) },
  }
}
