/** The document is whole: every reference resolves, every schema is one, every parameter of a path is described. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { openApiDocument } from './openapi.ts'
import { apiRoutes } from './routes.ts'

const document = openApiDocument(apiRoutes)
const json: unknown = JSON.parse(JSON.stringify(document))

function walk(value: unknown, visit: (key: string, inner: unknown) => void): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    visit(key, inner)
    walk(inner, visit)
  }
}

function resolve(ref: string): unknown {
  return ref
    .slice('#/'.length)
    .split('/')
    .reduce<unknown>((at, step) => (typeof at === 'object' && at !== null ? Reflect.get(at, step) : undefined), json)
}

test('it is OpenAPI 3.1 and all its references resolve', () => {
  assert.match(document.openapi, /^3\.1\.\d$/)
  const refs: string[] = []
  walk(json, (key, inner) => {
    if (key === '$ref' && typeof inner === 'string') refs.push(inner)
  })
  assert.ok(refs.length > 40)
  for (const ref of refs) assert.ok(ref.startsWith('#/components/schemas/') && resolve(ref) !== undefined, ref)
})

test('every operation has an id of its own, a summary, answers and its path parameters', () => {
  const ids = new Set<string>()
  for (const [path, item] of Object.entries(document.paths)) {
    for (const operation of Object.values(item)) {
      const { operationId, summary, responses, parameters } = operation as Record<string, unknown>
      assert.ok(typeof operationId === 'string' && !ids.has(operationId), path)
      ids.add(operationId)
      assert.ok(typeof summary === 'string' && summary.endsWith('.'), path)
      assert.ok(
        Object.keys(responses as object).some((status) => /^2\d\d$/.test(status)) && 'default' in (responses as object),
        path,
      )
      const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
      const described = (parameters as { name: string; in: string }[])
        .filter((one) => one.in === 'path')
        .map((one) => one.name)
      assert.deepEqual(described, named, path)
      assert.equal(path.includes('+'), false)
    }
  }
  assert.equal(ids.size, apiRoutes.length)
})

test('every component is a JSON Schema that can be read back', () => {
  const { schemas } = document.components as { schemas: Record<string, object> }
  const definitions = JSON.parse(JSON.stringify(schemas).replaceAll('#/components/schemas/', '#/$defs/'))
  for (const name of Object.keys(schemas)) {
    assert.match(name, /^[A-Za-z0-9]+$/)
    const schema = { $ref: `#/$defs/${name}`, $defs: definitions }
    assert.ok(z.fromJSONSchema(schema), name)
    assert.equal(JSON.stringify(schemas[name]).includes('$schema'), false)
  }
  const agent = z.fromJSONSchema({ $ref: '#/$defs/Agent', $defs: definitions })
  assert.equal(agent.safeParse({ id: 'a', model: 'm', instructions: 'i' }).success, true)
  assert.equal(agent.safeParse({ id: 'a', model: 'm', instructions: 'i', unknown: 1 }).success, false)
})

test('the paths are those of the contract that this version has', () => {
  const found = apiRoutes.map((route) => `${route.method} ${route.path}`).sort()
  assert.deepEqual(found, [
    'DELETE /api/v1/agents/{id}',
    'DELETE /api/v1/agents/{id}/knowledge/{base}',
    'DELETE /api/v1/agents/{id}/tools/{tool}',
    'DELETE /api/v1/agents/{parentId}/subagents/{id}',
    'DELETE /api/v1/conversations/{id}',
    'DELETE /api/v1/conversations/{id}/participants/{user}',
    'DELETE /api/v1/keys/{keyId}',
    'DELETE /api/v1/knowledge/{id}',
    'DELETE /api/v1/knowledge/{id}/documents/{key}',
    'DELETE /api/v1/memory',
    'DELETE /api/v1/memory/{id}',
    'DELETE /api/v1/protocols/{name}',
    'GET /api/v1/agents',
    'GET /api/v1/agents/{id}',
    'GET /api/v1/agents/{id}/graph',
    'GET /api/v1/agents/{id}/revisions',
    'GET /api/v1/agents/{id}/revisions/{n}',
    'GET /api/v1/agents/{id}/tools',
    'GET /api/v1/agents/{parentId}/subagents',
    'GET /api/v1/artifacts/{id}',
    'GET /api/v1/artifacts/{id}/content',
    'GET /api/v1/audit',
    'GET /api/v1/conversations',
    'GET /api/v1/conversations/{id}',
    'GET /api/v1/conversations/{id}/artifacts',
    'GET /api/v1/conversations/{id}/events',
    'GET /api/v1/conversations/{id}/export',
    'GET /api/v1/conversations/{id}/files/{digest}',
    'GET /api/v1/conversations/{id}/model-calls',
    'GET /api/v1/conversations/{id}/model-calls/{callNumber}',
    'GET /api/v1/conversations/{id}/participants',
    'GET /api/v1/conversations/{id}/readers',
    'GET /api/v1/conversations/{id}/runs',
    'GET /api/v1/documents/{path+}',
    'GET /api/v1/interruptions',
    'GET /api/v1/keys',
    'GET /api/v1/knowledge',
    'GET /api/v1/knowledge/{id}',
    'GET /api/v1/knowledge/{id}/documents',
    'GET /api/v1/knowledge/{id}/documents/{key}',
    'GET /api/v1/knowledge/{id}/documents/{key}/passages',
    'GET /api/v1/knowledge/{id}/ingests/{ingestId}',
    'GET /api/v1/knowledge/{id}/revisions',
    'GET /api/v1/knowledge/{id}/revisions/{n}',
    'GET /api/v1/mcp/servers',
    'GET /api/v1/memory',
    'GET /api/v1/memory/conversations',
    'GET /api/v1/memory/{id}',
    'GET /api/v1/memory/{id}/revisions',
    'GET /api/v1/principal',
    'GET /api/v1/protocols',
    'GET /api/v1/protocols/{name}',
    'GET /api/v1/protocols/{name}/revisions',
    'GET /api/v1/protocols/{name}/revisions/{n}',
    'GET /api/v1/runs/{id}',
    'GET /api/v1/runs/{id}/diagram',
    'GET /api/v1/runs/{id}/exchanges',
    'GET /api/v1/tasks',
    'GET /api/v1/tasks/{id}',
    'GET /api/v1/tools',
    'GET /api/v1/usage',
    'POST /api/v1/agent/{parentId}/subagents/{id}/run',
    'POST /api/v1/agents',
    'POST /api/v1/agents/batch',
    'POST /api/v1/agents/{id}/preview',
    'POST /api/v1/agents/{id}/tools/{tool}/try',
    'POST /api/v1/agents/{parentId}/subagents',
    'POST /api/v1/agents/{parentId}/subagents/{id}/run',
    'POST /api/v1/check',
    'POST /api/v1/conversations',
    'POST /api/v1/conversations/{id}/fork',
    'POST /api/v1/conversations/{id}/participants',
    'POST /api/v1/conversations/{id}/runs',
    'POST /api/v1/interruptions/{id}/answer',
    'POST /api/v1/keys',
    'POST /api/v1/knowledge/{id}/documents',
    'POST /api/v1/knowledge/{id}/search',
    'POST /api/v1/mcp/servers/{name}/refresh',
    'POST /api/v1/memory',
    'POST /api/v1/questions/{id}/respond',
    'POST /api/v1/runs/{id}/cancel',
    'POST /api/v1/tasks/{id}/cancel',
    'POST /api/v1/tasks/{id}/messages',
    'POST /api/v1/tasks/{id}/progress',
    'PUT /api/v1/agents/{id}',
    'PUT /api/v1/agents/{id}/knowledge/{base}',
    'PUT /api/v1/agents/{id}/tools/{tool}',
    'PUT /api/v1/agents/{parentId}/subagents/{id}',
    'PUT /api/v1/knowledge/{id}',
    'PUT /api/v1/memory/{id}',
    'PUT /api/v1/protocols/{name}',
  ])
})

test('the changes that take `If-Match` say so', () => {
  const guarded = Object.values(document.paths).flatMap((item) =>
    Object.values(item).flatMap((operation) => {
      const { operationId, parameters } = operation as { operationId: string; parameters: { name: string }[] }
      return parameters.some(({ name }) => name === 'If-Match') ? [operationId] : []
    }),
  )
  assert.deepEqual(guarded.sort(), [
    'assignKnowledge',
    'assignSubAgent',
    'assignTool',
    'createSubAgent',
    'deleteAgent',
    'deleteKnowledge',
    'deleteProtocol',
    'saveAgent',
    'saveKnowledge',
    'saveProtocol',
    'unassignKnowledge',
    'unassignSubAgent',
    'unassignTool',
  ])
})
