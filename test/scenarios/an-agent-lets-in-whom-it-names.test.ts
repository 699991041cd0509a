/** `access`: who may run an agent as the root of a conversation. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Principal, Witan } from '@witan/core'
import { call } from '@witan/core/testing'
import type { DatabaseId } from '@witan/protocol'
import { agent, createStage, type Stage } from '../support/stage.ts'

const principal = (id: string, ...roles: string[]): Principal => ({
  database: 'default' as DatabaseId,
  id,
  roles,
  address: null,
})
const anna = principal('user:anna', 'run')
const bo = principal('user:bo', 'run', 'staff')
const key = principal('key:ab12', 'run')
const stranger = principal('user:eve', 'run', 'admin')

function staged(): Stage {
  return createStage({
    agents: [
      { id: 'front', subAgents: [{ agent: 'vault' }] },
      { id: 'vault', access: { call: ['user:anna', 'role:staff', 'key:ab12'] } },
      { id: 'nobody', access: { call: [] } },
    ],
    plays: {
      front: (_, turn) => (turn === 0 ? call('vault', { message: 'open' }) : 'done'),
      vault: () => 'opened',
      nobody: () => 'hm',
    },
  })
}

const said = async (witan: Witan, id: string) =>
  (await (await witan.start({ agent: id, prompt: 'open' })).run?.result)?.text

/** The error with the name of the agent taken out: what must not differ between one that is closed and one that is not there. */
async function refusal(work: Promise<unknown>, id: string): Promise<unknown> {
  return work.then(
    () => assert.fail('it was let in'),
    (error: { code: string; message: string; path: string; hint: string }) => {
      const { code, message, path, hint } = error
      return JSON.parse(JSON.stringify({ code, message, path, hint }).replaceAll(id, '*'))
    },
  )
}

test('[E10] who is named by id or by role starts a conversation; to others the agent is not there', async () => {
  const { runtime } = staged()
  for (const one of [anna, bo, key]) assert.equal(await said(runtime.as(one), 'vault'), 'opened')
  const missing = await refusal(runtime.as(stranger).start({ agent: 'missing', prompt: 'x' }), 'missing')
  assert.deepEqual((missing as { code: string }).code, 'NOT_FOUND')
  for (const body of [{ prompt: 'x' }, {}, { id: 'chats/1', prompt: 'x' }, { parameters: { no: 1 } }]) {
    const closed = await refusal(runtime.as(stranger).start({ agent: 'vault', ...body }), 'vault')
    assert.deepEqual(closed, missing)
  }
  for (const one of [anna, runtime.principal]) {
    assert.deepEqual(await refusal(runtime.as(one).start({ agent: 'nobody', prompt: 'x' }), 'nobody'), missing)
  }
  assert.equal((await runtime.listConversations()).items.length, 3)
})

test('[E10] [F42] a direct run asks the same, before its conversation is looked at', async () => {
  const { runtime } = staged()
  const direct = (witan: Witan, body: object = {}) =>
    witan.agents.subAgents.run('front', 'vault', { prompt: 'open', ...body })
  const first = await (await direct(runtime.as(anna))).result
  assert.equal(first.text, 'opened')
  const nobody = runtime.as(stranger).agents.subAgents.run('front', 'missing', { prompt: 'x' })
  const missing = await refusal(nobody, 'missing')
  const { conversationId } = first
  for (const body of [{}, { conversationId }, { conversationId: 'chats/none' }]) {
    assert.deepEqual(await refusal(direct(runtime.as(stranger), body), 'vault'), missing)
  }
})

test('[E10] a run of a conversation that is there asks it too, as the agent is by then', async () => {
  const { runtime } = staged()
  const { id } = await runtime.as(anna).start({ agent: 'vault', prompt: 'open' })
  await assert.rejects(runtime.as(stranger).run(id, { prompt: 'more' }), { code: 'NOT_FOUND' })
  await runtime.agents.save(agent('vault', { access: { call: ['user:eve'] } }))
  await assert.rejects(runtime.as(anna).run(id, { prompt: 'more' }), { code: 'NOT_FOUND' })
  assert.equal((await (await runtime.as(stranger).run(id, { prompt: 'more' })).result).text, 'opened')
})

test('[E10] [R02] delegation is decided by edges, not by access; listings show it', async () => {
  const { runtime } = staged()
  assert.equal(await said(runtime.as(stranger), 'front'), 'done')
  const { items } = await runtime.as(stranger).agents.list()
  assert.deepEqual(
    items.map(({ id, access }) => [id, access]),
    [
      ['front', { call: null }],
      ['nobody', { call: [] }],
      ['vault', { call: ['user:anna', 'role:staff', 'key:ab12'] }],
    ],
  )
})

test('[E10] what is no name of a principal, and an unknown key, are refused', async () => {
  const { runtime } = staged()
  const save = (access: unknown) => runtime.agents.save({ ...agent('open'), access: access as never })
  for (const name of ['anna', 'user:', 'user: anna', 'team:x', '', '@a', 7]) {
    await assert.rejects(save({ call: ['user:anna', name] }), { code: 'AGENT_INVALID', path: 'access.call.1' })
  }
  await assert.rejects(save({ calls: [] }), { code: 'UNKNOWN_KEY', hint: 'Did you mean `call`?' })
  const { agent: saved } = await save({ call: ['@a@b.example', 'role:run'] })
  assert.deepEqual(saved.access, { call: ['@a@b.example', 'role:run'] })
})
