/** What a model was asked is read from the log: its request, what came of it, what is hidden, and who read an entry. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defineTool, type FunctionTool, memoryStore, type Runtime } from '@witan/core'
import { call } from '@witan/core/testing'
import type { WitanError } from '@witan/protocol'
import { z } from 'zod'
import { assertAsked, linesOf, modelCallsOf } from '../support/asked.ts'
import { outliving } from '../support/reopen.ts'
import { createGate, createStage, until } from '../support/stage.ts'

const lookupDefinition = {
  name: 'lookup',
  description: 'Looks up.',
  parameters: z.object({ what: z.string() }),
  effect: 'none' as const,
  execute: ({ what }: { readonly what: string }) => `found ${what}`,
}
const lookup = defineTool(lookupDefinition)

const options = { tools: [lookup] }

/** The seq of the first event of that type and kind by this author. */
async function seqOf(
  runtime: Runtime,
  conversation: string,
  of: { type: string; kind: string | null; author: string },
) {
  const { events } = await runtime.readEvents(conversation, { verbose: true, limit: 1_000 })
  const found = events.find(({ type, kind, author }) => type === of.type && kind === of.kind && author === of.author)
  return found?.seq ?? assert.fail(`no ${of.type} ${of.kind} by ${of.author}`)
}

describe('model calls', () => {
  test('a list has each with what came of it, and the whole one what was asked and replied', async () => {
    const stage = createStage({
      agents: [{ id: 'boss', tools: ['lookup'] }],
      plays: { boss: [call('lookup', { what: 'x' }), 'done'] },
      options,
    })
    await stage.ask('boss', 'find x', { id: 'chats/1' })
    const calls = await modelCallsOf(stage.runtime, 'chats/1')
    assertAsked(calls, stage.requests)
    const [first, second] = calls
    assert.ok(first !== undefined && second !== undefined && calls.length === 2)
    const told = ({
      number,
      purpose,
      status,
      tools,
      messages,
      sameAsBefore,
      exact,
      masked,
      agent,
      error,
    }: typeof first) => ({
      ...{ number, purpose, status, tools, messages, sameAsBefore, exact, masked, agent, error },
    })
    const same = {
      purpose: 'answer',
      status: 'completed',
      tools: ['lookup'],
      exact: true,
      masked: false,
      agent: 'boss',
      error: null,
    }
    assert.deepEqual(told(first), { ...same, number: 1, messages: 2, sameAsBefore: 0 })
    assert.deepEqual(told(second), { ...same, number: 2, messages: 4, sameAsBefore: 2 })
    assert.deepEqual(
      first.reply?.toolCalls.map(({ name, arguments: written }) => [name, written]),
      [['lookup', '{"what":"x"}']],
    )
    assert.equal(second.reply?.text, 'done')
    const { events } = await stage.runtime.readEvents('chats/1', { verbose: true })
    const ends = events.filter(({ type, kind }) => type === 'end' && kind === 'model')
    assert.deepEqual(
      calls.map(({ id }) => id),
      ends.map(({ seq }) => String(seq)),
    )
    for (const [at, { content }] of ends.entries()) {
      const { startedAt, purpose, attempt, readUpTo } = content as Record<string, unknown>
      const { [at]: one } = calls
      assert.deepEqual([startedAt, purpose, attempt, readUpTo], [one?.startedAt, 'answer', one?.attempt, 1])
      assert.equal('digest' in content, false, 'no reader of events gets the digest')
    }
  })

  test('a call under way is there under the id of its agent’s call, and a failed one under that of its error', async () => {
    const gate = createGate()
    const stage = createStage({
      agents: [{ id: 'boss' }],
      plays: { boss: async () => gate.opened.then(() => new Error('no more')) },
    })
    const opened = await stage.runtime.start({ agent: 'boss', id: 'chats/1', prompt: 'go' })
    await until(() => stage.requests.length === 1)
    const [running] = await modelCallsOf(stage.runtime, 'chats/1')
    assert.deepEqual(
      [running?.id, running?.status, running?.reply, running?.endedAt, running?.exact],
      [opened.run?.runId, 'running', null, null, null],
    )
    assert.equal(running?.request?.messages.at(-1)?.content, 'go')
    gate.open()
    await opened.run?.result
    const [failed, ...rest] = await modelCallsOf(stage.runtime, 'chats/1')
    assert.deepEqual(rest, [])
    assert.deepEqual([failed?.status, failed?.reply, failed?.error?.code], ['failed', null, 'MODEL_CALL_FAILED'])
    assert.equal(failed?.exact, true)
    assertAsked([failed as NonNullable<typeof failed>], stage.requests)
  })

  test('pages go on where they ended, and a filter selects a run, a call or a document', async () => {
    const stage = createStage({
      agents: [{ id: 'boss', subAgents: [{ agent: 'leaf' }] }, { id: 'leaf' }],
      plays: { boss: [call('leaf', { message: 'm' }), 'done'], leaf: ['leaf said'] },
    })
    const { runId } = await stage.ask('boss', 'one', { id: 'chats/1' })
    await stage.run('chats/1', { prompt: 'two' })
    const all = await linesOf(stage.runtime, 'chats/1')
    assert.deepEqual(await linesOf(stage.runtime, 'chats/1', 1), all)
    const by = async (filter: object) =>
      (await stage.runtime.modelCalls.list('chats/1', filter)).items.map(({ id }) => id)
    const ids = (keep: (one: (typeof all)[number]) => boolean) => all.filter(keep).map(({ id }) => id)
    assert.deepEqual(
      await by({ run: runId }),
      ids((one) => one.runId === runId),
    )
    assert.deepEqual(
      await by({ document: 'chats/1/leaf' }),
      ids(({ agent }) => agent === 'leaf'),
    )
    const leaf = all.find(({ agent }) => agent === 'leaf')
    assert.deepEqual(
      await by({ call: leaf?.callId ?? '' }),
      ids(({ callId }) => callId === leaf?.callId),
    )
  })

  test('a tool that has changed since is named, and what is computed is what would be asked now', async () => {
    const store = outliving(memoryStore())
    const agents = [{ id: 'boss', tools: ['lookup'], subAgents: [{ agent: 'leaf' }] }, { id: 'leaf' }]
    const open = (tool: FunctionTool) =>
      createStage({ agents, plays: { boss: ['done'] }, options: { tools: [tool], store } })
    const before = open(lookup)
    await before.ask('boss', 'go', { id: 'chats/1' })
    await before.runtime.close()
    const { description: _, ...rest } = lookupDefinition
    const after = open(defineTool({ ...rest, description: 'Looks up more.' }))
    const [changed] = await modelCallsOf(after.runtime, 'chats/1')
    assert.deepEqual([changed?.exact, changed?.changed], [false, ['tools']])
    assert.equal(changed?.request?.tools[0]?.description, 'Looks up more.')
    await after.runtime.close()
    const again = open(lookup)
    const [same] = await modelCallsOf(again.runtime, 'chats/1')
    assert.deepEqual([same?.exact, same?.changed], [true, undefined])
    await again.runtime.close()
  })

  test('what is hidden from its agent is masked, also where a person typed it, and what was hidden later', async () => {
    const stage = createStage({
      agents: [{ id: 'boss', parameters: [{ name: 'code' }, { name: 'city' }] }],
      plays: { boss: (request) => `read ${request.messages.at(-1)?.content}` },
    })
    const parameters = { code: { value: 'cny_8812x', sendToModel: false }, city: 'Reykjavik' }
    await stage.ask('boss', 'my code is cny_8812x', { id: 'chats/1', parameters })
    const [before] = await modelCallsOf(stage.runtime, 'chats/1')
    assert.equal(before?.masked, true)
    assert.equal(before?.request?.messages.at(-1)?.content, 'my code is [hidden]')
    assert.match(before?.request?.messages[0]?.content ?? '', /Reykjavik/)
    const city = { value: 'Reykjavik', sendToModel: false }
    await stage.runtime.start({ agent: 'boss', id: 'chats/1', parameters: { city } })
    const [after] = await modelCallsOf(stage.runtime, 'chats/1')
    assert.match(after?.request?.messages[0]?.content ?? '', /city = "\[hidden\]"/)
    assert.equal(after?.exact, true, 'what was asked is still known')
    const text = JSON.stringify(await modelCallsOf(stage.runtime, 'chats/1'))
    assert.ok(!text.includes('cny_8812x') && !text.includes('Reykjavik'))
  })

  test('only the roles `admin` and `read` get them; for others the conversation is not there', async () => {
    const stage = createStage({ agents: [{ id: 'boss' }], plays: { boss: ['done'] } })
    const { principal } = stage.runtime
    const maker = stage.runtime.as({ ...principal, id: 'user:ann', roles: ['run'] })
    await (await maker.start({ agent: 'boss', id: 'chats/1', prompt: 'go' })).run?.result
    const reader = stage.runtime.as({ ...principal, id: 'user:bob', roles: ['read'] })
    assert.equal((await reader.modelCalls.list('chats/1')).items.length, 1)
    const missing = (error: WitanError) =>
      error.code === 'NOT_FOUND' && error.message.includes('no conversation `chats/1`')
    await assert.rejects(maker.modelCalls.list('chats/1'), missing)
    await assert.rejects(maker.modelCalls.get('chats/1', '4'), missing)
    await assert.rejects(maker.modelCalls.readers('chats/1', 1), missing)
    await assert.rejects(reader.modelCalls.get('chats/1', '1'), { code: 'NOT_FOUND' })
    await assert.rejects(reader.modelCalls.readers('chats/1', 99), { code: 'NOT_FOUND' })
  })
})

