/** A server at work whose schema was taken over by a newer version: it stops, says why, and leaves its runs to others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schemaVersions, scriptedModel } from '@witan/core/testing'
import { asAdmin, freshSchema } from '../../../test/postgres/support/stores.ts'
import { loadConfig } from './config.ts'
import { parseConfig } from './config-schema.ts'
import { startServer } from './serve.ts'

const agents = [{ id: 'echo', model: 'play/model', instructions: 'x' }]

const takenOver = (schema: string) =>
  `The schema \`${schema}\` has been taken over by a newer version, and this program knows ${schemaVersions().postgres}.`

/** The last frame of a stream that the server ends. */
async function follow(url: string, post?: object) {
  const headers = { accept: 'text/event-stream', 'content-type': 'application/json' }
  const given = post === undefined ? {} : { method: 'POST', body: JSON.stringify(post) }
  const text = await (await fetch(url, { headers, ...given })).text()
  const frame = text.trimEnd().split('\n\n').at(-1) ?? ''
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1] ?? ''
  return { event: field('event'), id: field('id'), data: JSON.parse(field('data') || 'null') as unknown }
}

test('an older process answers 503 SCHEMA_TOO_NEW, is not ready, writes nothing, and lets its run go on elsewhere', async (context) => {
  const { url, schema } = await freshSchema(context)
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  const model = scriptedModel(async () => {
    asked.resolve()
    await answer.promise
    return 'Too late.'
  })
  const env = { WITAN_LOG_LEVEL: 'silent', WITAN_LEASE_MS: '1500' }
  const loaded = await loadConfig({ cwd: import.meta.dirname, env })
  const store = { url, schema }
  const parsed = parseConfig({
    server: { port: 0 },
    auth: { mode: 'none' },
    store,
    models: { 'play/model': model },
    agents,
  })
  const server = await startServer({ ...loaded, ...parsed })
  const call = async (method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json' }
    const given = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(`${server.url}${path}`, { method, headers, ...given })
    const text = await response.text()
    const { code, id } = (text === '' ? {} : JSON.parse(text)) as { code?: string; id?: string }
    return { status: response.status, code, id }
  }
  const { id = '' } = await call('POST', '/api/v1/conversations', { agent: 'echo' })
  const at = `/api/v1/conversations/${id.replace('/', ':')}`
  const state = () =>
    asAdmin(url, async (admin) => {
      const { rows } = await admin.query(`select j.owner, j.ended_at as ended,
        (select count(*)::int from "${schema}".entries) as entries from "${schema}".jobs j`)
      return rows[0] as { owner: string | null; ended: unknown; entries: number }
    })
  const followed = follow(`${server.url}${at}/events`)
  const empty = await call('POST', '/api/v1/conversations', { agent: 'echo' })
  const unread = follow(`${server.url}/api/v1/conversations/${empty.id?.replace('/', ':')}/events`)
  const running = call('POST', `${at}/runs`, { prompt: 'hi' })
  await asked.promise
  const streamed = follow(`${server.url}${at}/runs`, { prompt: 'more', onActive: 'enqueue' })
  while ((await state()).entries < 3) await new Promise((resolve) => setTimeout(resolve, 20))
  const before = await state()
  assert.equal((await call('GET', '/readyz')).status, 200)
  await asAdmin(url, (admin) => admin.query(`update "${schema}".schema_version set version = 999, works_from = 999`))
  const from = performance.now()
  while ((await call('GET', '/readyz')).status !== 503) await new Promise((resolve) => setTimeout(resolve, 50))
  assert.ok(performance.now() - from < 5_000)
  const { id: _, ...agent } = agents[0] as { id: string }
  const refused: [method: string, path: string, body?: object][] = [
    ['GET', '/readyz'],
    ['POST', '/api/v1/conversations', { agent: 'echo' }],
    ['POST', '/api/v1/conversations', { agent: 'echo', prompt: 'hi' }],
    ['POST', `${at}/runs`, { prompt: 'more', onActive: 'enqueue' }],
    ['DELETE', at],
    ['PUT', '/api/v1/agents/other', { ...agent, id: 'other' }],
    ['GET', '/api/v1/conversations'],
    ['GET', '/api/v1/keys'],
  ]
  for (const [method, path, body] of refused) {
    const { status, code } = await call(method, path, body)
    assert.deepEqual([method, path, status, code], [method, path, 503, 'SCHEMA_TOO_NEW'])
  }
  const last = await Promise.all([followed, streamed, unread])
  assert.deepEqual(
    last.map(({ event, id, data }) => [event, id, data]),
    [before.entries, before.entries, 0].map((from) => [
      'taken_over',
      String(from),
      { from, detail: takenOver(schema) },
    ]),
  )
  assert.ok(performance.now() - from < 10_000)
  while ((await state()).owner !== null) await new Promise((resolve) => setTimeout(resolve, 50))
  answer.resolve()
  assert.deepEqual(await running, { status: 503, code: 'SCHEMA_TOO_NEW', id: undefined })
  assert.deepEqual(await state(), { ...before, owner: null })
  await server.close()
  assert.deepEqual(await state(), { ...before, owner: null })
})
