/** The A2A 1.0 server: one endpoint for each published agent, and a hub for each domain, in two bindings. */
import type { Principal } from '@witan/core'
import type { PublishedAgent } from '@witan/core/tooling'
import { isWitanError, WitanError } from '@witan/protocol'
import type { AppOptions } from '../app-options.ts'
import type { Auth } from '../auth.ts'
import type { Federation } from '../federation-config.ts'
import { nothingAt } from '../problem.ts'
import { encodeFrame, streamResponse } from '../sse.ts'
import { refuseLate, replyWhileAdmitted, whileAdmitted } from '../still-admitted.ts'
import { A2aError } from './a2a-error.ts'
import { type Binding, extensionHeader, restBinding, rpcBinding } from './binding.ts'
import { type Asked, type Caller, checkCarried, type WireCredentials } from './credential.ts'
import type { EvidenceChecks } from './evidence.ts'
import { noMethod, restParams, restRoute, type RestRoute } from './http-json.ts'
import { pickAgent } from './hub.ts'
import { idOf, readRpc } from './json-rpc.ts'
import { letInCheck } from './let-in.ts'
import { type MethodCall, type MethodReply, methods, takesMessage } from './methods.ts'
import { type A2aPlace, placeOf } from './place.ts'
import { a2aTypes, isParseError, readBody } from './rpc-body.ts'
import { fieldAt, fieldOf } from './wire.ts'

/** What the server works with. */
interface A2aServer {
  readonly options: AppOptions
  readonly federation: Federation
  readonly credentials: WireCredentials
  readonly evidence: EvidenceChecks
}

/** One request, and what its connection can do. */
interface A2aRequest {
  readonly request: Request
  readonly requestId: string
  readonly destroy: () => void
}

/** What the path of a request reaches: one agent, or those of a hub. */
interface Reached {
  readonly place: A2aPlace
  readonly agents: readonly [PublishedAgent, ...PublishedAgent[]]
}

/** Answers a request below `/a2a`. Errors that HTTP itself answers are thrown. */
export async function answerA2a(server: A2aServer, given: A2aRequest): Promise<Response> {
  const at = await reached(server, given.request)
  const { rest } = at.place
  return rest === null ? jsonRpc(server, given, at) : httpJson(server, given, { ...at, rest })
}

async function reached({ options, federation }: A2aServer, request: Request): Promise<Reached> {
  const { published } = options.runtime
  const url = new URL(request.url)
  const place = placeOf(url.pathname, request.headers.get('host') ?? url.host, federation)
  if (place === null) throw nothingAt(url.pathname)
  const { agent, domain } = place
  const found = agent === null ? await published.list(domain) : [await published.find(agent)]
  const [first, ...others] = found.filter((one) => one !== null)
  if (first === undefined) throw nothingAt(url.pathname)
  return { place, agents: [first, ...others] }
}

async function jsonRpc(server: A2aServer, given: A2aRequest, at: Reached): Promise<Response> {
  const { request } = given
  if (request.method !== 'POST') throw methodNotAllowed(request, 'POST')
  const caller = await admit(server, request, at)
  const read = await bodyOf(request, ['application/json'], (body) => fieldOf(fieldOf(body, 'params'), 'message'))
  const id = idOf(read.value)
  const binding = rpcBinding(id, request)
  const isMessage = takesMessage(fieldOf(read.value, 'method'))
  const messageId = isMessage ? idIn(fieldOf(fieldOf(read.value, 'params'), 'message')) : null
  checkCarried(caller, { messageId, isHub: at.place.agent === null })
  return guarded(server, { ...given, binding }, async () => {
    checkVersion(request)
    if (read.error !== null) throw read.error
    const { method, params } = readRpc(read.value)
    return run(server, given, { method, call: callOf(server, request, { ...at, caller, params }), binding })
  })
}

async function httpJson(
  server: A2aServer,
  given: A2aRequest,
  { rest, ...at }: Reached & { readonly rest: string },
): Promise<Response> {
  const { request } = given
  const route = restRoute(request.method === 'HEAD' ? 'GET' : request.method, rest)
  const known: RestRoute | null = route !== undefined && 'method' in route ? route : null
  const takes = known?.takesBody === true
  const caller = await admit(server, request, at)
  const read = takes ? await bodyOf(request, a2aTypes, (body) => fieldOf(body, 'message')) : nothingRead
  const isMessage = known !== null && takesMessage(known.method)
  const messageId = isMessage ? idIn(fieldOf(read.value, 'message')) : null
  checkCarried(caller, { messageId, isHub: at.place.agent === null })
  if (route !== undefined && 'allow' in route) throw methodNotAllowed(request, route.allow)
  const binding = restBinding(request)
  return guarded(server, { ...given, binding }, async () => {
    checkVersion(request)
    if (known === null) throw noMethod()
    if (read.error !== null) throw read.error
    const params = restParams(known, read.value, new URL(request.url).searchParams)
    const call = callOf(server, request, { ...at, caller, params })
    return run(server, given, { method: known.method, call, binding })
  })
}

/** Who calls: known before the body is read. Throws `UNAUTHENTICATED`. */
async function admit({ credentials }: A2aServer, request: Request, { place, agents }: Reached): Promise<Caller> {
  const [first] = agents
  const isHub = place.agent === null
  const audiences: Asked['audiences'] = (audience) =>
    agents.some(({ address }) => address.text === audience) || (isHub && audience === `https://${place.domain}`)
  const { database } = first
  return credentials.check({ request, database, audiences, agents })
}

