/** Conversations: their ids, what a second client reads of them, and their end. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertProblem } from './support/claims.ts'
import { createGate } from './support/model-server.ts'
import { agent, createStage, segment, type Stage, sub, until } from './support/stage.ts'
import type { Conversation, Page, RunLine, RunResult, Started } from './support/wire.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
  await stage.save(agent('host', { subAgents: [sub('guest')] }), agent('guest'), agent('other'))
  stage.model.on('host', () => ({ text: 'host says' }))
  stage.model.on('other', () => ({ text: 'other says' }))
})
after(() => stage?.close())

const create = (body: Record<string, unknown>) => stage.witan.call<Started>('POST', '/api/v1/conversations', { body })

test('the server finishes an id that ends in a slash, and chooses one where none is given [Rb34] [R33]', async () => {
  const one = await stage.begin('host', { id: 'talks/' })
  assert.match(one.id, /^talks\/[A-Za-z0-9._-]{1,128}$/)
  const two = await stage.begin('host')
  assert.match(two.id, /^[A-Za-z0-9_-]{1,64}\/[A-Za-z0-9._-]{1,128}$/)
  assert.equal(one.agent, 'host')
  assert.equal(one.run, null)
})

test('a full id that exists goes on with the same agent and is refused to another [R33] [Rb32]', async () => {
  await stage.begin('host', { id: 'talks/known', prompt: 'one' })
  const again = await create({ agent: 'host', id: 'talks/known', prompt: 'two' })
  assert.equal(again.status, 200, again.text)
  assert.equal(again.body.id, 'talks/known')
  assert.equal(again.body.run?.text, 'host says')
  assert.equal((await stage.conversation('talks/known')).runs.length, 2)
  assertProblem(await create({ agent: 'other', id: 'talks/known' }), {
    status: 409,
    code: 'CONVERSATION_AGENT_MISMATCH',
    names: ['talks/known'],
  })
})

test('in a path the id’s slash is %2F or a colon', async () => {
  await stage.begin('host', { id: 'talks/slash' })
  for (const form of ['talks%2Fslash', 'talks:slash']) {
    const { status, body } = await stage.witan.call<Conversation>('GET', `/api/v1/conversations/${form}`)
    assert.equal(status, 200)
    assert.equal(body.id, 'talks/slash')
  }
})

test('a conversation shows its latest 50 runs and how many there are; the list has all of them, newest first', async () => {
  const { id } = await stage.begin('host', { id: 'talks/long' })
  const begun: string[] = []
  for (let count = 0; count < 53; count += 1) begun.push((await stage.run(id, { prompt: `${count}` })).runId)
  const { runs, runCount } = await stage.conversation(id)
  const idsOf = (lines: readonly { runId: string }[]) => lines.map(({ runId }) => runId)
  assert.equal(runCount, 53)
  assert.deepEqual(idsOf(runs), begun.slice(3))
  const list = async (query: string) => {
    const path = `/api/v1/conversations/${segment(id)}/runs`
    const answer = await stage.witan.call<Page<RunLine>>('GET', `${path}?${query}`)
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }
  const all: RunLine[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page<RunLine> = await list(cursor === '' ? 'limit=20' : `limit=20&cursor=${cursor}`)
    assert.ok(page.items.length <= 20)
    all.push(...page.items)
    cursor = page.nextCursor
  }
  assert.deepEqual(idsOf(all), begun.toReversed())
  assert.deepEqual(all.slice(0, 50), runs.toReversed())
})

test('a list of runs goes on behind a run of that conversation only, and a conversation that is not there has none', async () => {
  const { id } = await stage.begin('host', { id: 'talks/one', prompt: 'hello' })
  const { id: other } = await stage.begin('host', { id: 'talks/other', prompt: 'hello' })
  const [foreign] = (await stage.conversation(other)).runs
  const at = (of: string, query: string) =>
    stage.witan.call('GET', `/api/v1/conversations/${segment(of)}/runs?${query}`)
  for (const cursor of [foreign?.runId, 'none', ''])
    assertProblem(await at(id, `cursor=${cursor}`), { status: 422, code: 'BODY_INVALID', names: ['cursor'] })
  assertProblem(await at(id, 'limit=201'), { status: 422, code: 'LIMIT_INVALID', names: ['limit'] })
  assertProblem(await at('talks/none', ''), { status: 404, code: 'NOT_FOUND' })
})

test('a second client reads what runs, what waits and where the log stands', async () => {
  await stage.save(agent('seen', { actions: [{ name: 'save-it', description: 'Saves.' }] }))
  const gate = createGate()
  stage.model.script('seen', { calls: [{ name: 'save-it' }], hold: gate }, { text: 'done' })
  const { id } = await stage.begin('seen')
  const { status, body } = await stage.runAnswer<{ runId: string }>(id, { prompt: 'hello', wait: false })
  assert.equal(status, 202)
  await gate.entered
  const running = await stage.conversation(id)
  assert.equal(running.status, 'running')
  assert.equal(running.activeRunId, body.runId)
  gate.open()
  const waiting = await until(
    () => stage.conversation(id),
    (now) => now.status === 'waiting',
  )
  assert.equal(waiting.activeRunId, body.runId)
  assert.equal(waiting.interruptions.length, 1)
  assert.equal(waiting.lastSeq, (await stage.events(id)).length)
  await stage.run(id, { actionResponses: [{ id: waiting.interruptions[0]?.id, response: 1 }] })
  const idle = await stage.conversation(id)
  assert.equal(idle.status, 'idle')
  assert.equal(idle.activeRunId, null)
  assert.deepEqual(idle.interruptions, [])
  assert.deepEqual(
    idle.runs.map((run) => [run.runId, run.status]),
    [[body.runId, 'completed']],
  )
})

test('a run is read by its id, with its state', async () => {
  const run = await stage.ask('host', 'hello')
  const { status, text } = await stage.witan.call('GET', `/api/v1/runs/${run.runId}`)
  assert.equal(status, 200)
  assert.ok(text.includes(run.runId) && text.includes('completed'), text)
})

test('the list keeps to an agent where asked', async () => {
  const { id } = await stage.begin('other')
  const { status, body, text } = await stage.witan.call<Page<{ id: string; agent: string }>>(
    'GET',
    '/api/v1/conversations?agent=other&limit=200',
  )
  assert.equal(status, 200, text)
  assert.ok(body.items.some((item) => item.id === id))
  assert.deepEqual([...new Set(body.items.map((item) => item.agent))], ['other'])
})

test('a deleted conversation is gone with all its documents', async () => {
  const run = await stage.ask('host', 'hello', { id: 'talks/gone' })
  assert.equal(run.status, 'completed')
  const deleted = await stage.witan.call('DELETE', `/api/v1/conversations/${segment('talks/gone')}`)
  assert.ok(deleted.status === 204 || deleted.status === 200, deleted.text)
  for (const path of [
    'conversations/talks%2Fgone',
    'documents/talks/gone',
    'conversations/talks%2Fgone/events',
    `runs/${run.runId}`,
  ]) {
    assertProblem(await stage.witan.call('GET', `/api/v1/${path}`, { headers: { accept: 'application/json' } }), {
      status: 404,
      code: 'NOT_FOUND',
    })
  }
})

test('a stale ifLastSeq is refused, the current one is taken [Rb33]', async () => {
  const { conversationId } = await stage.ask('host', 'hello')
  const { lastSeq } = await stage.conversation(conversationId)
  assertProblem(await stage.runAnswer(conversationId, { prompt: 'more', ifLastSeq: lastSeq - 1 }), {
    status: 412,
    code: 'REVISION_MISMATCH',
  })
  assert.equal((await stage.run(conversationId, { prompt: 'more', ifLastSeq: lastSeq })).status, 'completed')
})

test('a sub-agent runs directly as a root, below a parent that lists it [F40] [F41] [F42]', async () => {
  stage.model.script('guest', { text: 'guest says' }, { text: 'guest again' })
  const path = '/api/v1/agents/host/subagents/guest/run'
  const first = await stage.witan.call<RunResult>('POST', path, { body: { prompt: 'hello' } })
  assert.equal(first.status, 200, first.text)
  assert.equal(first.body.text, 'guest says')
  const { conversationId } = first.body
  const events = await stage.events(conversationId)
  assert.equal(events.find((event) => event.type === 'start')?.agentPath, 'guest')
  const second = await stage.witan.call<RunResult>('POST', path.replace('/agents/', '/agent/'), {
    body: { prompt: 'more', conversationId },
  })
  assert.equal(second.status, 200, second.text)
  assert.equal(second.body.conversationId, conversationId)
  const foreign = await stage.begin('host')
  assertProblem(await stage.witan.call('POST', path, { body: { prompt: 'x', conversationId: foreign.id } }), {
    status: 409,
    code: 'CONVERSATION_AGENT_MISMATCH',
  })
  assertProblem(await stage.witan.call('POST', '/api/v1/agents/host/subagents/other/run', { body: { prompt: 'x' } }), {
    status: 404,
    code: 'NOT_FOUND',
  })
})
