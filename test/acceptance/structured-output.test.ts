/** Answers by a schema: what the model is asked for, what the run gives, and what a parent's model reads. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { agent, createStage, type Stage, sub } from './support/stage.ts'
import { toolContents } from './support/transcript.ts'

const outputSchema = {
  type: 'object',
  properties: { manager: { type: 'string' }, since: { type: 'integer' } },
  required: ['manager', 'since'],
  additionalProperties: false,
}
const output = { manager: 'Andrew Fuller', since: 1992 }

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage?.close())

test('an output schema is sent as the response format, and the run gives the value [R50] [Rb41]', async () => {
  await stage.save(agent('typed', { outputSchema }))
  stage.model.script('typed', { text: JSON.stringify(output) })
  const run = await stage.ask('typed', 'hello')
  assert.equal(run.status, 'completed')
  assert.deepEqual(run.output, output)
  const format = stage.model.of('typed')[0]?.body.response_format
  assert.equal(format?.type, 'json_schema')
  const schema = format?.json_schema?.schema as { properties: object } | undefined
  assert.deepEqual(Object.keys(schema?.properties ?? {}), ['manager', 'since'])
})

test('a sample of the output gives the schema [R50]', async () => {
  await stage.save(agent('sampled', { outputSample: { message: 'hi', count: 1 } }))
  stage.model.script('sampled', { text: '{"message":"x","count":2}' })
  const run = await stage.ask('sampled', 'hello')
  assert.deepEqual(run.output, { message: 'x', count: 2 })
  const schema = stage.model.of('sampled')[0]?.body.response_format?.json_schema?.schema as {
    properties: Record<string, { type: string }>
  }
  assert.equal(schema.properties.message?.type, 'string')
  assert.ok(schema.properties.count)
})

test('a delegate’s output is what its parent’s model reads, as JSON [C13]', async () => {
  await stage.save(agent('reader', { subAgents: [sub('writer')] }), agent('writer', { outputSchema }))
  stage.model.script('reader', { calls: [{ name: 'writer', args: { message: 'm' } }] }, { text: 'done' })
  stage.model.script('writer', { text: JSON.stringify(output, null, 2) })
  const run = await stage.ask('reader', 'hello')
  assert.equal(run.status, 'completed')
  assert.deepEqual(
    toolContents(stage.model.of('reader')[1]).map((content) => JSON.parse(content)),
    [output],
  )
  assert.equal(stage.model.of('reader')[0]?.body.response_format, undefined)
})

test('an agent without a schema has no output and asks for none', async () => {
  await stage.save(agent('free'))
  stage.model.script('free', { text: '{"manager":"x"}' })
  const run = await stage.ask('free', 'hello')
  assert.equal(run.output ?? null, null)
  assert.equal(run.text, '{"manager":"x"}')
  assert.equal(stage.model.of('free')[0]?.body.response_format, undefined)
})

test('an answer off the schema never passes for an output', async () => {
  await stage.save(agent('liar', { outputSchema }))
  stage.model.on('liar', () => ({ text: '{"manager":7}' }))
  const run = await stage.ask('liar', 'hello')
  assert.notDeepEqual(run.output, { manager: 7 })
  if (run.status === 'failed') assert.ok(run.error?.code)
})

test('action and query schemas may be given by a sample, and a schema wins over it [Rb41]', async () => {
  const schema = { type: 'object', properties: { from: { type: 'string' } }, required: ['from'] }
  const actions = [
    { name: 'by-sample', description: 'A.', parametersSample: { name: 'x', count: 1 } },
    { name: 'by-both', description: 'B.', parametersSample: { other: 'x' }, parametersSchema: schema },
  ]
  await stage.save(agent('samples', { actions }))
  stage.model.script('samples', { text: 'ok' })
  await stage.ask('samples', 'hello')
  const tools = stage.model.of('samples')[0]?.body.tools ?? []
  const properties = (name: string) =>
    Object.keys(tools.find((tool) => tool.function.name === name)?.function.parameters?.properties ?? {})
  assert.deepEqual(properties('by-sample').sort(), ['count', 'name'])
  assert.deepEqual(properties('by-both'), ['from'])
})