describe('readers of an entry', () => {
  test('a delegated answer is read as result, a reply as own, a message as message', async () => {
    const stage = createStage({
      agents: [{ id: 'boss', subAgents: [{ agent: 'leaf' }, { agent: 'other' }] }, { id: 'leaf' }, { id: 'other' }],
      plays: {
        boss: [call('leaf', { message: 'the task' }), call('other', { message: 'y' }), 'done'],
        leaf: ['leaf said'],
        other: ['other said'],
      },
    })
    await stage.ask('boss', 'hello', { id: 'chats/1' })
    const [one, two, three, four, five] = await linesOf(stage.runtime, 'chats/1')
    const readers = async (of: Parameters<typeof seqOf>[2]) => {
      const items = await stage.runtime.modelCalls.readers('chats/1', await seqOf(stage.runtime, 'chats/1', of))
      return items.items.map(({ agent, first, as }) => [agent, first, as])
    }
    assert.deepEqual(await readers({ type: 'message', kind: null, author: 'user' }), [['boss', one?.id, 'message']])
    assert.deepEqual(await readers({ type: 'start', kind: 'agent', author: 'leaf' }), [['leaf', two?.id, 'message']])
    assert.deepEqual(await readers({ type: 'end', kind: 'agent', author: 'leaf' }), [['boss', three?.id, 'result']])
    assert.deepEqual(await readers({ type: 'end', kind: 'model', author: 'leaf' }), [['boss', three?.id, 'result']])
    assert.deepEqual(await readers({ type: 'end', kind: 'model', author: 'boss' }), [['boss', three?.id, 'own']])
    assert.ok(four !== undefined && five !== undefined)
  })

  test('after a hand-over the other agent reads it attributed, a sub-agent with shared history shared', async () => {
    const stage = createStage({
      agents: [
        { id: 'boss', transfers: [{ agent: 'desk' }], tools: ['lookup'] },
        { id: 'desk', subAgents: [{ agent: 'leaf', history: 'shared' }] },
        { id: 'leaf' },
      ],
      plays: {
        boss: [call('lookup', { what: 'x' }), call('transfer_to_agent', { agent_name: 'desk' })],
        desk: [call('leaf', { message: 'm' }), 'done'],
        leaf: ['leaf said'],
      },
      options,
    })
    await stage.ask('boss', 'hello', { id: 'chats/1' })
    const readers = async (of: Parameters<typeof seqOf>[2]) => {
      const items = await stage.runtime.modelCalls.readers('chats/1', await seqOf(stage.runtime, 'chats/1', of))
      return items.items.map(({ agent, as }) => `${agent} ${as}`)
    }
    assert.deepEqual(await readers({ type: 'message', kind: null, author: 'user' }), [
      'boss message',
      'desk message',
      'leaf shared',
    ])
    assert.deepEqual(await readers({ type: 'end', kind: 'tool', author: 'boss' }), [
      'boss result',
      'desk attributed',
      'leaf shared',
    ])
  })
})
