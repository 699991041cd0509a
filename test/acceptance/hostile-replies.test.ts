/** Replies that try to exhaust the server: arguments and answers nested far too deep, and thousands of calls at once. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertEvents, notices } from './support/claims.ts'
import { agent, createStage, type Stage, sub } from './support/stage.ts'
import { toolContents } from './support/transcript.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage?.close())

/** Five thousand objects, each in the other. */
const deep = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`

test('arguments nested 5,000 deep are an error to the model; the run goes on and the document stays readable', async () => {
  await stage.save(
    agent('deep', {
      actions: [{ name: 'Note', description: 'Takes anything.', parametersSchema: { type: 'object' } }],
      subAgents: [sub('deep-helper')],
    }),
    agent('deep-helper'),
  )
  stage.model.script(
    'deep',
    {
      calls: [
        { name: 'Note', rawArgs: deep },
        { name: 'deep-helper', rawArgs: `{"message":"x","extra":${deep}}` },
      ],
    },
    { text: 'done' },
  )
  const run = await stage.ask('deep', 'hello')
  assert.equal(run.status, 'completed', JSON.stringify(run.error))
  for (const content of toolContents(stage.model.of('deep')[1])) assert.match(JSON.parse(content).error, /nested 500\d/)
  const errors = (await stage.events(run.conversationId)).filter(
    ({ type, kind }) => type === 'error' && kind === 'tool',
  )
  assert.deepEqual(
    errors.map(({ content }) => content.code),
    ['TOOL_ARGS_INVALID', 'TOOL_ARGS_INVALID'],
  )
  for (const detail of ['simple', 'detailed', 'full']) {
    const { messages } = await stage.document(run.conversationId, `detail=${detail}`)
    assert.equal(messages.at(-1)?.text, 'done')
  }
})

test('a structured answer nested 5,000 deep is asked for again, then fails the call by name', async () => {
  await stage.save(agent('deep-answer', { outputSchema: { type: 'object' } }))
  stage.model.script('deep-answer', { text: deep }, { text: deep })
  const run = await stage.ask('deep-answer', 'hello')
  assert.equal(run.status, 'failed')
  assert.equal(run.error?.code, 'MODEL_REPLY_INVALID')
  assert.match(run.error?.detail ?? '', /nested 5000 deep/)
  assert.ok((await stage.document(run.conversationId)).messages.length > 0)
})

test('of 10,000 calls in one reply 128 run, 872 are refused by name, and the rest is dropped', async () => {
  await stage.save(agent('flood', { subAgents: [sub('flood-helper')] }), agent('flood-helper'))
  const calls = Array.from({ length: 10_000 }, () => ({ name: 'nobody', args: {} }))
  stage.model.script('flood', { calls }, { text: 'done' })
  const run = await stage.ask('flood', 'hello')
  assert.equal(run.status, 'completed')
  const contents = toolContents(stage.model.of('flood')[1])
  assert.equal(contents.length, 1_000)
  assert.match(contents[127] ?? '', /unknown tool nobody/)
  assert.match(contents[128] ?? '', /not run: one reply may call at most 128 tools/)
  assert.equal(contents[999], contents[128])
  const events = await stage.events(run.conversationId)
  assertEvents(events)
  assert.equal(events.filter(({ kind, type }) => kind === 'tool' && type === 'start').length, 128)
  const [notice, second] = notices(events, 'TOOL_CALLS_REFUSED')
  assert.match(String(notice?.content.detail), /`flood`.*10000.*128/)
  assert.equal(second, undefined)
  assert.equal(run.usage.toolCalls, 128)
  const shown = (await stage.document(run.conversationId)).messages.find(
    ({ toolCalls }) => (toolCalls?.length ?? 0) > 0,
  )
  assert.deepEqual(shown?.toolCalls?.at(-1)?.result, JSON.parse(contents[999] ?? ''))
})

test('a reply of more than 1,000,000 characters fails the run with a hint', async () => {
  await stage.save(agent('long'))
  stage.model.script('long', { text: 'x'.repeat(1_000_001) })
  const run = await stage.ask('long', 'hello')
  assert.equal(run.status, 'failed')
  assert.equal(run.error?.code, 'MODEL_CALL_FAILED')
  assert.match(run.error?.detail ?? '', /wrote more than 1000000 characters in one reply\. Set `maxOutputTokens`/)
})
