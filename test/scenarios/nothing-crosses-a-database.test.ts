/** Databases: what belongs to one is for every other as if it had never been. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localPrincipal, type Principal, type Witan } from '@witan/core'
import { call } from '@witan/core/testing'
import type { DatabaseId } from '@witan/protocol'
import { agent, createStage, type Stage, until } from '../support/stage.ts'

const from = (database: string): Principal => ({ ...localPrincipal, database: database as DatabaseId })

/** A conversation with a document below it, a finished run, and a run that waits. */
async function lived() {
  const stage = createStage({
    agents: [],
    plays: { root: [call('leaf', { message: 'go' }), 'done'], leaf: [call('Ask'), 'leaf done'] },
  })
  await stage.runtime.agents.saveAll([
    agent('root', { subAgents: [{ agent: 'leaf' }] }),
    agent('leaf', { actions: [{ name: 'Ask' }] }),
  ])
  const result = await stage.ask('root', 'hello', { id: 'chats/1' })
  const interruption = result.interruptions[0]?.id ?? ''
  return { stage, run: result.runId, interruption, other: stage.runtime.as(from('other')) }
}

/** What anybody can ask about a thing by its name. */
const questions: Readonly<Record<string, (witan: Witan, id: string) => Promise<unknown>>> = {
  'its conversation': (witan, id) => witan.getConversation(id),
  'its events': (witan, id) => witan.readEvents(id),
  'its log live': (witan, id) => firstOf(witan, id),
  'its document': (witan, id) => witan.getDocument(id),
  'a document below it': (witan, id) => witan.getDocument(`${id}/leaf`),
  'a message to it': (witan, id) => witan.run(id, { prompt: 'x' }),
  'a fork of it': (witan, id) => witan.forkConversation(id, { seq: 0 }),
  'its end': (witan, id) => witan.deleteConversation(id),
}

async function firstOf(witan: Witan, id: string): Promise<void> {
  for await (const _ of witan.followEvents(id, { signal: AbortSignal.timeout(30_000) })) return
}

/** The refusal with the name taken out: what must not differ between a foreign thing and one that is not there. */
async function refusal(work: Promise<unknown>, id: string): Promise<unknown> {
  return work.then(
    () => assert.fail(`${id} was there`),
    ({ name, code, message, path, hint }: Record<string, unknown>) =>
      JSON.parse(JSON.stringify({ name, code, message, path, hint }).replaceAll(id, '*')),
  )
}

test('[D17] [R11] what is another database’s and what is not there get the same answer', async () => {
  const { stage, run, interruption, other } = await lived()
  const before = await snapshot(stage)
  const same = async (ask: (id: string) => Promise<unknown>, foreign: string, missing: string) => {
    const told = (await refusal(ask(foreign), foreign)) as { code: string }
    assert.deepEqual(told, await refusal(ask(missing), missing))
    return told.code
  }
  for (const [what, ask] of Object.entries(questions))
    assert.equal(await same((id) => ask(other, id), 'chats/1', 'chats/9'), 'NOT_FOUND', what)
  const missing = interruption.replace(/.$/, '0x')
  assert.equal(await same((id) => other.getRun(id), run, `${run}0`), 'NOT_FOUND')
  assert.equal(await same((id) => other.cancelRun(id), run, `${run}0`), 'NOT_FOUND')
  await same((id) => other.answerInterruption(id, { answer: 1 }), interruption, missing)
  await other.agents.save(agent('mine', { actions: [{ name: 'Ask' }] }))
  await other.start({ agent: 'mine', id: 'chats/2' })
  await same((id) => other.run('chats/2', { actionResponses: [{ id, response: 1 }] }), interruption, missing)
  assert.equal(await same((id) => other.agents.get(id), 'root', 'xyzw'), 'NOT_FOUND')
  assert.equal(await same((id) => other.agents.graph(id), 'root', 'xyzw'), 'NOT_FOUND')
  assert.equal(await same((id) => other.agents.delete(id), 'root', 'xyzw'), 'NOT_FOUND')
  assert.equal(await same((id) => other.start({ agent: id, prompt: 'x' }), 'root', 'xyzw'), 'NOT_FOUND')
  await same((id) => other.agents.save(agent('boss', { subAgents: [{ agent: id }] })), 'leaf', 'xyzw')
  await same((id) => other.agents.subAgents.assign('mine', id), 'leaf', 'xyzw')
  assert.deepEqual(await snapshot(stage), before)
})

