/** The table of all routes: everything under /api/v1, health and metrics for operators, and what other servers read. */
import { WitanError } from '@witan/protocol'
import { z } from 'zod'
import type { AppOptions } from './app-options.ts'
import { discoveryRoutes } from './discovery/routes.ts'
import { type OpenApiDocument, openApiDocument } from './openapi.ts'
import { defineRoute, type Route } from './route.ts'
import { agentRoutes } from './routes/agents.ts'
import { artifactRoutes } from './routes/artifacts.ts'
import { modelCallRoutes } from './routes/model-calls.ts'
import { auditRoutes } from './routes/audit.ts'
import { conversationRoutes } from './routes/conversations.ts'
import { eventRoutes } from './routes/events.ts'
import { exportRoutes } from './routes/export.ts'
import { interruptionRoutes } from './routes/interruptions.ts'
import { keyRoutes } from './routes/keys.ts'
import { knowledgeRoutes } from './routes/knowledge.ts'
import { mcpRoutes } from './routes/mcp.ts'
import { memoryRoutes } from './routes/memory.ts'
import { participantRoutes } from './routes/participants.ts'
import { protocolRoutes } from './routes/protocols.ts'
import { revisionRoutes } from './routes/revisions.ts'
import { runRoutes } from './routes/runs.ts'
import { subAgentRoutes } from './routes/sub-agents.ts'
import { taskRoutes } from './routes/tasks.ts'
import { toolRoutes } from './routes/tools.ts'
import { metricsRoute, usageRoutes } from './routes/usage.ts'

/** The routes that work through the runtime; also what the OpenAPI document lists. */
export const apiRoutes: readonly Route[] = [
  ...agentRoutes,
  ...subAgentRoutes,
  ...toolRoutes,
  ...mcpRoutes,
  ...protocolRoutes,
  ...knowledgeRoutes,
  ...memoryRoutes,
  ...revisionRoutes,
  ...conversationRoutes,
  ...exportRoutes,
  ...participantRoutes,
  ...artifactRoutes,
  ...modelCallRoutes,
  ...runRoutes,
  ...eventRoutes,
  ...interruptionRoutes,
  ...taskRoutes,
  ...auditRoutes,
  ...usageRoutes,
  ...keyRoutes,
]

const stateSchema = z.object({ status: z.string() })

/** All routes of one application. */
export function allRoutes(options: AppOptions): readonly Route[] {
  const operation = [healthRoute, readinessRoute(options), metricsRoute]
  return [...operation, documentRoute([...apiRoutes, ...operation]), ...apiRoutes, ...discoveryRoutes(options)]
}

const healthRoute = defineRoute({
  method: 'GET',
  path: '/healthz',
  name: 'health',
  tag: 'operation',
  summary: 'Whether the process answers.',
  answers: { 200: { schema: stateSchema, description: 'It does.' } },
  handle: async () => ({ status: 200, body: { status: 'ok' } }),
})

function readinessRoute(options: AppOptions): Route {
  const { runtime, stop } = options
  const checkHealth = loggedHealth(options)
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
    summary:
      'Whether the server takes work: it has started and is not stopping, its store can be written, and notifications of other processes arrive.',
    answers: { 200: { schema: stateSchema, description: 'It does.' } },
    handle: async () => {
      if (!ready || stop.streams.aborted)
        throw new WitanError('STORE_UNAVAILABLE', `The server is ${ready ? 'stopping' : 'starting'}.`)
      await checkHealth()
      return { status: 200, body: { status: 'ready' } }
    },
  })
}

/** The health of the runtime. Why it is not well goes to the log, once for each change: the answer is open to everybody. */
function loggedHealth({ runtime, log }: AppOptions): () => Promise<void> {
  let trouble: string | null = null
  return async () => {
    try {
      await runtime.health()
    } catch (error) {
      const { message, cause } = error as Error
      if (message !== trouble) log('error', 'not ready', { why: message, error: cause })
      trouble = message
      throw error
    }
    if (trouble !== null) log('info', 'ready again', { after: trouble })
    trouble = null
  }
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
