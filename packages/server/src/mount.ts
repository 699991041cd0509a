/** Mounts routes on the application: validates requests, runs the handlers, writes responses. */
import type { Principal, Witan } from '@witan/core'
import { jsonText, textBytes } from '@witan/core/tooling'
import { isWitanError, WitanError } from '@witan/protocol'
import { accessOf, mayReach, type Reach } from '@witan/protocol/access'
import type { Context } from 'hono'
import { wantsStream } from './accept.ts'
import type { App, AppEnv, AppOptions } from './app-options.ts'
import { checkOrigin } from './host.ts'
import { encoded } from './encoding.ts'
import { actOnce, keyScope, type SentReply, type SentText } from './idempotency.ts'
import { documentForm, type JsonBody, MAX_BODY_BYTES, MAX_BODY_BYTES_WITH_FILES, readJsonBody } from './json-body.ts'
import { type Body, paced, pieceBytes } from './paced.ts'
import { nothingAt, problemReply } from './problem.ts'
import { readQuery } from './query.ts'
import { resultFrame } from './run-frames.ts'
import type { Call, Keyed, Reply, Route, StreamReply } from './route.ts'
import { streamResponse } from './sse.ts'
import { refuseLate, replyWhileAdmitted, whileAdmitted } from './still-admitted.ts'
import { validate } from './validate.ts'

type RouteContext = Context<AppEnv>

/** Adds routes one by one, then answers 405 on their paths for every other method. */
interface Mount {
  add(app: App, route: Route): void
  refuseOtherMethods(app: App): void
}

/** A mount that remembers which methods each path has. */
export function createMount(options: AppOptions): Mount {
  const paths = new Map<string, { readonly method: string; readonly reach: Reach }[]>()
  const witanOf = createWitanOf(options)
  return {
    add(app, route) {
      const reach = reachOf(route)
      const path = honoPath(route.path)
      paths.set(path, [...(paths.get(path) ?? []), { method: route.method, reach }])
      app.on(route.method, path, (c) => answer(c, route, { options, witanOf, reach }))
    },
    refuseOtherMethods(app) {
      for (const [path, routes] of paths) {
        const known = routes.map(({ method }) => method)
        const allow = [...known, ...(known.includes('GET') ? ['HEAD'] : [])].join(', ')
        const reaches = routes.map(({ reach }) => reach)
        app.all(path, async (c) => {
          await admit(c, options, reaches)
          const detail = `${c.req.method} is not allowed here. Allowed: ${allow}.`
          throw new WitanError('METHOD_NOT_ALLOWED', detail, { details: { allow } })
        })
      }
    },
  }
}

/** Who reaches a route. A route without a row in the table is not served. */
function reachOf({ method, path }: Route): Reach {
  const reach = accessOf({ method, path: path.replace('+}', '}') })
  if (reach === undefined) throw new Error(`${method} ${path} has no row in the table of route access`)
  return reach
}

/** The methods of a principal, made once as long as the authentication gives the same object. Every open route works as the runtime's own. */
function createWitanOf({ runtime }: AppOptions): (principal: Principal) => Witan {
  const made = new WeakMap<Principal, Witan>()
  made.set(runtime.principal, runtime)
  return (principal) => {
    const known = made.get(principal)
    if (known !== undefined) return known
    const witan = runtime.as(principal)
    made.set(principal, witan)
    return witan
  }
}

/** Authenticates the caller, unless a route is open. Throws `UNAUTHENTICATED`, and `NOT_FOUND` for a caller who may use none of the routes. */
async function admit(c: RouteContext, { auth, hosts }: AppOptions, reaches: readonly Reach[]): Promise<void> {
  if (reaches.includes('open')) return
  const requestOrigin = checkOrigin(c.req.raw, hosts)
  c.set('requestOrigin', requestOrigin)
  const principal = await auth.check(c.req.raw, requestOrigin)
  c.set('principal', principal)
  if (!reaches.some((reach) => mayReach(reach, principal))) throw nothingAt(c.req.path)
}

