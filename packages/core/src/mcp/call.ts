/** Calls a tool of an MCP server over an open connection. */
import type { Clock } from '../identity/clock.ts'
import type { McpAnswer, McpCall, McpProgress, McpSettings, McpToolDefinition } from '../tool/mcp/mcp.ts'
import { type Connection, noLimitMs, rootsOf } from './connect.ts'
import { isFields } from './inbox.ts'
import { errorOf, type Hide, McpError, said, seconds } from './trouble.ts'

/** What a call needs beside its connection. */
interface CallOf {
  readonly settings: McpSettings
  readonly clock: Clock
  readonly hide: Hide
  /** The tool as its server listed it; null if that is not known. */
  readonly definition: McpToolDefinition | null
}

type Fields = Readonly<Record<string, unknown>>
type Given = NonNullable<McpCall['given']>

const progressEveryMs = 100
const longestMessage = 1_000
/** How often a server may ask for folders, or to be asked again, in one call. */
const mostRounds = 8

/** Calls it. Rejects with an `McpError`, at once when the call is aborted or takes too long; the server is told. */
export async function callTool(connection: Connection, call: McpCall, of: CallOf): Promise<McpAnswer> {
  const limits = startLimits(call, of)
  try {
    let { given } = call
    for (let round = 0; round < mostRounds; round++) {
      const result = await Promise.race([request(connection, { call, given, of, limits }), limits.over])
      if (result['resultType'] !== 'input_required') return resultOf(result)
      const asked = askedIn(result)
      if ('requests' in asked && Object.keys(asked.requests).length > 0) {
        if (of.settings.ask) return { kind: 'inputRequired', ...asked }
        throw new McpError('refused', 'asked a person something, which it may not.')
      }
      given = withFolders(asked, of.settings.roots)
    }
    throw new McpError('protocol', 'asked for the same call again and again.')
  } catch (error) {
    const own = read(error, connection, of)
    throw limits.reason() ?? (own.isUnsent ? own : (connection.wire.ended ?? own))
  } finally {
    limits.end()
  }
}

function read(error: unknown, { wire }: Connection, { hide }: CallOf): McpError {
  return errorOf(error, hide, wire.sessionId !== undefined)
}

/** What ends a call before its answer. */
interface Limits {
  readonly signal: AbortSignal
  /** Rejects when the call is over before its answer. */
  readonly over: Promise<never>
  reason(): McpError | null
  /** There was progress. */
  restart(): void
  end(): void
}

function startLimits({ signal }: McpCall, { settings, clock }: CallOf): Limits {
  const { timeoutMs, maxTotalMs } = settings
  const own = new AbortController()
  let reason: McpError | null = null
  const { promise: over, reject } = Promise.withResolvers<never>()
  over.catch(() => {})
  const stop = (why: McpError) => {
    reason ??= why
    reject(reason)
    own.abort('The call is over.')
  }
  const late = () => stop(new McpError('timeout', `did not answer within ${seconds(timeoutMs)}.`))
  const total = () => stop(new McpError('timeout', `did not finish a call within ${seconds(maxTotalMs)}.`))
  const abort = () => stop(new McpError('failed', 'was told that the call is cancelled.'))
  let cancelLate = clock.after(timeoutMs, late)
  const cancelTotal = clock.after(maxTotalMs, total)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  return {
    signal: own.signal,
    over,
    reason: () => reason,
    restart() {
      cancelLate()
      if (reason === null) cancelLate = clock.after(timeoutMs, late)
    },
    end() {
      cancelLate()
      cancelTotal()
      signal.removeEventListener('abort', abort)
    },
  }
}

interface Request {
  readonly call: McpCall
  readonly given: Given | null
  readonly of: CallOf
  readonly limits: Limits
}

async function request({ client, wire }: Connection, { call, given, of, limits }: Request): Promise<Fields> {
  if (limits.reason() !== null) throw limits.reason()
  const { definition } = of
  const params = {
    name: call.tool,
    arguments: { ...call.arguments },
    _meta: { ...call.meta },
    ...(given === null ? {} : { inputResponses: given.responses }),
    ...(given === null || given.state === null ? {} : { requestState: given.state }),
  }
  const inputSchema = { ...definition?.inputSchema, type: 'object' as const }
  const result = await client.callTool(params, {
    signal: limits.signal,
    timeout: noLimitMs,
    allowInputRequired: true,
    onprogress: progressTo(call, { clock: of.clock, hide: of.hide, limits }),
    // Some arguments are sent as headers, too. The schema of what it returns is none of the library's business.
    toolDefinition: { name: call.tool, inputSchema },
  })
  const taken = wire.inbox.take(result)
  if (taken === null) throw new McpError('protocol', 'gave an answer that breaks the protocol.')
  return taken
}

/** Any progress shows that the server works; at most ten a second are passed on. */
function progressTo(
  call: McpCall,
  { clock, hide, limits }: { readonly clock: Clock; readonly hide: Hide; readonly limits: Limits },
): (progress: { progress: number; total?: number | undefined; message?: string | undefined }) => void {
  let last = Number.NEGATIVE_INFINITY
  return ({ progress, total, message }) => {
    if (limits.reason() !== null || !Number.isFinite(progress)) return
    limits.restart()
    const now = clock.now()
    if (now - last < progressEveryMs) return
    last = now
    const of: McpProgress = {
      progress,
      total: typeof total === 'number' && Number.isFinite(total) ? total : null,
      message: typeof message === 'string' ? said(message, hide, longestMessage) : null,
    }
    call.onProgress(of)
  }
}

function resultOf({ content = [], structuredContent, isError }: Fields): McpAnswer {
  if (!Array.isArray(content) || !content.every(isFields))
    throw new McpError('protocol', 'gave an answer whose content is no list of parts.')
  return {
    kind: 'result',
    content,
    ...(structuredContent === undefined ? {} : { structuredContent }),
    isError: isError === true,
  }
}

type Asked = Omit<Extract<McpAnswer, { kind: 'inputRequired' }>, 'kind'>
/** Keys of requests for the folders. */
type Folders = { readonly folders: readonly string[]; readonly state: string | null }

/** What it asks of people, or for folders. It may not ask for anything else, such as a model's answer. */
function askedIn({ inputRequests, requestState }: Fields): Asked | Folders {
  const state = typeof requestState === 'string' ? requestState : null
  const requests: Record<string, { readonly method: string; readonly params: unknown }> = {}
  const folders: string[] = []
  for (const [key, each] of Object.entries(isFields(inputRequests) ? inputRequests : {})) {
    const { method, params = null } = isFields(each) ? each : {}
    if (method === 'roots/list') folders.push(key)
    else if (method === 'elicitation/create') requests[key] = { method, params }
    else throw new McpError('refused', 'asked for something that is not allowed here.')
  }
  if (folders.length === 0) return { requests, state }
  if (Object.keys(requests).length === 0) return { folders, state }
  throw new McpError('refused', 'asked for folders and of a person at once, which is not supported.')
}

function withFolders(asked: Asked | Folders, roots: readonly string[]): Given {
  if (!('folders' in asked)) return { responses: {}, state: asked.state }
  if (roots.length === 0) throw new McpError('refused', 'asked for folders, and there are none.')
  const responses = Object.fromEntries(asked.folders.map((key) => [key, { roots: rootsOf(roots) }]))
  return { responses, state: asked.state }
}
