/** The principal of a run: kept from its start to the end of everything below it, whoever speaks meanwhile and whoever goes on. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineTool, memoryStore, type Principal, type RuntimeOptions } from '@witan/core'
import { call, lastUserMessage, scriptedModel } from '@witan/core/testing'
import type { DatabaseId } from '@witan/protocol'
import { z } from 'zod'
import { fakeClock } from '../support/clock.ts'
import { storedEntries } from '../support/claims.ts'
import { cast, createGate, createStage, type Play, type Stage, until, written } from '../support/stage.ts'

const principal = (id: string, roles: readonly string[], address: string | null = null): Principal => ({
  database: 'default' as DatabaseId,
  id,
  roles,
  address,
})
const anna = principal('user:anna', ['run', 'staff'], 'anna@example.com')
const root = principal('user:root', ['admin'])

/** A tool that notes whom it works for. */
function witness() {
  const seen: [agent: string, principal: Principal][] = []
  const tool = defineTool({
    name: 'note',
    description: 'Notes.',
    parameters: z.object({}),
    effect: 'none',
    execute: (_args, context) => {
      seen.push([context.agent, context.principal])
      return 'noted'
    },
  })
  return { seen, tool }
}

const note = call('note')
const noting: Play = (_, turn) => (turn === 0 ? note : 'done')

function staged(options: RuntimeOptions, plays: Readonly<Record<string, Play>>): Stage {
  return createStage({
    agents: [
      {
        id: 'root',
        tools: ['note'],
        subAgents: [{ agent: 'child' }, { agent: 'worker', blocking: 'never' }],
        transfers: [{ agent: 'target' }],
      },
      { id: 'child', tools: ['note'] },
      { id: 'worker', tools: ['note'] },
      { id: 'target', tools: ['note'] },
    ],
    plays,
    options,
  })
}

test('[C31] a sub-agent, a task, a hand-over and a hidden follow-up work for whom their run began with', async () => {
  const { seen, tool } = witness()
  const root: Play = (request, turn) => {
    if (turn === 0) return note
    if (lastUserMessage(request).includes('is completed')) return 'done'
    if (turn === 1) return { toolCalls: ['child', 'worker'].map((name) => ({ name, arguments: { message: 'go' } })) }
    return turn === 2 ? call('transfer_to_agent', { agent_name: 'target' }) : 'done'
  }
  const stage = staged({ tools: [tool] }, { root, child: noting, worker: noting, target: noting })
  const opened = await stage.runtime.as(anna).start({ agent: 'root', id: 'chats/1', prompt: 'go' })
  assert.equal((await opened.run?.result)?.status, 'completed')
  await until(async () => (await stage.runtime.getConversation('chats/1')).runs.length === 2)
  await until(async () => (await stage.runtime.getConversation('chats/1')).status === 'idle')
  assert.deepEqual(seen.map(([agent]) => agent).sort(), ['child', 'root', 'root', 'target', 'worker'])
  for (const [agent, { database, id, roles, address }] of seen)
    assert.deepEqual([database, id, roles, address], ['default', 'user:anna', anna.roles, anna.address], agent)
  assert.ok(seen.every(([, one]) => Object.isFrozen(one) && Object.isFrozen(one.roles)))
})

test('[C31] the words of another person in a live run do not change whom it works for', async () => {
  const { seen, tool } = witness()
  const held = createGate()
  const play: Play = async (request, turn) => {
    if (turn === 0) await held.opened
    return JSON.stringify(request.messages.at(-1)).includes('noted') ? 'done' : note
  }
  const stage = staged({ tools: [tool] }, { root: play })
  const opened = await stage.runtime.as(anna).start({ agent: 'root', id: 'chats/1', prompt: 'go' })
  const joined = await stage.runtime.as(root).run('chats/1', { prompt: 'and this' })
  assert.equal(joined.runId, opened.run?.runId)
  held.open()
  await joined.result
  assert.deepEqual([...new Set(seen.map(([, { id }]) => id))], ['user:anna'])
  await (await stage.runtime.as(root).run('chats/1', { prompt: 'again' })).result
  assert.equal(seen.at(-1)?.[1].id, 'user:root')
})

test('[C31] another process goes on for the same principal, and the local one leaves no trace in a log', async () => {
  const { seen, tool } = witness()
  const store = memoryStore()
  const plays = { root: ((_, turn) => (turn === 0 ? call('Ask') : turn === 1 ? note : 'done')) as Play }
  const runtime = () =>
    createRuntime({
      clock: fakeClock(),
      models: { 'play/model': scriptedModel(cast(plays)) },
      agents: [written({ id: 'root', tools: ['note'], actions: [{ name: 'Ask' }] })],
      tools: [tool],
      store,
    })
  const first = runtime()
  for (const [who, id] of [
    [anna, 'chats/1'],
    [first.principal, 'chats/2'],
  ] as const) {
    const opened = await first.as(who).start({ agent: 'root', id, prompt: 'go' })
    assert.equal((await opened.run?.result)?.status, 'waiting')
  }
  const starts = async (id: string) =>
    (await storedEntries(store, id)).flatMap((entry) =>
      entry.type === 'start' && entry.kind === 'agent' ? [entry.body.principal] : [],
    )
  assert.deepEqual(await starts('chats/1'), [{ id: 'user:anna', roles: ['run', 'staff'], address: 'anna@example.com' }])
  assert.deepEqual(await starts('chats/2'), [undefined])
  for (const id of ['chats/1', 'chats/2'])
    assert.doesNotMatch(JSON.stringify((await first.readEvents(id, { verbose: true })).events), /staff|example\.com/)
  const second = runtime()
  for (const { id } of (await second.listInterruptions()).items) await second.answerInterruption(id, { answer: 1 })
  await until(async () => (await second.listConversations()).items.every(({ status }) => status === 'idle'))
  assert.deepEqual(seen.map(([, { id }]) => id).sort(), ['user:anna', 'user:local'])
})

test('[C31] [F22] ended tasks of two people are reported in a follow-up for each of them', async () => {
  const { seen, tool } = witness()
  const held = createGate()
  const play: Play = (request, turn) => {
    if (turn > 0) return 'done'
    return lastUserMessage(request).includes('is completed')
      ? note
      : call('worker', { message: lastUserMessage(request) })
  }
  const worker: Play = async () => {
    await held.opened
    return 'worked'
  }
  const stage = staged({ tools: [tool] }, { root: play, worker })
  for (const who of [anna, root]) {
    const opened = await stage.runtime.as(who).start({ agent: 'root', id: 'chats/1', prompt: `for ${who.id}` })
    await opened.run?.result
  }
  held.open()
  await until(() => seen.length === 2)
  await until(async () => (await stage.runtime.getConversation('chats/1')).status === 'idle')
  assert.deepEqual(seen.map(([, { id }]) => id).sort(), ['user:anna', 'user:root'])
})