async function answer(
  c: RouteContext,
  route: Route,
  { options, witanOf, reach }: { options: AppOptions; witanOf: (principal: Principal) => Witan; reach: Reach },
): Promise<Response> {
  const request = c.req.raw
  const { runtime, log, auth } = options
  const since = performance.now()
  await admit(c, options, [reach])
  const witan = witanOf(c.get('principal') ?? runtime.principal)
  const isLarge = route.takesFiles === true || route.takesDocuments === true
  const most = isLarge ? MAX_BODY_BYTES_WITH_FILES : MAX_BODY_BYTES
  const form = route.takesDocuments === true ? documentForm : {}
  const body = takesBody(route) ? await readJsonBody(request, most, form) : null
  const act = async (keyed: Keyed): Promise<SentReply> =>
    await sent(await route.handle(callOf(c, { witan, route, body, options, keyed })))
  const requestId = c.get('requestId')
  const scope =
    body === null || route.method !== 'POST'
      ? null
      : keyScope(request.headers, {
          principal: witan.principal,
          method: 'POST',
          path: fullPath(c, route),
          body: body.bytes,
          bodyKey: route.keyOf?.(body.value),
          requestId,
        })
  const failure = (error: unknown): SentText => {
    const { status, body: text, headers } = problemReply(error, requestId, log)
    return { status, text, headers }
  }
  const work = scope === null ? act({}) : actOnce(scope, act, { replies: runtime.idempotency, log, failure })
  const requestOrigin = c.get('requestOrigin')
  const reply = await (requestOrigin === undefined ? work : replyWhileAdmitted({ auth, request, requestOrigin }, work))
  if (requestOrigin !== undefined && !('frames' in reply)) await refuseLate({ auth, request, requestOrigin }, since)
  return await respond(c, { reply, route, options })
}

function callOf(
  c: RouteContext,
  at: { witan: Witan; route: Route; body: JsonBody | null; options: AppOptions; keyed: Keyed },
): Call<unknown, unknown> {
  const { witan, route, body, options, keyed } = at
  const { searchParams } = new URL(c.req.url)
  return {
    witan,
    params: c.req.param(),
    search: searchParams,
    query: route.query === undefined ? undefined : readQuery(route.query, searchParams),
    body: route.body === undefined || body === null ? undefined : checkBody(route, body),
    headers: c.req.raw.headers,
    gone: () => c.req.raw.signal,
    halt: options.stop.waits,
    log: options.log,
    keyed,
  }
}

function checkBody(route: Route, body: JsonBody): unknown {
  const value = body.value === undefined && route.bodyOptional === true ? {} : body.value
  if (route.body === undefined) return undefined
  const code = (path: string) => (/(^|\.)(limits\.|max[A-Z])/.test(path) ? 'LIMIT_INVALID' : 'BODY_INVALID')
  return validate(route.body, value, { what: 'body', code })
}

/** Reads a body even for routes without one, so that the limits apply to every POST. */
function takesBody(route: Route): boolean {
  return route.method === 'POST' || route.method === 'PUT'
}

/** What is shown once is compressed neither here nor by a proxy: the length of the answer says nothing of it. */
const secretly = { 'cache-control': 'no-store, no-transform' }

async function sent(reply: Reply): Promise<SentReply> {
  if ('frames' in reply) return reply
  const text = reply.body === undefined ? null : await jsonText(reply.body)
  const { status, bytes, headers = {} } = reply
  if (reply.remembered !== undefined)
    return { status, text, headers: { ...headers, ...secretly }, remembered: JSON.stringify(reply.remembered) }
  return { status, text, headers, ...(bytes === undefined ? {} : { bytes }) }
}

