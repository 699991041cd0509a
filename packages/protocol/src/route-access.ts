/**
 * Which roles reach which route. The server asks this table right after it knows who calls, and serves no route without a row. A
 * row opens the door of a route only: what somebody may do with one conversation or agent is decided where it is found.
 */

/** The roles with a meaning of their own. Any other name counts only in access lists and as an addressee. */
export const roles = ['admin', 'run', 'answer', 'read'] as const
export type Role = (typeof roles)[number]

/**
 * Who reaches a route, besides the role `admin`, which reaches every one: a role, or `person`, who may take part in a conversation and
 * needs no role for that. `anybody`: every caller that is known. `open`: everybody.
 */
export type Reach = 'anybody' | 'open' | readonly (Exclude<Role, 'admin'> | 'person')[]

/** A row of the table. The path is written as in OpenAPI. */
export interface RouteAccess {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly reach: Reach
}

const admin: Reach = []
const read: Reach = ['read']
const run: Reach = ['run']
const agents: Reach = ['read', 'run']
/** What belongs to a conversation. */
const reading: Reach = ['read', 'run', 'person']
const asking: Reach = ['read', 'run', 'answer', 'person']
const answering: Reach = ['run', 'answer', 'person']
const leaving: Reach = ['run', 'person']
/** What agents remember of whoever calls. */
const remembered: Reach = 'anybody'

