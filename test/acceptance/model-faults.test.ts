/** A model server that misbehaves: what is retried, what is understood all the same, and what ends the run. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertEvents } from './support/claims.ts'
import type { Reply } from './support/exchange.ts'
import { agent, createStage, type Stage, sub } from './support/stage.ts'
import { toolContents } from './support/transcript.ts'
import type { RunResult } from './support/wire.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage?.close())

async function ask(id: string, ...replies: Reply[]): Promise<RunResult> {
  await stage.save(agent(id))
  stage.model.script(id, ...replies)
  const run = await stage.ask(id, 'hello')
  assertEvents(await stage.events(run.conversationId))
  return run
}

test('a model’s name goes to the server without its connection, and no key is sent where none is set', async () => {
  await ask('nameless', { text: 'ok' })
  const [seen] = stage.model.of('nameless')
  assert.equal(seen?.body.model, 'nameless')
  assert.equal(seen?.headers.authorization, undefined)
  assert.match(seen?.headers['content-type'] ?? '', /^application\/json/)
})

test('a key from the environment goes as a bearer token', async () => {
  await stage.save(agent('with-key', { model: 'keyed/with-key' }))
  stage.model.script('with-key', { text: 'ok' })
  await stage.ask('with-key', 'hello')
  assert.equal(stage.model.of('with-key')[0]?.headers.authorization, 'Bearer key-of-the-play')
})

for (const status of [408, 409, 425, 429, 500, 503]) {
  test(`a model call answered ${status} is tried again, with the same body [D23]`, async () => {
    const run = await ask(`flaky-${status}`, { status }, { text: 'fine now' })
    assert.equal(run.status, 'completed')
    assert.equal(run.text, 'fine now')
    const [first, second] = stage.model.of(`flaky-${status}`)
    assert.equal(first?.raw, second?.raw)
  })
}

test('a refused request is not tried again and fails the run, with a hint', async () => {
  const run = await ask('refused', { status: 400, text: 'context too long' })
  assert.equal(run.status, 'failed')
  assert.ok(run.error?.code && run.error.hint && run.error.detail)
  assert.equal(stage.model.of('refused').length, 1)
})

test('a plain JSON reply to a streamed request is accepted, calls and usage included', async () => {
  await stage.save(agent('plain', { subAgents: [sub('plain-helper')] }), agent('plain-helper'))
  stage.model.script(
    'plain',
    { plain: true, calls: [{ name: 'plain-helper', args: { message: 'm' } }] },
    { plain: true, text: 'done' },
  )
  stage.model.script('plain-helper', { plain: true, text: 'helped', usage: { input: 100, output: 1 } })
  const run = await stage.ask('plain', 'hello')
  assert.equal(run.text, 'done')
  assert.deepEqual(toolContents(stage.model.of('plain')[1]), ['helped'])
  assert.equal(run.usage.inputTokens, 120)
})

test('call arguments in single characters are put together', async () => {
  await stage.save(agent('drip', { subAgents: [sub('drip-helper')] }), agent('drip-helper'))
  const message = 'ünïcödé "quoted" \\ and \n a line'
  stage.model.script(
    'drip',
    { pieces: 1000, calls: [{ name: 'drip-helper', args: { message } }] },
    { pieces: 1000, text: 'dönë' },
  )
  stage.model.script('drip-helper', { text: 'ok' })
  assert.equal((await stage.ask('drip', 'hello')).text, 'dönë')
  assert.equal(stage.model.of('drip-helper')[0]?.body.messages.at(-1)?.content, message)
})

test('a stream cut before its first words is tried again [D23]', async () => {
  const run = await ask('cut-early', { text: 'lost', cutAfter: 0 }, { text: 'whole' })
  assert.equal(run.status, 'completed')
  assert.equal(run.text, 'whole')
})

test('a stream cut in its words never makes half an answer, and the run ends once [I12]', async () => {
  await stage.save(agent('cut-late'))
  stage.model.on('cut-late', ({ nth }) =>
    nth === 1 ? { text: 'half of a whole', pieces: 4, cutAfter: 3 } : { text: 'a whole' },
  )
  const run = await stage.ask('cut-late', 'hello')
  if (run.status === 'completed') assert.equal(run.text, 'a whole')
  else assert.ok(run.status === 'failed' && run.error?.code)
  assertEvents(await stage.events(run.conversationId))
})

test('a run after a failed one starts from a clean history', async () => {
  await stage.save(agent('again'))
  stage.model.script('again', { status: 400, text: 'no' }, { text: 'yes' })
  const failed = await stage.ask('again', 'one')
  assert.equal(failed.status, 'failed')
  const next = await stage.run(failed.conversationId, { prompt: 'two' })
  assert.equal(next.text, 'yes')
  assert.notEqual(next.runId, failed.runId)
})
