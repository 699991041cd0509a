/** Whoever runs the server reads once which origin was refused, and which setting would let it in. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOriginNotes } from './origin-notes.ts'
import { base, createStage } from './testing/stage.ts'

const request = (origin: string | null) =>
  new Request(`${base}/api/v1/agents`, { headers: origin === null ? {} : { origin } })
const policy = { port: () => 4747, allowed: [], origins: ['https://app.example.com'] }

function notes() {
  const lines: { level: string; message: string; origin: unknown; hint: unknown }[] = []
  const note = createOriginNotes((level, message, fields = {}) => {
    lines.push({ level, message, origin: fields.origin, hint: fields.hint })
  }, policy)
  return { lines, note: (origin: string | null) => note(request(origin)) }
}

test('a refused origin leaves one warning with the setting, however often it asks', () => {
  const { lines, note } = notes()
  for (let time = 0; time < 3; time += 1)
    for (const origin of [
      null,
      'http://127.0.0.1:4747',
      'https://app.example.com',
      'https://other.example.com',
      'null',
    ])
      note(origin)
  const hint = 'If its pages may call this server, add it to server.allowedOrigins.'
  const warning = { level: 'warn', message: 'an origin was refused', hint }
  assert.deepEqual(lines, [
    { ...warning, origin: 'https://other.example.com' },
    { ...warning, origin: 'null' },
  ])
})

test('a page that makes up origins fills neither the log nor the memory', () => {
  const { lines, note } = notes()
  for (let index = 0; index < 1000; index += 1) note(`https://${index}.example.com/${'x'.repeat(5000)}`)
  assert.equal(lines.length, 21)
  assert.equal(lines.at(-1)?.message, 'more origins were refused; they are not logged')
  assert.ok(lines.every(({ origin = '' }) => String(origin).length <= 200))
})

test('over HTTP the warning comes with a preflight, a read and a write, and for no page of our own', async () => {
  const stage = await createStage('local')
  const preflight = { 'access-control-request-method': 'POST' }
  await stage.call('OPTIONS', '/api/v1/conversations', { headers: { origin: 'https://a.test', ...preflight } })
  await stage.call('GET', '/api/v1/agents', { headers: { origin: 'https://b.test' } })
  await stage.call('POST', '/api/v1/conversations', { headers: { origin: 'https://c.test' }, body: {} })
  await stage.call('GET', '/api/v1/agents', { headers: { origin: base } })
  await stage.call('GET', '/', { headers: { origin: 'https://d.test' } })
  await stage.close()
  const warnings = stage.log
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ origin }) => origin !== undefined)
  assert.deepEqual(
    warnings.map(({ level, origin }) => [level, origin]),
    ['a', 'b', 'c'].map((name) => ['warn', `https://${name}.test`]),
  )
})
