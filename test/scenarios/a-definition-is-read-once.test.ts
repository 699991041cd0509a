/** C14: a definition of the program is read once, whatever its getters say the next time, and is frozen then. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineAgent, defineProtocol, type Runtime } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const schema = { type: 'object', properties: { a: { type: 'string' } } }
const agent = {
  ...{ id: 'a', name: 'A', description: 'x', model: 'm/m', instructions: 'You.', limits: { maxTokens: 1000 } },
  parameters: [{ name: 'p', type: 'string' }],
  actions: [{ name: 'act', description: 'Acts.', parametersSchema: schema }],
  queries: [],
  subAgents: [{ agent: 'b', description: 'Helps.', map: { p: null } }],
  approvals: [{ tool: 'act', when: schema }],
  access: { call: ['user:x'] },
  outputSchema: schema,
}
const other = { id: 'b', model: 'm/m', instructions: 'You.' }
const protocol = {
  name: 'p',
  messages: [{ name: 'ask', from: 'initiator', schema }],
  order: { start: 's', final: ['t'], states: { s: { ask: 't' }, t: {} } },
}

/** The same value, of which every field counts how often it is read. */
function counting(value: unknown, reads: Map<string, number>, path = ''): unknown {
  if (typeof value !== 'object' || value === null) return value
  const made = Array.isArray(value) ? [] : {}
  for (const [key, field] of Object.entries(value)) {
    const at = `${path}.${key}`
    const get = () => {
      reads.set(at, (reads.get(at) ?? 0) + 1)
      return counting(field, reads, at)
    }
    Object.defineProperty(made, key, { enumerable: true, configurable: true, get })
  }
  return made
}

type Door = (given: never, runtime: () => Promise<Runtime>) => unknown

const models = { 'm/m': scriptedModel(() => 'x', { id: 'm/m' }) }

const doors: Readonly<Record<string, readonly [of: object, door: Door]>> = {
  defineAgent: [agent, defineAgent],
  defineProtocol: [protocol, defineProtocol],
  'createRuntime, agents': [
    agent,
    async (given) => {
      const runtime = createRuntime({ models, agents: [given, other as never], report: () => undefined })
      await runtime.ready
      await runtime.close()
    },
  ],
  'agents.save': [agent, async (given, runtime) => (await runtime()).agents.save(given)],
  'agents.saveAll': [agent, async (given, runtime) => (await runtime()).agents.saveAll([given])],
  'agents.check': [agent, async (given, runtime) => (await runtime()).agents.check([given])],
  'protocols.save': [protocol, async (given, runtime) => (await runtime()).protocols.save(given)],
}

for (const [name, [of, door]] of Object.entries(doors))
  test(`each field of a definition is read once by ${name}`, async (context) => {
    const reads = new Map<string, number>()
    await door(counting(of, reads) as never, async () => {
      const runtime = createRuntime({ models, agents: [other as never], report: () => undefined })
      context.after(() => runtime.close())
      await runtime.ready
      return runtime
    })
    assert.ok(reads.size > 10, `${reads.size} fields were read`)
    const more = [...reads].filter(([, count]) => count !== 1)
    assert.deepEqual(more, [])
  })