const table: Readonly<Record<string, Reach>> = {
  'GET /healthz': 'open',
  'GET /readyz': 'open',
  'GET /metrics': read,
  'GET /.well-known/webfinger': 'open',
  'GET /.well-known/agent-card/{local}': 'open',
  'GET /.well-known/agent-card.json': 'open',
  'GET /.well-known/jwks.json': 'open',
  'GET /.well-known/did.json': 'open',
  'GET /a2a/{local}/.well-known/agent-card.json': 'open',
  'GET /api/v1/openapi.json': 'anybody',
  'GET /api/v1/principal': 'anybody',
  'GET /api/v1/keys': admin,
  'POST /api/v1/keys': admin,
  'DELETE /api/v1/keys/{keyId}': admin,
  'GET /api/v1/usage': read,
  'GET /api/v1/audit': admin,

  'GET /api/v1/agents': agents,
  'POST /api/v1/agents': admin,
  'POST /api/v1/agents/batch': admin,
  'GET /api/v1/agents/{id}': agents,
  'PUT /api/v1/agents/{id}': admin,
  'DELETE /api/v1/agents/{id}': admin,
  'GET /api/v1/agents/{id}/graph': read,
  'GET /api/v1/agents/{id}/tools': read,
  'POST /api/v1/agents/{id}/preview': admin,
  'POST /api/v1/agents/{id}/tools/{tool}/try': admin,
  'GET /api/v1/agents/{id}/revisions': read,
  'GET /api/v1/agents/{id}/revisions/{n}': read,
  'PUT /api/v1/agents/{id}/tools/{tool}': admin,
  'DELETE /api/v1/agents/{id}/tools/{tool}': admin,
  'GET /api/v1/agents/{parentId}/subagents': read,
  'POST /api/v1/agents/{parentId}/subagents': admin,
  'PUT /api/v1/agents/{parentId}/subagents/{id}': admin,
  'DELETE /api/v1/agents/{parentId}/subagents/{id}': admin,
  'POST /api/v1/agents/{parentId}/subagents/{id}/run': run,
  'POST /api/v1/agent/{parentId}/subagents/{id}/run': run,
  'POST /api/v1/check': admin,
  'GET /api/v1/tools': read,
  'GET /api/v1/mcp/servers': read,
  'POST /api/v1/mcp/servers/{name}/refresh': admin,
  'GET /api/v1/protocols': read,
  'GET /api/v1/protocols/{name}/revisions': read,
  'GET /api/v1/protocols/{name}/revisions/{n}': read,
  'GET /api/v1/protocols/{name}': read,
  'PUT /api/v1/protocols/{name}': admin,
  'DELETE /api/v1/protocols/{name}': admin,

  'GET /api/v1/knowledge': read,
  'GET /api/v1/knowledge/{id}': read,
  'PUT /api/v1/knowledge/{id}': admin,
  'DELETE /api/v1/knowledge/{id}': admin,
  'GET /api/v1/knowledge/{id}/revisions': read,
  'GET /api/v1/knowledge/{id}/revisions/{n}': read,
  'POST /api/v1/knowledge/{id}/search': read,
  'GET /api/v1/knowledge/{id}/documents': read,
  'POST /api/v1/knowledge/{id}/documents': admin,
  'GET /api/v1/knowledge/{id}/documents/{key}': read,
  'GET /api/v1/knowledge/{id}/documents/{key}/passages': read,
  'DELETE /api/v1/knowledge/{id}/documents/{key}': admin,
  'GET /api/v1/knowledge/{id}/ingests/{ingestId}': read,
  'PUT /api/v1/agents/{id}/knowledge/{base}': admin,
  'DELETE /api/v1/agents/{id}/knowledge/{base}': admin,

  'GET /api/v1/memory': remembered,
  'POST /api/v1/memory': remembered,
  'DELETE /api/v1/memory': remembered,
  'GET /api/v1/memory/conversations': remembered,
  'GET /api/v1/memory/{id}': remembered,
  'PUT /api/v1/memory/{id}': remembered,
  'DELETE /api/v1/memory/{id}': remembered,
  'GET /api/v1/memory/{id}/revisions': remembered,

  'POST /api/v1/conversations': run,
  'GET /api/v1/conversations': reading,
  'GET /api/v1/conversations/{id}': reading,
  'DELETE /api/v1/conversations/{id}': run,
  'POST /api/v1/conversations/{id}/fork': run,
  'GET /api/v1/conversations/{id}/export': admin,
  'GET /api/v1/conversations/{id}/files/{digest}': reading,
  'GET /api/v1/documents/{path}': reading,
  'GET /api/v1/conversations/{id}/participants': reading,
  'POST /api/v1/conversations/{id}/participants': run,
  'DELETE /api/v1/conversations/{id}/participants/{user}': leaving,
  'GET /api/v1/conversations/{id}/model-calls': read,
  'GET /api/v1/conversations/{id}/model-calls/{callNumber}': read,
  'GET /api/v1/conversations/{id}/readers': read,
  'GET /api/v1/conversations/{id}/artifacts': reading,
  'GET /api/v1/artifacts/{id}': reading,
  'GET /api/v1/artifacts/{id}/content': reading,
  'GET /api/v1/conversations/{id}/events': reading,

  'POST /api/v1/conversations/{id}/runs': answering,
  'GET /api/v1/conversations/{id}/runs': reading,
  'GET /api/v1/runs/{id}': reading,
  'GET /api/v1/runs/{id}/exchanges': reading,
  'GET /api/v1/runs/{id}/diagram': reading,
  'POST /api/v1/runs/{id}/cancel': run,

  'GET /api/v1/interruptions': asking,
  'POST /api/v1/interruptions/{id}/answer': answering,
  'POST /api/v1/questions/{id}/respond': answering,

  'GET /api/v1/tasks': reading,
  'GET /api/v1/tasks/{id}': reading,
  'POST /api/v1/tasks/{id}/messages': run,
  'POST /api/v1/tasks/{id}/progress': run,
  'POST /api/v1/tasks/{id}/cancel': run,
}

/** Every row. */
export const routeAccess: readonly RouteAccess[] = Object.entries(table).map(([route, reach]) => {
  const [method = '', path = ''] = route.split(' ')
  return { method: method as RouteAccess['method'], path, reach }
})

/** Who reaches a route; undefined for one that the table does not have. */
export function accessOf({ method, path }: Pick<RouteAccess, 'method' | 'path'>): Reach | undefined {
  const route = `${method} ${path}`
  return Object.hasOwn(table, route) ? table[route] : undefined
}

/** True if this caller reaches a route. A person is one whose id begins with `user:`. */
export function mayReach(reach: Reach, caller: { readonly id: string; readonly roles: readonly string[] }): boolean {
  if (typeof reach === 'string' || caller.roles.includes('admin')) return true
  return reach.some((one) => (one === 'person' ? caller.id.startsWith('user:') : caller.roles.includes(one)))
}
