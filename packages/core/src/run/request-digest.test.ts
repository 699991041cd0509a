/** The digests of what a model was asked. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parseAgent } from '../agent/parse.ts'
import type { ModelRequest } from '../model/model.ts'
import { changedParts, requestDigest } from './request-digest.ts'

const agent = parseAgent({ id: 'any', model: 'play/any', instructions: 'Help.' })

function request(more: Partial<ModelRequest>): ModelRequest {
  const plain = { toolChoice: 'none', temperature: null, reasoningEffort: null, output: null } as const
  return { messages: [{ role: 'system', content: 'Help.' }], tools: [], ...plain, ...more }
}

test('a digest says which part of a request is another one, whatever was asked between', () => {
  const before = requestDigest(agent, request({}))
  for (let at = 0; at < 1_000; at += 1) requestDigest(agent, request({ temperature: at / 1_000 }))
  assert.equal(requestDigest(agent, request({})), before)
  const changed = (more: Partial<ModelRequest>) => changedParts(before, requestDigest(agent, request(more)))
  assert.deepEqual(changed({ temperature: 1 }), ['settings'])
  assert.deepEqual(changed({ messages: [{ role: 'system', content: 'Help more.' }] }), ['system'])
  const tool = { name: 'look', description: 'Looks.', parameters: {} }
  assert.deepEqual(changed({ tools: [tool], toolChoice: 'auto' }), ['tools', 'settings'])
  assert.deepEqual(changed({}), [])
})

test('the settings that a model chooses are kept in a bounded number', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const ask = (from: number) => {
    for (let at = 0; at < 50_000; at += 1) requestDigest(agent, request({ temperature: from + at / 50_000 }))
    collect()
    return process.memoryUsage().heapUsed
  }
  const first = ask(0)
  const grown = ask(1) - first
  assert.ok(grown < 2_000_000, `${grown} bytes`)
})
