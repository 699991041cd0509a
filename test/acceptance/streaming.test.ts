/** A run read as a stream: deltas without an id, then the result as the last frame, whatever the run came to. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createGate } from './support/model-server.ts'
import { agent, createStage, segment, type Stage, sub, until } from './support/stage.ts'
import type { RunResult, WitanEvent } from './support/wire.ts'
import type { Frame } from './support/witan.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage?.close())

interface Delta {
  callId: string
  content: { text: string; attempt: number; snapshot?: boolean }
}

async function streamRun(id: string, body: Record<string, unknown>): Promise<Frame[]> {
  const { status, frames } = await stage.witan.stream('POST', `/api/v1/conversations/${segment(id)}/runs`, { body })
  assert.equal(status, 200)
  const found: Frame[] = []
  for await (const frame of frames) found.push(frame)
  return found
}

const parsed = <T>(frame: Frame | undefined) => JSON.parse(frame?.data ?? 'null') as T
const deltas = (frames: Frame[]) =>
  frames.filter((frame) => frame.event === 'delta').map((frame) => parsed<Delta>(frame))
const said = (frames: Frame[], callId: string) =>
  deltas(frames)
    .filter((delta) => delta.callId === callId)
    .map((delta) => delta.content.text)
    .join('')

test('a streamed run ends with the frame result, which has no id and the run’s result', async () => {
  await stage.save(agent('plainly'))
  stage.model.script('plainly', { text: 'one two three four', pieces: 6 })
  const { id } = await stage.begin('plainly')
  const frames = await streamRun(id, { prompt: 'hello' })
  const last = frames.at(-1)
  assert.equal(last?.event, 'result')
  assert.equal(last?.id || undefined, undefined)
  assert.equal(frames.filter((frame) => frame.event === 'result').length, 1)
  const result = parsed<RunResult>(last)
  assert.equal(result.status, 'completed')
  assert.equal(result.text, 'one two three four')
  const stored = await stage.events(id, 'verbose=false')
  const live = frames.filter((frame) => frame.event !== 'delta' && frame.event !== 'result')
  assert.deepEqual(
    live.map((frame) => parsed<WitanEvent>(frame)),
    stored,
  )
  assert.deepEqual(
    live.map((frame) => Number(frame.id)),
    stored.map((event) => event.seq),
  )
})

test('deltas together are the text, and carry no seq and no id [Fb02] [D8]', async () => {
  await stage.save(agent('talker', { subAgents: [sub('talker-leaf')] }), agent('talker-leaf'))
  stage.model.script(
    'talker',
    { calls: [{ name: 'talker-leaf', args: { message: 'm' } }] },
    { text: 'the root’s own words', pieces: 5 },
  )
  stage.model.script('talker-leaf', { text: 'what the leaf says', pieces: 5 })
  const { id } = await stage.begin('talker')
  const frames = await streamRun(id, { prompt: 'hello', verbose: true })
  const { runId } = parsed<RunResult>(frames.at(-1))
  assert.equal(said(frames, runId), 'the root’s own words')
  const leaf = (await stage.events(id)).find(
    (event) => event.type === 'start' && event.kind === 'agent' && event.author === 'talker-leaf',
  )
  assert.equal(said(frames, leaf?.callId ?? ''), 'what the leaf says')
  for (const frame of frames.filter((each) => each.event === 'delta')) {
    assert.equal('seq' in parsed<object>(frame) && parsed<{ seq?: unknown }>(frame).seq != null, false)
  }
  const numbered = frames.filter((frame) => frame.event !== 'delta' && frame.event !== 'result')
  assert.deepEqual(
    numbered.map((frame) => Number(frame.id)),
    (await stage.events(id)).map((event) => event.seq),
  )
})

test('with verbose false nothing of a sub-agent is streamed [F34]', async () => {
  await stage.save(agent('terse', { subAgents: [sub('terse-leaf')] }), agent('terse-leaf'))
  stage.model.script('terse', { calls: [{ name: 'terse-leaf', args: { message: 'm' } }] }, { text: 'done' })
  stage.model.script('terse-leaf', { text: 'words of the leaf' })
  const { id } = await stage.begin('terse')
  const frames = await streamRun(id, { prompt: 'hello', verbose: false })
  const { runId } = parsed<RunResult>(frames.at(-1))
  for (const frame of frames.slice(0, -1)) assert.equal(parsed<WitanEvent>(frame).callId, runId)
})

test('a run that waits and a run that fails end their streams with the result as well', async () => {
  await stage.save(agent('waiter', { actions: [{ name: 'save-it', description: 'Saves.' }] }), agent('breaker'))
  stage.model.script('waiter', { calls: [{ name: 'save-it' }] })
  stage.model.script('breaker', { status: 400, text: 'no such thing' })
  const waiting = await streamRun((await stage.begin('waiter')).id, { prompt: 'hello' })
  assert.equal(waiting.at(-1)?.event, 'result')
  assert.equal(parsed<RunResult>(waiting.at(-1)).status, 'waiting')
  assert.ok(waiting.some((frame) => frame.event === 'action_required'))
  const failed = await streamRun((await stage.begin('breaker')).id, { prompt: 'hello' })
  assert.equal(failed.at(-1)?.event, 'result')
  assert.equal(parsed<RunResult>(failed.at(-1)).status, 'failed')
  assert.ok(parsed<RunResult>(failed.at(-1)).error?.code)
})

test('a late reader first gets what was said so far as a snapshot, then the rest [D8]', async () => {
  await stage.save(agent('late'))
  const gate = createGate()
  stage.model.script('late', { text: 'abcdefghij', pieces: 10, holdAfter: 6, hold: gate })
  const { id } = await stage.begin('late')
  const first = await stage.witan.stream('POST', `/api/v1/conversations/${segment(id)}/runs`, {
    body: { prompt: 'hello' },
  })
  let heard = ''
  for await (const frame of first.frames) {
    if (frame.event === 'delta') heard += parsed<Delta>(frame).content.text
    if (heard === 'abcde') break
  }
  assert.equal(heard, 'abcde')
  const second = await stage.witan.stream('GET', `/api/v1/conversations/${segment(id)}/events?verbose=true`)
  const texts: string[] = []
  for await (const frame of second.frames) {
    if (frame.event === 'end' && parsed<WitanEvent>(frame).kind === 'agent') break
    if (frame.event !== 'delta') continue
    const { content } = parsed<Delta>(frame)
    if (texts.length === 0) assert.equal(content.snapshot, true)
    texts.push(content.text)
    gate.open()
  }
  assert.equal(texts[0], 'abcde')
  assert.equal(texts.join(''), 'abcdefghij')
})

test('a reader that leaves does not stop the run [D9]', async () => {
  await stage.save(agent('goes-on'))
  const gate = createGate()
  stage.model.script('goes-on', { text: 'still here', hold: gate })
  const { id } = await stage.begin('goes-on')
  const { frames } = await stage.witan.stream('POST', `/api/v1/conversations/${segment(id)}/runs`, {
    body: { prompt: 'hello' },
  })
  await gate.entered
  await frames.next()
  await frames.return(undefined)
  gate.open()
  const { runs } = await until(
    () => stage.conversation(id),
    (now) => now.status === 'idle',
  )
  assert.equal(runs[0]?.status, 'completed')
})

test('a reader that asked for it stops the run by leaving', async () => {
  await stage.save(agent('stops'))
  const gate = createGate()
  stage.model.script('stops', { text: 'unheard', hold: gate })
  const { id } = await stage.begin('stops')
  const body = { prompt: 'hello', onDisconnect: 'cancel' }
  const { frames } = await stage.witan.stream('POST', `/api/v1/conversations/${segment(id)}/runs`, { body })
  await gate.entered
  await frames.next()
  await frames.return(undefined)
  const { runs } = await until(
    () => stage.conversation(id),
    (now) => now.status === 'idle',
  )
  assert.equal(runs[0]?.status, 'cancelled')
  gate.open()
})
