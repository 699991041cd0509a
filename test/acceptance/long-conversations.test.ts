/** What a conversation can have besides runs: calls that were brought along, an end, forks, and a history that is kept short. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assertProblem } from './support/claims.ts'
import { agent, createStage, type Stage, segment, sub, until } from './support/stage.ts'
import type { Conversation, ConversationDocument } from './support/wire.ts'

describe('long conversations', () => {
  let stage: Stage
  before(async () => {
    stage = await createStage()
    await stage.save(
      agent('desk', { actions: [{ name: 'Rename' }], subAgents: [sub('leaf')] }),
      agent('leaf'),
      agent('talker', { history: { trim: { kind: 'summarize', maxTokensBefore: 50, maxTokensAfter: 20 } } }),
    )
    stage.model.on('desk', ({ body: { messages } }) => {
      const last = messages.findLast(({ role }) => role === 'user')?.content
      if (messages.at(-1)?.role === 'tool') return { text: `after ${messages.at(-1)?.content}` }
      if (last === 'act') return { calls: [{ name: 'Rename', args: {} }] }
      return last === 'ask' ? { calls: [{ name: 'leaf', args: { message: 'look' } }] } : { text: `heard ${last}` }
    })
    stage.model.on('leaf', () => ({ text: 'seen' }))
  })
  after(() => stage?.close())

  const fork = <T = Conversation>(id: string, body: unknown) =>
    stage.witan.call<T>('POST', `/api/v1/conversations/${segment(id)}/fork`, { body })

  test('artificial actions stand behind the prompt in what the model reads and in the document [Rb52]', async () => {
    const { id } = await stage.begin('desk')
    const artificialActions = [{ name: 'Rename', response: { ok: true } }]
    const run = await stage.run(id, { prompt: 'hi', artificialActions })
    assert.equal(run.text, 'after {"ok":true}')
    const roles = stage.model
      .of('desk')
      .at(-1)
      ?.body.messages.map(({ role }) => role)
    assert.deepEqual(roles, ['system', 'user', 'assistant', 'tool'])
    const { messages } = await stage.document(id)
    const call = messages[1]?.toolCalls?.[0]
    assert.deepEqual([call?.name, call?.arguments, call?.result], ['Rename', {}, { ok: true }])
    assertProblem(await stage.runAnswer(id, { artificialActions }), { status: 400, code: 'RUN_INPUT_INVALID' })
  })

  test('parts of text are joined in order, and another part is refused by its name [Rb53]', async () => {
    const { id } = await stage.begin('desk')
    const text = (words: string) => ({ type: 'text', text: words })
    await stage.run(id, { prompt: [text('one'), text('two')] })
    assert.equal(stage.model.of('desk').at(-1)?.body.messages.at(-1)?.content, 'one\ntwo')
    const answer = await stage.runAnswer(id, { prompt: [text('one'), { type: 'image', url: 'x' }] })
    assertProblem(answer, { status: 422, code: 'BODY_INVALID' })
    assert.match(answer.text, /part 1 has type `image`.*send parts of type `text` or `file`/)
  })

  test('a conversation shows when it ends; then it is not found, with all its documents [Rb35] [E79]', async () => {
    const run = await stage.ask('desk', 'ask', { id: 'chats/short', expiresInSeconds: 1 })
    assert.equal(run.text, 'after seen')
    const path = '/api/v1/conversations/chats:short'
    await until(
      () => stage.witan.call('GET', path),
      ({ status }) => status === 404,
    )
    for (const gone of [path, '/api/v1/documents/chats/short/leaf', `/api/v1/runs/${run.runId}`]) {
      assertProblem(await stage.witan.call('GET', gone), { status: 404, code: 'NOT_FOUND' })
    }
    assertProblem(await stage.runAnswer('chats/short', { prompt: 'again' }), { status: 404, code: 'NOT_FOUND' })
    const later = await stage.begin('desk', { id: 'chats/later', expiresInSeconds: 3600 })
    const { createdAt, expiresAt } = (await stage.conversation(later.id)) as unknown as Record<string, string>
    assert.equal(Date.parse(expiresAt ?? '') - Date.parse(createdAt ?? ''), 3_600_000)
    assert.equal(((await stage.document(later.id)) as unknown as Record<string, unknown>).expiresAt, expiresAt)
  })

  test('a fork has the same log up to its seq, over all documents, and goes its own way [Rb55]', async () => {
    const first = await stage.ask('desk', 'ask', { id: 'chats/forked' })
    const { lastSeq: seq } = await stage.conversation('chats/forked')
    await stage.run('chats/forked', { prompt: 'original goes on' })
    const { status, body } = await fork('chats/forked', { seq })
    assert.equal(status, 201)
    assert.match(body.id, /^chats\/.+/)
    assert.deepEqual([body.lastSeq, body.runs, body.status], [seq, [], 'idle'])
    const [copied, original] = [await stage.events(body.id), (await stage.events('chats/forked')).slice(0, seq)]
    assert.deepEqual(
      copied.map(({ seq: at, type, content }) => ({ at, type, content })),
      original.map(({ seq: at, type, content }) => ({ at, type, content })),
    )
    assert.equal((await stage.document(`${body.id}/leaf`)).messages.at(-1)?.text, 'seen')
    await stage.run(body.id, { prompt: 'fork goes on' })
    assert.deepEqual(
      stage.model
        .of('desk')
        .at(-1)
        ?.body.messages.map(({ content }) => content)
        .slice(-2),
      ['after seen', 'fork goes on'],
    )
    const run = await stage.witan.call<{ conversationId: string }>('GET', `/api/v1/runs/${first.runId}`)
    assert.equal(run.body.conversationId, 'chats/forked', 'a copied run is history')
  })

  test('in the middle of a run there is no fork; the last place before it is named [Rb55]', async () => {
    await stage.ask('desk', 'hello', { id: 'chats/open' })
    const { lastSeq } = await stage.conversation('chats/open')
    const waiting = await stage.run('chats/open', { prompt: 'act' })
    const now = (await stage.conversation('chats/open')).lastSeq
    const refused = await fork('chats/open', { seq: now })
    assertProblem(refused, { status: 409, code: 'FORK_OPEN_CALLS' })
    assert.match(refused.text, new RegExp(`last legal seq is ${lastSeq}\\.`))
    assertProblem(await fork('chats/open', { seq: now + 1 }), { status: 409, code: 'EVENT_ID_AHEAD' })
    assertProblem(await fork('chats/none', { seq: 0 }), { status: 404, code: 'NOT_FOUND' })
    assertProblem(await fork('chats/open', { seq: lastSeq, id: 'chats/open' }), { status: 422, code: 'NAME_TAKEN' })
    const { body } = await fork('chats/open', { seq: lastSeq, id: 'copies/1' })
    assert.deepEqual([body.id, body.interruptions], ['copies/1', []])
    const foreign = { actionResponses: [{ id: waiting.interruptions[0]?.id, response: 1 }] }
    assertProblem(await stage.runAnswer('copies/1', foreign), { status: 404, code: 'ACTION_NOT_FOUND' })
    assert.equal((await stage.run('chats/open', foreign)).status, 'completed')
  })

  test('a long history is summarised for the model by the model, counted, and kept in the document [Rb38] [Rb39]', async () => {
    const long = 'word '.repeat(60).trim()
    stage.model.script(
      'talker',
      { text: 'first', usage: { input: 80, output: 5 } },
      { text: 'they said many words' },
      { text: 'second' },
    )
    await stage.ask('talker', long, { id: 'chats/long' })
    const run = await stage.run('chats/long', { prompt: 'and now?' })
    assert.deepEqual([run.text, run.usage.modelCalls], ['second', 2])
    const [, condense, answer] = stage.model.of('talker').map(({ body }) => body.messages)
    assert.ok(String(condense?.[1]?.content).includes(`user: ${long}\nassistant: first`))
    assert.deepEqual(
      answer?.slice(1).map(({ role, content }) => [role, content]),
      [['user', '[from @witan to @talker] Summary of the conversation so far: they said many words\n\nand now?']],
    )
    const summary = (await stage.events('chats/long')).find(({ type }) => type === 'summary')
    assert.deepEqual(summary?.content, { document: 'chats/long', upToSeq: 4 })
    const { messages } = await stage.document('chats/long')
    assert.deepEqual(
      messages.map(({ text }) => text),
      [long, 'first', 'and now?', 'second'],
    )
    const bad = agent('talker', { history: { trim: { kind: 'truncate', messagesBefore: 1, messagesAfter: 2 } } })
    assertProblem(await stage.witan.call('PUT', '/api/v1/agents/talker', { body: bad }), {
      status: 422,
      code: 'LIMIT_INVALID',
    })
  })

  test('full detail adds to each call when it was and what it cost below [Rb54]', async () => {
    await stage.ask('desk', 'ask', { id: 'chats/detail' })
    const calls = async (detail: string) => {
      const { messages }: ConversationDocument = await stage.document('chats/detail', `detail=${detail}`)
      return messages.flatMap(({ toolCalls }) => toolCalls ?? []) as unknown as Record<string, unknown>[]
    }
    assert.deepEqual(await calls('simple'), [])
    const [detailed] = await calls('detailed')
    assert.deepEqual(Object.keys(detailed ?? {}), ['id', 'name', 'arguments', 'result', 'document'])
    const [full] = await calls('full')
    assert.equal((full?.['usage'] as { modelCalls: number } | undefined)?.modelCalls, 1)
    assert.ok(Date.parse(String(full?.startedAt)) <= Date.parse(String(full?.endedAt)))
  })
})
