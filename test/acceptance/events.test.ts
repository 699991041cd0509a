/** A conversation's events: one gap-free log of a tree, read as JSON pages or as a stream, whole, filtered or from a point on. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertEvents, assertProblem } from './support/claims.ts'
import { agent, createStage, segment, type Stage, sub } from './support/stage.ts'
import type { EventPage, RunResult, WitanEvent } from './support/wire.ts'
import type { Answer, Frame } from './support/witan.ts'

const id = 'chats/events'
const path = `/api/v1/conversations/${segment(id)}/events`
let stage: Stage
let run: RunResult
let events: WitanEvent[]
before(async () => {
  stage = await createStage()
  await stage.save(agent('top', { subAgents: [sub('mid')] }), agent('mid', { subAgents: [sub('leaf')] }), agent('leaf'))
  stage.model.script('top', { calls: [{ name: 'mid', args: { message: 'm' } }] }, { text: 'top says' })
  stage.model.script('mid', { calls: [{ name: 'leaf', args: { message: 'l' } }] }, { text: 'mid says' })
  stage.model.script('leaf', { text: 'leaf says' })
  run = await stage.ask('top', 'hello', { id })
  events = await stage.events(id)
})
after(() => stage?.close())

function page(query: string, headers: Record<string, string> = {}): Promise<Answer<EventPage>> {
  return stage.witan.call<EventPage>('GET', `${path}?${query}`, { headers: { accept: 'application/json', ...headers } })
}

/** Reads so many frames of the conversation's stream that have an id, and then leaves. */
async function read(query: string, count: number, headers: Record<string, string> = {}): Promise<Frame[]> {
  const { status, headers: got, frames } = await stage.witan.stream('GET', `${path}?${query}`, { headers })
  assert.equal(status, 200)
  assert.match(got.get('content-type') ?? '', /^text\/event-stream/)
  const found: Frame[] = []
  for await (const frame of frames) {
    if (frame.id !== undefined) found.push(frame)
    if (found.length === count) break
  }
  return found
}

const agents = (type: string) => events.filter((event) => event.kind === 'agent' && event.type === type)

test('seq runs from 1 without a gap, every call has its parent, each run one start and one end [F32] [K23]', () => {
  assertEvents(events)
  const root = events.find((event) => event.type === 'start')
  assert.equal(root?.callId, run.runId, 'the run’s id is its root call’s id')
  for (const event of events) {
    assert.equal(event.conversationId, id)
    assert.equal(event.rootCallId, run.runId)
  }
})

test('the user’s message stands just before its run’s start, with the root’s call', () => {
  const start = events.findIndex((event) => event.type === 'start' && event.callId === run.runId)
  const message = events[start - 1]
  assert.equal(message?.type, 'message')
  assert.equal(message?.callId, run.runId)
  assert.equal(message?.content.text, 'hello')
  assert.equal(message?.author, 'user')
})

test('calls start from the root down and end from the leaf up [F33]', () => {
  assert.deepEqual(
    agents('start').map((event) => event.agentPath),
    ['top', 'top/mid', 'top/mid/leaf'],
  )
  assert.deepEqual(
    agents('start').map((event) => event.document),
    [id, `${id}/mid`, `${id}/mid/leaf`],
  )
  assert.deepEqual(
    agents('end').map((event) => event.author),
    ['leaf', 'mid', 'top'],
  )
  assert.deepEqual(
    agents('end').map((event) => event.content.text),
    ['leaf says', 'mid says', 'top says'],
  )
  assert.equal(agents('start')[1]?.content.message, 'm')
  assert.equal(agents('start')[2]?.content.message, 'l')
})

test('each model call is in the log with its model and usage', () => {
  const ends = events.filter((event) => event.kind === 'model' && event.type === 'end')
  assert.equal(ends.length, 5)
  assert.deepEqual(
    ends.map((event) => event.agentPath),
    ['top', 'top/mid', 'top/mid/leaf', 'top/mid', 'top'],
  )
  for (const end of ends) assert.ok(end.content.usage && end.content.model)
})

