/** Parts that a model wants back with its reply: they return to that model, with those calls, and appear nowhere else. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  createRuntime,
  memoryStore,
  type ModelRequest,
  openaiCompatible,
  postgresStore,
  sqliteStore,
  type Store,
} from '@witan/core'
import { exportStore, importInto, exportText, readExport } from '@witan/core/export'
import { call, lastUserMessage, type ScriptedReply, scriptedModel, toolResults } from '@witan/core/testing'
import { createTestDatabase } from '../postgres/support/database.ts'
import { assertSound } from '../support/claims.ts'
import { outliving } from '../support/reopen.ts'
import { agent, createStage } from '../support/stage.ts'
import { deepseek } from '../support/vendors/chat-completions.ts'
import { type Dialect, loop, openVendor } from '../support/vendors/tape.ts'

const mark = 'sealed-thought-31'
const kept = { by: 'some model', parts: [{ thought: mark }] }

/** The kept parts that stand in a request, message by message. */
function keptIn(request: ModelRequest | undefined): unknown[] {
  return (request?.messages ?? []).flatMap((message) => (message.role === 'assistant' ? [message.kept ?? null] : []))
}

const asks = (name: string, more: Partial<ScriptedReply> = {}): ScriptedReply => ({ ...call(name), ...more })

test('they stand in the model’s end and on its message of every later request; a reply without any grows by nothing', async () => {
  const store = outliving(memoryStore())
  const stage = createStage({
    agents: [{ id: 'root', actions: [{ name: 'Ask' }] }],
    plays: { root: [asks('Ask', { kept }), 'done'] },
    options: { store },
  })
  const open = await stage.ask('root', 'hello', { id: 'chats/1' })
  await stage.run('chats/1', { actionResponses: [{ id: open.interruptions[0]?.id ?? '', response: 'yes' }] })
  await stage.run('chats/1', { prompt: 'again' })
  assert.deepEqual(stage.requests.map(keptIn), [[], [kept], [kept, null]])
  const { entries } = (await store.readSnapshot('default', 'chats/1')) ?? assert.fail('no conversation')
  const ends = entries.filter((entry) => entry.type === 'end' && entry.kind === 'model')
  assert.deepEqual(
    ends.map(({ body }) => 'kept' in body),
    [true, false, true],
  )
})

test('a parent, an event and a document hold nothing of them', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'child', history: 'shared' }] },
      { id: 'child', tools: [] },
    ],
    plays: {
      root: [asks('child', { ...call('child', { message: 'look' }), kept }), 'done'],
      child: [{ text: 'It is so.', kept: { by: 'child', parts: 'sealed-thought-child' } }],
    },
  })
  await stage.ask('root', 'hello', { id: 'chats/1' })
  const events = await stage.events('chats/1')
  assertSound(events)
  const documents = [await stage.document('chats/1'), await stage.document('chats/1/child')]
  assert.doesNotMatch(JSON.stringify([events, documents]), /sealed-thought/)
  assert.doesNotMatch(JSON.stringify(stage.seenBy('child')), /sealed-thought/)
  assert.doesNotMatch(JSON.stringify(stage.seenBy('root')), /sealed-thought-child/)
  assert.deepEqual(stage.reports, [])
})

test('[E19] they go where a value is hidden later, also one that no text is searched for', async () => {
  for (const parameter of [{ name: 'key' }, { name: 'key', policy: 'forbidModelGeneration' as const }]) {
    const stage = createStage({
      agents: [{ id: 'root', parameters: [parameter] }],
      plays: { root: () => ({ text: 'I know it.', kept }) },
    })
    await stage.ask('root', 'hello', { id: 'chats/1', parameters: { key: 'canary-one' } })
    await stage.run('chats/1', { prompt: 'again' })
    await stage.ask('root', 'hide', { id: 'chats/1', parameters: { key: { value: 'canary-one', sendToModel: false } } })
    await stage.run('chats/1', { prompt: 'more' })
    assert.deepEqual(stage.requests.map(keptIn), [[], [kept], [null, null], [null, null, kept]])
  }
})

test('[D15] a hidden value in their words is taken out like one in any text', async () => {
  const parameter = { name: 'key', policy: 'forbidModelGeneration', sendToModel: false } as const
  const said = { by: 'some model', parts: { reasoning_content: 'The key is canary-one, says the user.' } }
  const stage = createStage({
    agents: [{ id: 'root', parameters: [parameter] }],
    plays: { root: () => ({ text: 'Yes.', kept: said }) },
  })
  await stage.ask('root', 'hello', { id: 'chats/1', parameters: { key: 'canary-one' } })
  await stage.run('chats/1', { prompt: 'again' })
  const clean = { by: 'some model', parts: { reasoning_content: 'The key is [hidden], says the user.' } }
  assert.deepEqual(keptIn(stage.requests[1]), [clean])
})