test('[R11] a task, and what it waits for, is there for its own database alone', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf', blocking: 'never' }] },
      { id: 'leaf', actions: [{ name: 'Ask' }] },
    ],
    plays: {
      root: (_, turn) => (turn === 0 ? call('leaf', { message: 'go' }) : 'done'),
      leaf: [call('Ask'), 'leaf done'],
    },
  })
  await stage.ask('root', 'hello', { id: 'chats/1' })
  await until(async () => (await stage.runtime.listInterruptions({ state: 'open' })).items.length === 1)
  const [task] = (await stage.runtime.tasks.list()).items
  const id = task?.taskId ?? ''
  const other = stage.runtime.as(from('other'))
  assert.deepEqual(await other.tasks.list(), { items: [], nextCursor: null })
  assert.deepEqual(await other.listInterruptions(), { items: [], nextCursor: null })
  for (const ask of [
    (one: string) => other.tasks.get(one),
    (one: string) => other.tasks.message(one, { text: 'x', mode: 'send' }),
    (one: string) => other.tasks.progress(one, { question: 'x' }),
    (one: string) => other.tasks.cancel(one),
    (one: string) => other.followRun(one),
  ]) {
    const told = (await refusal(ask(id), id)) as { code: string }
    assert.deepEqual(told, await refusal(ask(`${id}0`), `${id}0`))
    assert.equal(told.code, 'NOT_FOUND', String(ask))
  }
  await assert.rejects(other.liveRun('chats/1'), { code: 'NOT_FOUND' })
  assert.deepEqual((await stage.runtime.tasks.get(id)).status, 'waiting')
})

async function snapshot(stage: Stage): Promise<unknown> {
  const { runtime } = stage
  return [
    await runtime.agents.list(),
    await runtime.listConversations(),
    await runtime.listInterruptions(),
    await stage.events('chats/1'),
  ]
}

test('[R11] agents, conversations, interruptions and keys of one database are not in the lists of another', async () => {
  const { stage, other } = await lived()
  for (const items of [await other.agents.list(), await other.listConversations(), await other.listInterruptions()])
    assert.deepEqual(items, { items: [], nextCursor: null })
  // The same names mean other things there.
  await other.agents.save(agent('root', { instructions: 'You are leaf.' }))
  const opened = await other.start({ agent: 'root', id: 'chats/1', prompt: 'mine' })
  assert.equal(opened.created, true)
  await opened.run?.result
  assert.equal((await other.agents.get('root')).revision, 1)
  assert.equal((await stage.runtime.agents.get('root')).instructions, 'You are root.')
  const texts = async (witan: Witan) => (await witan.getDocument('chats/1')).messages.map(({ text }) => text)
  assert.deepEqual([(await texts(stage.runtime))[0], (await texts(other))[0]], ['hello', 'mine'])
  await other.deleteConversation('chats/1')
  await other.agents.delete('root')
  assert.equal((await stage.runtime.getConversation('chats/1')).status, 'waiting')

  const { idempotency } = stage.runtime
  const keyed = { method: 'POST', path: '/x', key: 'k', name: 'Idempotency-Key', digest: 'd' }
  const scope = (database: string) => ({ principal: from(database), ...keyed })
  const begun = await idempotency.begin(scope('default'))
  assert.ok(begun.state === 'fresh')
  await idempotency.finish(scope('default'), begun.reservation, { status: 200, body: 'secret' })
  assert.deepEqual(await idempotency.begin(scope('default')), { state: 'done', status: 200, body: 'secret' })
  assert.equal((await idempotency.begin(scope('other'))).state, 'fresh')
})
