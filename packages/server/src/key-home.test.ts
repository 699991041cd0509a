/** A key that belongs to the neighbouring request is refused with the request that takes it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { conversationRequestSchema, runRequestSchema } from '@witan/protocol/schemas'
import { createStage, type Stage } from './testing/stage.ts'

describe('a key in the wrong request', () => {
  let stage: Stage
  before(async () => {
    stage = await createStage()
  })
  after(() => stage.close())

  const refusal = async (path: string, body: object) => {
    const { status, body: problem } = await stage.call('POST', path, { body })
    return [status, problem.code, problem.path, problem.hint]
  }

  test('of a run, where a conversation begins', async () => {
    for (const key of Object.keys(runRequestSchema.shape).filter((one) => one !== 'prompt')) {
      const hint = `\`${key}\` belongs to a run: leave out \`prompt\` here, and send both to POST /api/v1/conversations/{id}/runs.`
      const body = { agent: 'clerk', prompt: 'x', [key]: false }
      assert.deepEqual(await refusal('/api/v1/conversations', body), [422, 'UNKNOWN_KEY', key, hint])
    }
  })

  test('of the start of a conversation, in a run', async () => {
    for (const key of Object.keys(conversationRequestSchema.shape).filter((one) => one !== 'prompt')) {
      const hint = `\`${key}\` belongs to the start of the conversation: send it to POST /api/v1/conversations.`
      assert.deepEqual(await refusal('/api/v1/conversations/chats:x/runs', { prompt: 'x', [key]: 1 }), [
        422,
        'UNKNOWN_KEY',
        key,
        hint,
      ])
    }
  })

  test('as the hint says, a run that is not waited for begins in two requests', async () => {
    const begun = await stage.call('POST', '/api/v1/conversations', {
      body: { agent: 'clerk', parameters: { country: 'x' } },
    })
    assert.equal(begun.status, 201)
    const path = `/api/v1/conversations/${String(begun.body.conversationId ?? begun.body.id).replace('/', ':')}/runs`
    const sent = await stage.call('POST', path, { body: { prompt: 'x', wait: false } })
    assert.equal(sent.status, 202)
  })
})
