/** The names of filters: none is dropped silently, and none is bound by a model. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const runtime = () => createRuntime({ models: { 'play/any': scriptedModel(() => 'ok') } })
const parsed = (text: string) => JSON.parse(text)

for (const name of ['query', 'limit', 'embedding'])
  test(`[C17] a base over a query has no attribute "${name}", which it binds itself`, async () => {
    const witan = runtime()
    const base = { id: 'rows', attributes: { [name]: 'string' as const }, requiredFilters: [name] }
    const query = { source: 'shop', query: `select 1 where $${name} = 1` }
    await assert.rejects(witan.knowledge.save({ ...base, query }), {
      code: 'KNOWLEDGE_INVALID',
      path: `attributes.${name}`,
    })
    await witan.close()
  })

test('[C17] a filter named after the prototype is refused in an agent and in a search', async () => {
  const witan = runtime()
  await witan.knowledge.save({ id: 'files', attributes: { topic: 'string' } })
  const uses = parsed('[{"id":"files","filter":{"__proto__":"topic"}}]')
  const agent = {
    id: 'a',
    model: 'play/any',
    instructions: 'Work.',
    parameters: [{ name: 'topic' }],
    knowledgeBases: uses,
  }
  await assert.rejects(witan.agents.save(agent), { code: 'AGENT_INVALID', path: 'knowledgeBases.0.filter.__proto__' })
  for (const filter of [parsed('{"__proto__":"x"}'), { other: 'x' }])
    await assert.rejects(witan.knowledge.search('files', { query: 'word', filter }), { code: 'KNOWLEDGE_INVALID' })
  await witan.close()
})

test('an attribute that only a filter uses is no unused parameter', async () => {
  const witan = runtime()
  await witan.knowledge.save({ id: 'files', attributes: { topic: 'string' } })
  const { agent } = await witan.agents.save({
    ...{ id: 'a', model: 'play/any', instructions: 'Work.' },
    parameters: [{ name: 'topic', sendToModel: false, policy: 'forbidModelGeneration' }],
    knowledgeBases: [{ id: 'files', filter: { topic: 'topic' } }],
  })
  assert.deepEqual(agent.warnings, [])
  await witan.close()
})
