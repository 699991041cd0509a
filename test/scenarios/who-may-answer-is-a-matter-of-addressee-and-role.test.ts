/** Who may answer what nobody is addressed by, who only hears of it, and who gets the values that an answer needs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Principal } from '@witan/core'
import { call } from '@witan/core/testing'
import type { DatabaseId } from '@witan/protocol'
import { actionsIn, createStage, until } from '../support/stage.ts'

const as = (id: string, ...roles: string[]): Principal => ({
  database: 'default' as DatabaseId,
  id,
  roles,
  address: null,
})
const owner = as('user:owner', 'run')
const stranger = as('user:stranger', 'run')
const answerer = as('key:desk', 'answer')
const reader = as('user:audit', 'read')
const admin = as('user:boss', 'admin')

async function waiting() {
  const stage = createStage({
    agents: [
      {
        id: 'root',
        parameters: [{ name: 'userId', sendToModel: false }],
        actions: [{ name: 'Do', parametersSample: { what: 'x' } }],
      },
    ],
    plays: { root: [call('Do', { what: 'it' }), 'done'] },
  })
  const opened = await stage.runtime
    .as(owner)
    .start({ agent: 'root', id: 'chats/1', prompt: 'go', parameters: { userId: 'u/1' } })
  const result = await opened.run?.result
  const [open] = actionsIn(result?.interruptions ?? [])
  assert.ok(open !== undefined)
  return { stage, open }
}

test('[D11] unaddressed, it is answered by the role `answer`, an admin, or `run` in a conversation of one’s own', async () => {
  for (const who of [owner, answerer, admin]) {
    const { stage, open } = await waiting()
    assert.equal((await stage.runtime.as(who).answerInterruption(open.id, { answer: who.id })).state, 'answered')
    await until(async () => (await stage.runtime.getConversation('chats/1')).status === 'idle')
    assert.equal(stage.requests[1]?.messages.at(-1)?.content, who.id)
  }
  const { stage, open } = await waiting()
  for (const who of [stranger, reader, as('user:nobody')]) {
    await assert.rejects(stage.runtime.as(who).answerInterruption(open.id, { answer: 1 }), { code: 'NOT_FOUND' })
    const body = { actionResponses: [{ id: open.id, response: 1 }] }
    const code = who === reader ? 'ACTION_NOT_FOUND' : 'NOT_FOUND'
    await assert.rejects(stage.runtime.as(who).run('chats/1', body), { code })
  }
  assert.equal((await stage.runtime.listInterruptions({ state: 'open' })).items.length, 1)
})

test('[Rb09] [C17] the bound values are for whoever may answer; others who read see what the model wrote, or nothing', async () => {
  const { stage, open } = await waiting()
  assert.deepEqual(open.arguments, { what: 'it', userId: 'u/1' })
  const listed = async (who: Principal) =>
    actionsIn((await stage.runtime.as(who).listInterruptions()).items).map(({ arguments: args }) => args)
  for (const who of [owner, answerer, admin]) assert.deepEqual(await listed(who), [open.arguments], who.id)
  assert.deepEqual(await listed(reader), [{ what: 'it' }])
  assert.deepEqual(await listed(stranger), [])
  const read = await stage.runtime.as(reader).getConversation('chats/1')
  assert.deepEqual(
    actionsIn(read.interruptions).map(({ arguments: args }) => args),
    [{ what: 'it' }],
  )
  const run = await stage.runtime.as(reader).getRun(read.activeRunId ?? '')
  assert.equal(JSON.stringify(run).includes('u/1'), false)
})

test('[D11] a page holds as many as it may, however many others are between them', async () => {
  const stage = createStage({
    agents: [{ id: 'root', users: [{ id: 'anna' }, { id: 'bob' }] }],
    plays: {
      root: ({ messages }) =>
        messages.some(({ role }) => role === 'tool')
          ? 'done'
          : {
              toolCalls: Array.from({ length: 30 }, (_, index) => ({
                name: 'ask_user',
                arguments: { user: index % 3 === 0 ? 'anna' : 'bob', message: `${index}` },
              })),
            },
    },
  })
  await stage.ask('root', 'go')
  const anna = stage.runtime.as(as('user:anna', 'answer'))
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page = await anna.listInterruptions({ limit: 4, cursor })
    seen.push(...page.items.map((one) => (one.kind === 'message' ? one.prompt : '')))
    cursor = page.nextCursor
  } while (cursor !== null)
  assert.deepEqual(seen, ['0', '3', '6', '9', '12', '15', '18', '21', '24', '27'])
})
