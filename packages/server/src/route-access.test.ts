/** The table of route access, against the routes that are served and the document that describes them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessOf, mayReach, type Reach, roles, routeAccess } from '@witan/protocol/access'
import { Hono } from 'hono'
import type { App, AppEnv } from './app-options.ts'
import { createMount } from './mount.ts'
import { openApiDocument } from './openapi.ts'
import { defineRoute } from './route.ts'
import { apiRoutes } from './routes.ts'
import { createStage } from './testing/stage.ts'

test('every route has a row, and the document shows who reaches it', () => {
  const { paths } = openApiDocument(apiRoutes)
  for (const { method, path } of apiRoutes) {
    const documented = path.replace('+}', '}')
    const reach = accessOf({ method, path: documented })
    assert.ok(reach !== undefined, `${method} ${path}`)
    const operation = paths[documented]?.[method.toLowerCase()] as { 'x-witan-roles'?: readonly string[] }
    assert.deepEqual(operation['x-witan-roles'], reach === 'anybody' ? ['anybody'] : ['admin', ...reach], path)
  }
  for (const { method, path, reach } of routeAccess) assert.equal(accessOf({ method, path }), reach)
  assert.equal(accessOf({ method: 'GET', path: 'constructor' }), undefined)
})

test('no route that only reads is for `run` alone, and none that changes something is for readers', () => {
  for (const { method, path, reach } of routeAccess) {
    if (typeof reach === 'string') continue
    if (method === 'GET' && !['/api/v1/keys', '/api/v1/audit'].includes(path) && !path.endsWith('/export'))
      assert.ok(reach.includes('read'), path)
    if (method !== 'GET' && !path.endsWith('/search')) assert.equal(reach.includes('read'), false, `${method} ${path}`)
  }
})

test('a route without a row stops the server from starting', async () => {
  const stage = await createStage()
  const route = defineRoute({
    ...{ method: 'GET', path: '/api/v1/secrets', name: 'secrets', tag: 'x', summary: 'Secrets.', answers: {} },
    handle: async () => ({ status: 200 }),
  })
  const mount = createMount({ ...stage, runtime: stage.runtime } as never)
  assert.throws(() => mount.add(new Hono<AppEnv>() as App, route), /GET \/api\/v1\/secrets has no row/)
  await stage.close()
})

test('who reaches a route depends on whole names of roles, and on whether the caller is a person', () => {
  const reaches: readonly Reach[] = ['open', 'anybody', [], ['read'], ['run', 'person'], ['run', 'answer']]
  const may = (id: string, ...held: string[]) =>
    reaches.map((reach) => Number(mayReach(reach, { id, roles: held }))).join('')
  assert.equal(may('key:k', 'admin'), '111111')
  assert.equal(may('key:k'), '110000')
  assert.equal(may('user:anna'), '110010')
  assert.equal(may('key:k', 'read'), '110100')
  assert.equal(may('key:k', 'run'), '110011')
  assert.equal(may('key:k', 'answer', 'Admin', 'reader', 'person'), '110001')
  assert.deepEqual(roles, ['admin', 'run', 'answer', 'read'])
})

test('a stranger learns from no method which paths there are', async () => {
  const stage = await createStage('local')
  const bearer = { authorization: `Bearer ${stage.token}` }
  for (const path of ['/api/v1/keys', '/api/v1/agents', '/api/v1/runs/x', '/api/v1/nothing-here'])
    for (const method of ['PATCH', 'OPTIONS', 'DELETE', 'POST']) {
      const asked = await stage.call(method, path, {})
      assert.deepEqual([asked.status, asked.headers.get('allow')], [401, null], `${method} ${path}`)
    }
  assert.equal((await stage.call('PATCH', '/api/v1/keys', { headers: bearer })).status, 405)
  assert.equal((await stage.call('PATCH', '/healthz', {})).status, 405, 'what is open to all is no secret')
  await stage.close()
})