test('[Rb38] they leave the view with the history that is trimmed', async () => {
  const trim = { kind: 'truncate', messagesBefore: 2, messagesAfter: 2 } as const
  const stage = createStage({
    agents: [{ id: 'root', history: { trim } }],
    plays: { root: (request) => ({ text: 'ok', kept: { by: 'some model', parts: lastUserMessage(request) } }) },
  })
  for (const prompt of ['one', 'two', 'three']) await stage.ask('root', prompt, { id: 'chats/1' })
  const parts = keptIn(stage.requests[2]).map((one) => (one as typeof kept).parts)
  assert.deepEqual(parts, ['two'])
})

test('[E26] calls that do not stand on the message take them along: a last answer’s, and those that got ids of their own', async () => {
  const twice = {
    toolCalls: [
      { id: 'a', name: 'x', arguments: {} },
      { id: 'a', name: 'x', arguments: {} },
    ],
    kept,
  }
  const stage = createStage({
    agents: [{ id: 'root' }, { id: 'short', limits: { maxIterations: 1 }, actions: [{ name: 'Ask' }] }],
    plays: { root: [twice, 'done'], short: [asks('x'), asks('Ask', { text: 'last', kept }), 'more'] },
  })
  await stage.ask('root', 'hello', { id: 'chats/1' })
  await stage.ask('short', 'hello', { id: 'chats/2' })
  await stage.run('chats/2', { prompt: 'again' })
  assert.deepEqual(keptIn(stage.seenBy('root')[1]), [null])
  assert.ok(stage.seenBy('short').length >= 3)
  for (const request of stage.seenBy('short')) assert.ok(keptIn(request).every((one) => one === null))
})

test('what a log cannot bear is dropped, and a notice says so', async () => {
  let deep: unknown = mark
  for (let level = 0; level < 100; level += 1) deep = [deep]
  const round: unknown[] = []
  round.push(round)
  for (const parts of ['x'.repeat(3_000_000), deep, round, 1n]) {
    const stage = createStage({
      agents: [{ id: 'root' }],
      plays: { root: [asks('nothing', { kept: { by: 'some model', parts } }), 'done'] },
    })
    assert.equal((await stage.ask('root', 'hello', { id: 'chats/1' })).status, 'completed')
    assert.deepEqual(keptIn(stage.requests[1]), [null])
    const notices = (await stage.events('chats/1')).filter(({ type }) => type === 'notice')
    assert.deepEqual(
      notices.map(({ content }) => content['code']),
      ['REPLY_PARTS_DROPPED'],
    )
    await stage.runtime.close()
  }
})

test('a server that refuses fields which it does not know is asked again without them', async () => {
  const words =
    "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]"
  const strict: Dialect = {
    ...deepseek,
    refusal: (body) => (JSON.stringify(body).includes('reasoning_content') ? words : null),
  }
  const vendor = await openVendor(strict, loop.slice(2))
  const model = openaiCompatible({ baseUrl: vendor.baseUrl, model: 'thinker' })
  const runtime = createRuntime({ models: { 'play/model': model }, agents: [agent('root')] })
  for (const prompt of ['one', 'two', 'three'])
    assert.equal((await runtime.conversation('root', { id: 'chats/1' }).run(prompt)).text, 'Rain everywhere.')
  assert.deepEqual([vendor.bodies.length, vendor.refusals.length], [4, 1])
  await Promise.all([runtime.close(), vendor.close()])
})

/** Runs up to the first action on one store, and on from there on what `moved` makes of it. */
async function goesOnElsewhere(store: Store, moved: (store: Store) => Promise<Store>): Promise<void> {
  const model = scriptedModel((request) => (toolResults(request).length > 0 ? 'done' : asks('Ask', { kept })), {
    id: 'play/model',
  })
  const options = { models: { 'play/model': model }, agents: [agent('root', { actions: [{ name: 'Ask' }] })] }
  const before = createRuntime({ ...options, store })
  const open = await before.conversation('root', { id: 'chats/1' }).run('hello')
  await before.close()
  const after = createRuntime({ ...options, store: await moved(store) })
  const actionResponses = [{ id: open.interruptions[0]?.id ?? '', response: 'yes' }]
  assert.equal((await (await after.run('chats/1', { actionResponses })).result).text, 'done')
  await after.close()
  assert.deepEqual(model.requests.map(keptIn), [[], [kept]])
}

async function copied(store: Store): Promise<Store> {
  const copy = memoryStore()
  for await (const item of readExport(linesOf(store))) await importInto(copy)(item)
  return copy
}

async function* linesOf(store: Store): AsyncGenerator<string> {
  for await (const line of exportStore(store, ['default'])) yield exportText(line)
}

async function stores(context: TestContext): Promise<readonly (() => Store)[]> {
  const folder = mkdtempSync(join(tmpdir(), 'witan-kept-'))
  const database = await createTestDatabase('')
  context.after(async () => {
    rmSync(folder, { recursive: true })
    await database.drop()
  })
  const memory = outliving(memoryStore())
  return [
    () => memory,
    () => sqliteStore({ file: join(folder, 'a.db') }),
    () => postgresStore({ url: database.adminUrl }),
  ]
}

test('[I1] another worker goes on with them, on each store, and after export and import', async (context) => {
  for (const open of await stores(context)) await goesOnElsewhere(open(), async () => open())
  await goesOnElsewhere(outliving(memoryStore()), copied)
})