async function respond(
  c: RouteContext,
  at: { reply: SentReply; route: Route; options: AppOptions },
): Promise<Response> {
  const { reply, route, options } = at
  if ('frames' in reply) return stream(c, reply, options)
  const { status, text, headers, bytes } = reply
  const replayed = headers['idempotency-replayed'] !== undefined
  if (
    replayed &&
    status === 200 &&
    text !== null &&
    route.answers[200]?.stream &&
    wantsStream(c.req.raw.headers, 'json')
  ) {
    const response = stream(c, { frames: () => once(resultFrame(text)) }, options)
    response.headers.set('idempotency-replayed', 'true')
    return response
  }
  const type = status < 400 ? 'application/json' : 'application/problem+json'
  const always = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
  const known = { ...(text === null ? {} : { 'content-type': type }), ...always, ...headers }
  if (bytes !== undefined && !(bytes instanceof Uint8Array))
    return new Response(c.req.raw.method === 'HEAD' ? null : read(c, bytes, options), { status, headers: known })
  const whole = bytes ?? (text !== null && text.length > pieceBytes ? await textBytes(text) : text)
  const { body, ...head } = await encoded(c.req.raw, { status, headers: known, body: whole })
  if (c.req.raw.method === 'HEAD' || !(body instanceof Uint8Array) || body.length <= pieceBytes)
    return new Response(body, head)
  const length = { 'content-length': String(body.length) }
  return new Response(read(c, body, options), { ...head, headers: { ...head.headers, ...length } })
}

/** A long body, as its reader takes it, as long as the caller is let in. */
function read(c: RouteContext, body: Body, { auth, log, stop }: AppOptions): ReadableStream<Uint8Array<ArrayBuffer>> {
  const requestId = c.get('requestId')
  const watch = whileAdmitted({ auth, request: c.req.raw, requestOrigin: c.get('requestOrigin') ?? 'own' }, stop.waits)
  const destroy = (): void => void c.env?.outgoing?.destroy()
  watch.signal.addEventListener('abort', destroy)
  watch.begin()
  return paced(body, {
    destroy,
    onEnd: (end, error) => {
      watch.signal.removeEventListener('abort', destroy)
      watch.end()
      if (end === 'slow') log('warn', 'a reader was too slow for its reply', { requestId })
      if (end === 'failed' && !isGone(error)) log('error', 'a reply failed', { requestId, error })
    },
  })
}

async function* once(frame: string): AsyncGenerator<string> {
  yield frame
}

function stream(c: RouteContext, reply: StreamReply, options: AppOptions): Response {
  const { log, auth } = options
  const requestId = c.get('requestId')
  const watch = whileAdmitted(
    { auth, request: c.req.raw, requestOrigin: c.get('requestOrigin') ?? 'own' },
    options.stop.streams,
  )
  const frames: StreamReply['frames'] = (signal) => {
    watch.begin()
    return reply.frames(signal)
  }
  return streamResponse(frames, {
    stop: watch.signal,
    destroy: () => c.env?.outgoing?.destroy(),
    onEnd: (end, error) => {
      watch.end()
      if (end === 'failed' && !isGone(error)) log('error', 'a stream failed', { requestId, error })
      if (end === 'slow') log('warn', 'a reader was too slow for its stream', { requestId })
      reply.onEnd?.(end)
    },
  })
}

/** True if the conversation was deleted meanwhile, or its reader has left it. */
function isGone(error: unknown): boolean {
  return isWitanError(error) && error.code === 'NOT_FOUND'
}

/** `{id}` as Hono writes it; `{path+}` takes the rest. */
function honoPath(path: string): string {
  return path.replace(/\{(\w+)\+\}$/, ':$1{.+}').replace(/\{(\w+)\}/g, ':$1')
}

function fullPath(c: RouteContext, route: Route): string {
  const params: Readonly<Record<string, string>> = c.req.param()
  return route.path.replace(/\{(\w+)\+?\}/g, (_, name: string) => (params[name] ?? '').replace(':', '/'))
}
