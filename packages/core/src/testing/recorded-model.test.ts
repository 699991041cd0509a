/** Tests of a recording: a run plays again offline, byte for byte, and what differs is named. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fakeClock } from '../../../../test/support/clock.ts'
import { countedIds } from '../identity/ids.ts'
import { type Model, ModelCallError } from '../model/model.ts'
import { createRuntime } from '../runtime.ts'
import { recordModel, replayModel } from './recorded-model.ts'
import { call, scriptedModel, turns } from './scripted-model.ts'

function fileFor(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'witan-recorded-'))
  context.after(() => rmSync(folder, { recursive: true }))
  return join(folder, 'run.jsonl')
}

const agents = [
  { id: 'root', model: 'play/model', instructions: 'You ask.', subAgents: [{ agent: 'child' }] },
  { id: 'child', model: 'play/model', instructions: 'You know.' },
]

/** The events of one run, as text. */
async function eventsOf(model: Model, prompt = 'hello'): Promise<string> {
  const options = { models: { 'play/model': model }, agents, clock: fakeClock(), ids: countedIds() }
  const runtime = createRuntime({ ...options, retry: { tries: 1 } })
  await (await runtime.start({ agent: 'root', id: 'chats/1', prompt })).run?.result
  const { events } = await runtime.readEvents('chats/1', { verbose: true })
  await runtime.close()
  return JSON.stringify(events)
}

function live(): Model {
  const root = turns({ ...call('child', { message: 'what?' }), kept: { by: 'x', parts: ['sealed'] } }, 'It is so.')
  return scriptedModel((request, turn) => {
    const isRoot = request.messages[0]?.content.startsWith('You ask.')
    return isRoot ? root(request, turn) : 'Thus.'
  })
}

test('a run of several agents that was recorded once plays again, byte for byte', async (context) => {
  const file = fileFor(context)
  const first = await eventsOf(recordModel(live(), file))
  assert.equal(readFileSync(file, 'utf8').trim().split('\n').length, 4)
  assert.equal(await eventsOf(replayModel(file, { id: 'scripted/model' })), first)
})

test('a request that was not recorded says where it differs, and that nothing is left', async (context) => {
  const file = fileFor(context)
  await eventsOf(recordModel(live(), file))
  assert.match(
    await eventsOf(replayModel(file), 'good morning'),
    /Request 1 was not recorded: it differs .*`messages\.1\.content`/,
  )
  await eventsOf(
    recordModel(
      scriptedModel(() => 'Only this.'),
      file,
    ),
  )
  const replayed = replayModel(file)
  await eventsOf(replayed)
  assert.match(await eventsOf(replayed), /Request 2 was not recorded: nothing is left/)
})

test('a failure is recorded and comes again', async (context) => {
  const file = fileFor(context)
  const failing = scriptedModel(() => new ModelCallError('Busy now.', { status: 503, retryable: true }))
  const first = await eventsOf(recordModel(failing, file))
  assert.match(first, /Busy now\./)
  assert.equal(await eventsOf(replayModel(file, { id: 'scripted/model' })), first)
})

test('what a run does about a failure comes again: a history is trimmed, a price and a warning are there', async (context) => {
  const file = fileFor(context)
  const price = { inputPerMillion: 3, outputPerMillion: 15 }
  const told = { code: 'MODEL_WARNING', detail: 'temperature is not supported' } as const
  const tooLong = new ModelCallError('Too much.', { status: 400, retryable: false, trouble: 'context' })
  const usage = { inputTokens: 10, outputTokens: 2, cachedInputTokens: 0, reasoningTokens: 0 }
  const replies = ['one', tooLong, 'They met.', { text: 'two', usage }]
  const base = scriptedModel(() => replies.shift() ?? '', { id: 'play/model', price, takes: ['image/*'] })
  const live: Model = {
    ...base,
    async *stream(request, options) {
      options.tell?.(told)
      yield* base.stream(request, options)
    },
  }
  const play = async (model: Model) => {
    const trim = { kind: 'summarize', maxTokensBefore: 1000 } as const
    const agents = [{ id: 'root', model: 'play/model', instructions: 'You ask.', history: { trim } }]
    const runtime = createRuntime({ models: { 'play/model': model }, agents, clock: fakeClock(), ids: countedIds() })
    const chat = runtime.conversation('root', { id: 'chats/1' })
    await chat.run('hello')
    const file = { type: 'file', mediaType: 'audio/wav', data: 'UklGRg==' } as const
    const refused = await chat.run([file]).catch(({ code }) => code)
    const { text, usage } = await chat.run('again')
    const { events } = await runtime.readEvents('chats/1', { verbose: true })
    await runtime.close()
    return { text, usage, refused, events: JSON.stringify(events) }
  }
  const first = await play(recordModel(live, file))
  assert.deepEqual([first.text, first.refused], ['two', 'MEDIA_TYPE_UNSUPPORTED'])
  assert.match(first.events, /temperature is not supported/)
  assert.deepEqual(await play(replayModel(file, { id: 'play/model' })), first)
})

test('what is no recording is refused with its line', (context) => {
  const file = fileFor(context)
  writeFileSync(file, '{"request":{},"parts":[]}\n')
  assert.throws(() => replayModel(file), /no recording: line 1 names no model/)
  writeFileSync(file, '{"model":{}}\n{"request":')
  assert.throws(() => replayModel(file), /no recording: line 2 is no JSON/)
})

test('what a model reasoned is recorded and said again, where an agent shows it', async (context) => {
  const file = fileFor(context)
  const reasoning = ['Let me ', 'see.']
  const model = scriptedModel(() => ({ text: 'Yes.', reasoning }), { id: 'play/model' })
  const play = async (model: Model, showReasoning: boolean) => {
    const agents = [{ id: 'root', model: 'play/model', instructions: 'Think.', showReasoning }]
    const runtime = createRuntime({ models: { 'play/model': model }, agents, clock: fakeClock(), ids: countedIds() })
    const { id } = await runtime.start({ agent: 'root', id: 'chats/1' })
    const leave = new AbortController()
    const said: unknown[] = []
    const reading = (async () => {
      for await (const { type, kind, content } of runtime.followEvents(id, { signal: leave.signal })) {
        if (type === 'delta') said.push(kind, content)
        if (type === 'end' && kind === 'agent') leave.abort()
      }
    })()
    await new Promise((resolve) => setImmediate(resolve))
    await (await runtime.run(id, { prompt: 'go' })).result
    await reading
    const document = await runtime.getDocument(id, { detail: 'full' })
    await runtime.close()
    return { said, stored: document.messages.at(-1)?.reasoning }
  }
  const first = await play(recordModel(model, file), true)
  assert.equal(first.stored, 'Let me see.')
  assert.deepEqual(first.said.slice(0, 4), [
    'reasoning',
    { reasoning: 'Let me ', attempt: 1 },
    'reasoning',
    { reasoning: 'see.', attempt: 1 },
  ])
  assert.deepEqual(await play(replayModel(file, { id: 'play/model' }), true), first)
  const off = await play(replayModel(file, { id: 'play/model' }), false)
  assert.deepEqual([off.stored, off.said[0]], [undefined, 'agent'])
})
