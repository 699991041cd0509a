/** The client runs where its package says it does: on Node 20.3, which lacks what came later. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import type { Step } from './testing/scripted-run.ts'
import { startWireServer } from './testing/wire-server.ts'

/** What a runtime got after Node 20.3, and browsers of that age do not have either. */
const later: Readonly<Record<string, readonly string[]>> = {
  globalThis: [
    'Iterator',
    'WebSocket',
    'navigator',
    'EventSource',
    'Float16Array',
    'DisposableStack',
    'AsyncDisposableStack',
  ],
  Promise: ['withResolvers', 'try'],
  Array: ['fromAsync'],
  Object: ['groupBy'],
  Map: ['groupBy'],
  URL: ['parse'],
  RegExp: ['escape'],
  Error: ['isError'],
  Uint8Array: ['fromBase64', 'fromHex'],
  'Set.prototype': [
    'union',
    'intersection',
    'difference',
    'symmetricDifference',
    'isSubsetOf',
    'isSupersetOf',
    'isDisjointFrom',
  ],
  'Object.getPrototypeOf(Object.getPrototypeOf([].values()))': [
    'map',
    'filter',
    'take',
    'drop',
    'flatMap',
    'reduce',
    'toArray',
    'forEach',
    'some',
    'every',
    'find',
  ],
}
const forget = Object.entries(later).flatMap(([of, names]) => names.map((name) => `delete ${of}.${name}`))

const program = `
  const { createClient } = await import(process.argv[1])
  const client = createClient({ url: process.argv[2], token: 'secret' })
  const chat = client.conversation('root')
  chat.handle('a/b', async () => 'handled')
  const types = []
  for await (const { type } of chat.stream('act a/b;say hi')) types.push(type)
  const { status } = await chat.run('say again')
  const missing = await client.runs.get('c_none').then(() => 'found', (error) => error.code)
  client.close()
  console.log(JSON.stringify({ types: [...new Set(types)], status, missing }))
`

function* script(_: unknown, answers: Readonly<Record<string, unknown>>): Generator<Step> {
  if (Object.keys(answers).length === 0) yield { act: [{ path: 'a/b', arguments: {} }] }
  yield { say: 'hi' }
  yield { end: 'done', output: {} }
}

test('it talks, handles actions and streams without anything newer', async () => {
  const server = await startWireServer(script)
  const { NODE_OPTIONS: _, ...env } = process.env
  const flags = [
    '--conditions=witan-source',
    '--import',
    `data:text/javascript,${encodeURIComponent(forget.join(';'))}`,
  ]
  const args = [...flags, '--input-type=module', '--eval', program, import.meta.resolve('./index.ts'), server.url]
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const out = await text(child.stdout)
  await server.close()
  const told = JSON.parse(out) as { types: string[]; status: string; missing: string }
  assert.equal(told.status, 'completed')
  for (const type of ['start', 'delta', 'action_required', 'end'])
    assert.ok(told.types.includes(type), told.types.join())
  assert.equal(told.missing, 'NOT_FOUND')
})

test('its package and those it needs say so', () => {
  for (const name of ['client', 'protocol']) {
    const { engines } = JSON.parse(readFileSync(new URL(`../../${name}/package.json`, import.meta.url), 'utf8'))
    assert.deepEqual(engines, { node: '>=20.3' })
  }
})
