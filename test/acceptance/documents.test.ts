/** A document for each agent of a conversation, at a path that says who called whom. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertProblem } from './support/claims.ts'
import { agent, createStage, type Stage, sub } from './support/stage.ts'
import type { ConversationDocument, DocumentMessage } from './support/wire.ts'

const id = 'chats/papers'
const hidden = 'cny_paper_yz12ab34cd56ef78gh90ij12'
let stage: Stage
before(async () => {
  stage = await createStage()
  await stage.save(
    agent('desk', { parameters: [{ name: 'country', type: 'string' }], subAgents: [sub('mid')] }),
    agent('mid', { subAgents: [sub('leaf')] }),
    agent('leaf', {
      parameters: [{ name: 'userId', type: 'string', sendToModel: false, policy: 'forbidModelGeneration' }],
    }),
  )
  stage.model.script(
    'desk',
    { calls: [{ name: 'mid', args: { message: 'Ask.' } }] },
    { text: 'The desk’s answer.' },
    { text: 'A second answer.' },
  )
  stage.model.script('mid', { calls: [{ name: 'leaf', args: { message: 'Look.' } }] }, { text: 'The middle’s answer.' })
  stage.model.script('leaf', { text: 'The leaf’s answer.' })
  const run = await stage.ask('desk', 'First question?', { id, parameters: { country: 'France', userId: hidden } })
  assert.equal(run.status, 'completed')
})
after(() => stage?.close())

const texts = (messages: DocumentMessage[]) => messages.map((message) => message.text).filter(Boolean)
const called = (document: ConversationDocument) => document.messages.flatMap((message) => message.toolCalls ?? [])

test('each agent of the path has its document, read with raw slashes [R18] [R19] [R20] [R22]', async () => {
  for (const [path, owner] of [
    [id, 'desk'],
    [`${id}/mid`, 'mid'],
    [`${id}/mid/leaf`, 'leaf'],
  ] as const) {
    const document = await stage.document(path)
    assert.equal(document.id, path)
    assert.equal(document.agent, owner)
    assert.deepEqual(document.openCalls, [])
    assert.ok(Date.parse(document.createdAt) <= Date.parse(document.lastMessageAt))
  }
})

test('a document holds its own agent’s words and calls, not those below it [R08] [R21]', async () => {
  const desk = await stage.document(id)
  assert.deepEqual(texts(desk.messages.filter((message) => message.role === 'user')), ['First question?'])
  assert.equal(texts(desk.messages).at(-1), 'The desk’s answer.')
  assert.equal(desk.messages.find((message) => message.text === 'First question?')?.author, 'user')
  assert.equal(desk.messages.find((message) => message.text === 'The desk’s answer.')?.author, 'desk')
  const [call, ...others] = called(desk)
  assert.deepEqual(others, [])
  assert.equal(call?.name, 'mid')
  assert.deepEqual(call?.arguments, { message: 'Ask.' })
  assert.equal(call?.result, 'The middle’s answer.')
  assert.equal(call?.document, `${id}/mid`)
  assert.equal(JSON.stringify(desk).includes('The leaf’s answer.'), false)
  assert.ok(JSON.stringify(desk.linkedConversations).includes(`${id}/mid`))
})

test('the delegated task is the user’s message of the sub-agent’s document [F17]', async () => {
  const leaf = await stage.document(`${id}/mid/leaf`)
  assert.deepEqual(texts(leaf.messages), ['Look.', 'The leaf’s answer.'])
  assert.equal(leaf.messages[0]?.role, 'user')
  for (const message of leaf.messages) assert.equal(Number.isNaN(Date.parse(message.date)), false)
})

test('a document lists the parameters its agent declares, a hidden one without its value [R34] [C18]', async () => {
  assert.deepEqual((await stage.document(id)).parameters, { country: { value: 'France', sendToModel: true } })
  assert.deepEqual((await stage.document(`${id}/mid`)).parameters, {})
  const leaf = await stage.document(`${id}/mid/leaf`, 'detail=full')
  assert.deepEqual(Object.keys(leaf.parameters), ['userId'])
  assert.equal('value' in (leaf.parameters.userId ?? {}), false)
  assert.equal(JSON.stringify(leaf).includes(hidden), false)
})

test('simple detail leaves the calls out [Rb54]', async () => {
  const simple = await stage.document(id, 'detail=simple')
  assert.deepEqual(called(simple), [])
  assert.ok(texts(simple.messages).includes('The desk’s answer.'))
})

test('before and after cut by date, exclusively, and never together [Rb54]', async () => {
  await new Promise((resolve) => setTimeout(resolve, 10))
  await stage.run(id, { prompt: 'Second question?' })
  const { messages } = await stage.document(id)
  const second = messages.find((message) => message.text === 'Second question?')
  assert.ok(second)
  const date = encodeURIComponent(second.date)
  const earlier = await stage.document(id, `before=${date}`)
  assert.equal(texts(earlier.messages).at(-1), 'The desk’s answer.')
  const later = await stage.document(id, `after=${date}`)
  assert.equal(texts(later.messages).includes('Second question?'), false)
  assert.equal(texts(later.messages).includes('First question?'), false)
  const year = await stage.witan.call('GET', `/api/v1/documents/${id}?before=2026`)
  assertProblem(year, { status: 400, code: 'RUN_INPUT_INVALID', names: ['before', 'such as 2026-01-31'] })
  const both = await stage.witan.call('GET', `/api/v1/documents/${id}?before=${date}&after=${date}`)
  assertProblem(both, { status: 400 })
})

test('limit bounds the messages and hasMore says that there are more [Rb54]', async () => {
  const whole = await stage.document(id)
  assert.equal(whole.hasMore, false)
  const part = await stage.document(id, 'limit=1')
  assert.equal(part.messages.length, 1)
  assert.equal(part.hasMore, true)
})

test('cursors lead from page to page, each message comes once, and the ends have none [Rb54]', async () => {
  const whole = await stage.document(id)
  assert.deepEqual([whole.olderCursor, whole.newerCursor, whole.hasMore], [null, null, false])
  const walk = async (first: string, side: 'olderCursor' | 'newerCursor') => {
    const pages = [await stage.document(id, `${first}limit=1`)]
    for (let cursor = pages[0]?.[side]; cursor != null; cursor = pages.at(-1)?.[side]) {
      assert.equal(pages.at(-1)?.hasMore, true)
      pages.push(await stage.document(id, `cursor=${encodeURIComponent(cursor)}&limit=1`))
    }
    assert.equal(pages.at(-1)?.hasMore, false)
    return pages.flatMap(({ messages }) => messages)
  }
  assert.deepEqual((await walk('', 'olderCursor')).toReversed(), whole.messages)
  assert.deepEqual(await walk('after=2000-01-01&', 'newerCursor'), whole.messages)
})

test('a cursor beside a date is refused, and so is one that no page of this document gave [Rb54]', async () => {
  const { olderCursor } = await stage.document(id, 'limit=1')
  const cursor = encodeURIComponent(olderCursor ?? '')
  const at = (path: string, query: string) => stage.witan.call('GET', `/api/v1/documents/${path}?${query}`)
  for (const date of ['before', 'after'])
    assertProblem(await at(id, `cursor=${cursor}&${date}=2026-01-01`), { status: 400, names: ['cursor', date] })
  const foreign = { status: 422, code: 'BODY_INVALID', names: ['cursor'] }
  for (const [path, query] of [
    [`${id}/mid`, `cursor=${cursor}`],
    [id, `cursor=${cursor}x`],
    [id, 'cursor='],
    [id, 'cursor=c_1'],
  ] as const)
    assertProblem(await at(path, query), foreign)
  assertProblem(await at(id, `cursor=${'9'.repeat(5000)}`), { status: 400, names: ['cursor'] })
  assertProblem(await at(id, `cursor=${cursor}&cursor=${cursor}`), { status: 400, names: ['cursor'] })
})

test('a page without a size, of no known detail or from no date is refused [Rb54]', async () => {
  for (const query of ['limit=0', 'limit=201', 'limit=1.5', 'limit=all', 'detail=most', 'before=then', 'after=']) {
    const answer = await stage.witan.call('GET', `/api/v1/documents/${id}?${query}`)
    assertProblem(answer, { status: [400, 422], names: [query.split('=')[0] as string] })
  }
})

test('a path that nobody called is 404, whatever it lacks', async () => {
  for (const path of [`${id}/leaf`, `${id}/nobody`, 'chats/none', `${id}/mid/leaf/more`]) {
    assertProblem(await stage.witan.call('GET', `/api/v1/documents/${path}`), { status: 404, code: 'NOT_FOUND' })
  }
})
