/** The table of everything under /api/v1, and what tells operators how the server is. */
import { WitanError } from '@witan/protocol'
import { z } from 'zod'
import type { AppOptions } from './app-options.ts'
import { type OpenApiDocument, openApiDocument } from './openapi.ts'
import { defineRoute, type Route } from './route.ts'
import { agentRoutes } from './routes/agents.ts'
import { conversationRoutes } from './routes/conversations.ts'
import { eventRoutes } from './routes/events.ts'
import { interruptionRoutes } from './routes/interruptions.ts'
import { runRoutes } from './routes/runs.ts'
import { subAgentRoutes } from './routes/sub-agents.ts'
import { taskRoutes } from './routes/tasks.ts'
import { toolRoutes } from './routes/tools.ts'

/** The routes that work through the runtime; also what the OpenAPI document lists. */
export const apiRoutes: readonly Route[] = [
  ...agentRoutes,
  ...subAgentRoutes,
  ...toolRoutes,
  ...conversationRoutes,
  ...runRoutes,
  ...eventRoutes,
  ...interruptionRoutes,
  ...taskRoutes,
]

const stateSchema = z.object({ status: z.string() })

/** All routes of one application. */
export function allRoutes(options: AppOptions): readonly Route[] {
  const operation = [healthRoute, readinessRoute(options)]
  return [...operation, documentRoute([...apiRoutes, ...operation]), ...apiRoutes]
}

const healthRoute = defineRoute({
  method: 'GET',
  path: '/healthz',
  name: 'health',
  tag: 'operation',
  summary: 'Whether the process answers.',
  open: true,
  answers: { 200: { schema: stateSchema, description: 'It does.' } },
  handle: async () => ({ status: 200, body: { status: 'ok' } }),
})

function readinessRoute({ runtime, stop }: AppOptions): Route {
  let ready = false
  const onReady = (): void => {
    ready = true
  }
  runtime.ready.then(onReady, () => undefined)
  return defineRoute({
    method: 'GET',
    path: '/readyz',
    name: 'readiness',
    tag: 'operation',
    summary: 'Whether the server takes work: started, and not stopping.',
    open: true,
    answers: { 200: { schema: stateSchema, description: 'It does.' } },
    handle: async () => {
      if (ready && !stop.streams.aborted) return { status: 200, body: { status: 'ready' } }
      throw new WitanError('STORE_UNAVAILABLE', `The server is ${ready ? 'stopping' : 'starting'}.`)
    },
  })
}

function documentRoute(documented: readonly Route[]): Route {
  let document: OpenApiDocument | null = null
  return defineRoute({
    method: 'GET',
    path: '/api/v1/openapi.json',
    name: 'openapi',
    tag: 'operation',
    summary: 'This contract as OpenAPI 3.1.',
    answers: { 200: { schema: z.record(z.string(), z.unknown()), description: 'The document.' } },
    handle: async () => {
      document ??= openApiDocument(documented)
      return { status: 200, body: document }
    },
  })
}