test('verbose=false keeps the root’s own events, in order, and nothing else [F34] [F35]', async () => {
  const { body } = await page('verbose=false')
  const own = events.filter((event) => event.callId === event.rootCallId)
  assert.deepEqual(
    body.events.map((event) => event.seq),
    own.map((event) => event.seq),
  )
  assert.ok(own.length < events.length)
})

test('from is exclusive, limit bounds a page, more says that there is more', async () => {
  const whole = await page('verbose=true')
  assert.equal(whole.body.lastSeq, events.length)
  assert.equal(whole.body.more, false)
  const first = await page('verbose=true&limit=3')
  assert.deepEqual(first.body.events, events.slice(0, 3))
  assert.equal(first.body.more, true)
  const rest = await page('verbose=true&from=3')
  assert.deepEqual(rest.body.events, events.slice(3))
  const none = await page(`verbose=true&from=${events.length}`)
  assert.deepEqual(none.body.events, [])
  assert.equal(none.body.more, false)
})

test('call= gives one call’s subtree', async () => {
  const mid = agents('start')[1] as WitanEvent
  const inside = new Set([mid.callId])
  for (const event of events) if (inside.has(event.parentCallId ?? '')) inside.add(event.callId)
  const { body } = await page(`verbose=true&call=${mid.callId}`)
  assert.deepEqual(
    body.events.map((event) => event.seq),
    events.filter((event) => inside.has(event.callId)).map((event) => event.seq),
  )
})

test('a frame has the event’s seq as id, its type as event and all of it as data [Fb03]', async () => {
  const frames = await read('verbose=true&from=0', events.length)
  assert.deepEqual(
    frames.map((frame) => Number(frame.id)),
    events.map((event) => event.seq),
  )
  assert.deepEqual(
    frames.map((frame) => frame.event),
    events.map((event) => event.type),
  )
  assert.deepEqual(
    frames.map((frame) => JSON.parse(frame.data)),
    events,
  )
})

test('every Last-Event-ID is resumed with exactly what follows it', async () => {
  for (const seq of [1, 4, events.length - 1]) {
    const frames = await read('verbose=true', events.length - seq, { 'last-event-id': String(seq) })
    assert.deepEqual(
      frames.map((frame) => Number(frame.id)),
      events.slice(seq).map((event) => event.seq),
    )
  }
})

test('a Last-Event-ID that is no number is 400, one ahead of the log 409 [E77]', async () => {
  for (const bad of ['twelve', '-1', '1.5']) {
    const answer = await page('verbose=true', { accept: 'text/event-stream', 'last-event-id': bad })
    assertProblem(answer, { status: 400, code: 'EVENT_ID_INVALID', names: [bad] })
  }
  const ahead = await page('verbose=true', { accept: 'text/event-stream', 'last-event-id': '9000' })
  assertProblem(ahead, { status: 409, code: 'EVENT_ID_AHEAD', names: ['9000', String(events.length)] })
})

test('a reader that stays gets the next run live, and reads the whole log once [P17]', async () => {
  const other = await stage.begin('top', { id: 'chats/live' })
  assert.equal(other.run, null)
  const { frames } = await stage.witan.stream(
    'GET',
    `/api/v1/conversations/${segment('chats/live')}/events?verbose=true`,
  )
  stage.model.script('top', ...Array(2).fill({ text: 'unused' }), { text: 'live words' })
  const running = stage.run('chats/live', { prompt: 'hello' })
  const seqs: number[] = []
  for await (const frame of frames) {
    if (frame.id === undefined) continue
    seqs.push(Number(frame.id))
    const event = JSON.parse(frame.data) as WitanEvent
    if (event.type === 'end' && event.callId === event.rootCallId && event.kind === 'agent') break
  }
  await running
  assert.deepEqual(
    seqs,
    (await stage.events('chats/live')).map((event) => event.seq),
  )
})