function callOf(
  { options, federation, evidence }: A2aServer,
  request: Request,
  of: Reached & { readonly caller: Caller; readonly params: unknown },
): MethodCall {
  const { place, agents, caller, params } = of
  const { isAnonymous } = caller
  const { defaultAgent } = federation
  return {
    ...{ caller, agents, params, options, evidence, path: new URL(request.url).pathname, gone: request.signal },
    pick: async (message, own) =>
      place.agent === null ? pickAgent({ agents, defaultAgent, isAnonymous }, message, own) : agents[0],
    traceparent: request.headers.get('traceparent'),
  }
}

async function run(
  server: A2aServer,
  given: A2aRequest,
  { method, call, binding }: { readonly method: string; readonly call: MethodCall; readonly binding: Binding },
): Promise<Response> {
  const since = performance.now()
  const { request } = given
  const handle = methods.get(method)
  if (handle === undefined) throw new A2aError('METHOD_NOT_FOUND', `There is no method \`${shown(method)}\`.`)
  let [agent] = call.agents.length === 1 ? call.agents : []
  const pick: MethodCall['pick'] = async (...given) => {
    agent = await call.pick(...given)
    return agent
  }
  const { caller, path } = call
  const shownTo: Principal[] = []
  const onLetIn: MethodCall['onLetIn'] = (principal) => void shownTo.push(principal)
  const auth = recheckOf(server, { request, path, caller, shownTo, agent: () => agent })
  const admitted = { auth, request, requestOrigin: 'listed' } as const
  const reply = await replyWhileAdmitted(admitted, handle({ ...call, pick, onLetIn }))
  agent = reply.agent ?? agent
  await refuseLate(admitted, since)
  return 'value' in reply ? binding.result(reply.value) : stream(server, given, { reply, binding, auth })
}

type Recheck = Pick<Auth, 'check' | 'recheckMs'>

/** What checks the caller again: its key or token of this server, else whether the agent lets it in still. */
function recheckOf(
  { options, credentials }: A2aServer,
  { request, ...of }: Parameters<typeof letInCheck>[1] & { readonly request: Request },
): Recheck {
  return credentials.recheck(request) ?? letInCheck(options, of)
}

/** A stream of frames, as long as its caller is let in. */
function stream(
  { options }: A2aServer,
  { request, requestId, destroy }: A2aRequest,
  of: {
    readonly reply: Extract<MethodReply, { readonly frames: unknown }>
    readonly binding: Binding
    readonly auth: Recheck
  },
): Response {
  const { reply, binding, auth } = of
  const { log, stop } = options
  const watch = whileAdmitted({ auth, request, requestOrigin: 'listed' }, stop.streams)
  async function* frames(signal: AbortSignal): AsyncGenerator<string> {
    watch.begin()
    for await (const frame of reply.frames(signal)) yield encodeFrame({ data: binding.frame(frame) })
  }
  const response = streamResponse(frames, {
    stop: watch.signal,
    destroy,
    onEnd(end, error) {
      watch.end()
      reply.onEnd()
      if (end === 'failed' && !isGone(error)) log('error', 'a stream failed', { requestId, error })
      if (end === 'slow') log('warn', 'a reader was too slow for its stream', { requestId })
    },
  })
  for (const [name, value] of Object.entries(extensionHeader(request))) response.headers.set(name, value)
  return response
}

/** An error that only the log may know becomes a plain one in the words of the binding. */
async function guarded(
  { options }: A2aServer,
  { requestId, binding }: A2aRequest & { readonly binding: Binding },
  work: () => Promise<Response>,
): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    const answered = binding.error(error)
    if (answered !== null) return answered
    if (isWitanError(error) && error.code !== 'INTERNAL') throw error
    options.log('error', 'a request failed', { requestId, error })
    return binding.internal()
  }
}

interface ReadBody {
  readonly value: unknown
  readonly error: unknown
}

const nothingRead: ReadBody = { value: undefined, error: null }

/** The body, or why it is no JSON: who calls and in which version is asked first. */
async function bodyOf(
  request: Request,
  types: readonly string[],
  messageOf: (body: unknown) => unknown,
): Promise<ReadBody> {
  try {
    const { value } = await readBody(request, { types, messageOf })
    return { value, error: null }
  } catch (error) {
    if (!isParseError(error)) throw error
    return { value: undefined, error }
  }
}

function idIn(message: unknown): string | null {
  const id = fieldAt(message, 'messageId')
  return typeof id === 'string' && id !== '' ? id : null
}

/** Without a version a request means 0.3, which this server does not speak. A patch number does not count [A2A §3.6]. */
function checkVersion(request: Request): void {
  const header = request.headers.get('a2a-version')
  const query = new URL(request.url).searchParams
  const version = (header ?? query.get('A2A-Version') ?? query.get('a2a-version') ?? '').trim()
  if (/^1\.0(?:\.\d{1,9})?$/.test(version)) return
  const got = version === '' ? 'none, which means 0.3' : `\`${shown(version)}\``
  throw new A2aError('VERSION_NOT_SUPPORTED', `This agent speaks A2A 1.0; \`A2A-Version\` names ${got}.`)
}

function methodNotAllowed(request: Request, allow: string): WitanError {
  const detail = `${request.method} is not allowed here. Allowed: ${allow}.`
  return new WitanError('METHOD_NOT_ALLOWED', detail, { details: { allow } })
}

function shown(text: string): string {
  return text.slice(0, 80).replace(/[^\w./-]/g, '?')
}

/** True if the conversation was deleted meanwhile. */
function isGone(error: unknown): boolean {
  return isWitanError(error) && error.code === 'NOT_FOUND'
}
