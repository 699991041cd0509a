/** The HTTP application over a runtime: authenticates requests, mounts the routes, and answers every error as a problem. */
import { randomUUID } from 'node:crypto'
import { liftDeadline, withinRequest } from '@witan/core/tooling'
import { Hono } from 'hono'
import { wantsPage } from './accept.ts'
import { mountA2a } from './a2a/mount-a2a.ts'
import type { App, AppEnv, AppOptions } from './app-options.ts'
import { corsHeaders, preflightAnswer } from './cors.ts'
import { checkHost, checkOrigin } from './host.ts'
import type { Log } from './log.ts'
import { createOriginNotes } from './origin-notes.ts'
import { createMount } from './mount.ts'
import { nothingAt, problemReply } from './problem.ts'
import { allRoutes } from './routes.ts'
import { signIn, signOut } from './sign-in.ts'
import { studioResponse } from './studio.ts'

/** Every request that writes ends within 15 s if its store does not answer: so long it waits for it in all, and two seconds are for the rest. */
const storeMs = 13_000

/** Creates the application. Pass requests to its `fetch`; it never opens a socket. */
export function createApp(options: AppOptions): App {
  const { auth, hosts, log } = options
  const app = new Hono<AppEnv>()
  const noteOrigin = createOriginNotes(log, hosts)
  app.use(async (c, next) => {
    const requestId = randomUUID()
    const started = performance.now()
    c.set('requestId', requestId)
    checkHost(c.req.header('host') ?? new URL(c.req.url).host, hosts)
    if (c.req.path.startsWith('/api/')) noteOrigin(c.req.raw)
    const preflight = preflightAnswer(c.req.raw, c.req.path, hosts)
    if (preflight !== null) return preflight
    await withinRequest(storeMs, () => next().finally(liftDeadline))
    c.res.headers.set('x-request-id', requestId)
    for (const [name, value] of Object.entries(corsHeaders(c.req.raw, c.req.path, hosts)))
      if (name === 'vary') c.res.headers.append(name, value)
      else c.res.headers.set(name, value)
    const elapsedMs = Math.round(performance.now() - started)
    const { id: principal, database } = c.get('principal') ?? {}
    const { method, path } = c.req
    log('debug', 'request', { requestId, method, path, principal, database, status: c.res.status, elapsedMs })
    return undefined
  })
  const mount = createMount(options)
  for (const route of allRoutes(options)) mount.add(app, route)
  mount.refuseOtherMethods(app)
  app.all('/api/*', async (c) => {
    c.set('principal', await auth.check(c.req.raw, checkOrigin(c.req.raw, hosts)))
    throw nothingAt(c.req.path)
  })
  mountA2a(app, options)
  app.post('/sign-in', (c) => signIn(c.req.raw, options))
  app.post('/sign-out', (c) => signOut(c.req.raw, options))
  app.on(['GET', 'HEAD'], '*', async (c) => {
    try {
      const redirect = auth.exchange(new URL(c.req.url))
      if (redirect !== null) return redirect
    } catch (error) {
      const page = wantsPage(c.req.raw.headers) ? await studioResponse(options.studio, '/') : null
      if (page === null) throw error
      // The Studio asks the person for the right token.
      return new Response(page.body, { status: 401, headers: page.headers })
    }
    return (
      (await studioResponse(options.studio, c.req.path, c.req.raw.headers)) ?? Promise.reject(nothingAt(c.req.path))
    )
  })
  app.notFound((c) => problem(nothingAt(c.req.path), c.get('requestId'), log))
  app.onError((error, c) => problem(error, c.get('requestId') ?? randomUUID(), log))
  return app
}

/** An error as a response. */
export function problem(error: unknown, requestId: string, log: Log): Response {
  const { status, body, headers } = problemReply(error, requestId, log)
  const always = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'x-request-id': requestId }
  return new Response(body, { status, headers: { ...headers, ...always } })
}
