/** On what terms over HTTP: every limit, who is let in, and parameters that are given again. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { limitsSchema } from '@witan/protocol/schemas'
import { type Answer, createStage, type Stage } from './testing/stage.ts'

let stage: Stage
describe('on what terms', () => {
  before(async () => {
    stage = await createStage()
  })
  after(() => stage.close())

  const draft = (id: string, more: object = {}) => ({ id, model: 'play/model', instructions: 'x', ...more })
  const call = (method: string, path: string, body?: unknown) =>
    stage.call(method, path, body === undefined ? {} : { body })
  const start = (body: object) => call('POST', '/api/v1/conversations', body)
  const refused = (answer: Answer, status: number, code: string) =>
    assert.deepEqual([answer.status, answer.body.code, typeof answer.body.hint], [status, code, 'string'], answer.text)

  describe('limits over HTTP', () => {
    for (const limit of Object.keys(limitsSchema.shape)) {
      test(`[E33] limits.${limit}`, async () => {
        // Money comes in parts, everything else in whole numbers.
        const isMoney = limit === 'maxCostUsd'
        const bounds = isMoney ? 'a number above 0, at most \\d+' : 'an integer 1–\\d+'
        for (const value of [0, -1, ...(isMoney ? [] : [1.5]), 1e12, '5']) {
          const answer = await call('PUT', '/api/v1/agents/bad', draft('bad', { limits: { [limit]: value } }))
          refused(answer, 422, 'LIMIT_INVALID')
          assert.match(answer.body.detail ?? '', new RegExp(`^limits\\.${limit} must be ${bounds}\\.$`))
          assert.equal(answer.body.path, `limits.${limit}`)
        }
        assert.equal((await call('GET', '/api/v1/agents/bad')).status, 404)
      })
    }

    test('[E33] the cap of a conversation', async () => {
      for (const value of [0, -1, 1.5, 1e9, '5']) {
        const answer = await start({ agent: 'clerk', parameters: { country: 'x' }, maxModelIterationsPerCall: value })
        refused(answer, 422, 'LIMIT_INVALID')
      }
    })
  })

  describe('access over HTTP', () => {
    test('[E10] the one principal of a local server is user:local with every role; an agent of others is not there', async () => {
      const agents = [
        draft('by-id', { access: { call: ['user:local'] } }),
        draft('by-role', { access: { call: ['user:anna', 'role:run'] } }),
        draft('annas', { access: { call: ['user:anna', 'role:staff'] } }),
        draft('lead', { subAgents: [{ agent: 'annas' }, { agent: 'by-id' }] }),
      ]
      assert.equal((await call('POST', '/api/v1/agents/batch', { agents })).status, 200)
      assert.equal((await start({ agent: 'by-id', prompt: 'x' })).status, 201)
      assert.equal((await start({ agent: 'by-role', prompt: 'x' })).status, 201)
      const [closed, missing] = [
        await start({ agent: 'annas', prompt: 'x' }),
        await start({ agent: 'nobody', prompt: 'x' }),
      ]
      refused(closed, 404, 'NOT_FOUND')
      const plain = ({ body, headers }: Answer, id: string) => {
        const { requestId: _, ...rest } = body
        return [JSON.stringify(rest).replaceAll(id, '*'), headers.get('content-type')]
      }
      assert.deepEqual(plain(closed, 'annas'), plain(missing, 'nobody'))
      const direct = (id: string) => call('POST', `/api/v1/agents/lead/subagents/${id}/run`, { prompt: 'x' })
      refused(await direct('annas'), 404, 'NOT_FOUND')
      assert.equal((await direct('by-id')).status, 200)
      const listed = (await call('GET', '/api/v1/agents/annas')).body as { access?: unknown }
      assert.deepEqual(listed.access, { call: ['user:anna', 'role:staff'] })
      refused(
        await call('PUT', '/api/v1/agents/annas', draft('annas', { access: { call: ['anna'] } })),
        422,
        'AGENT_INVALID',
      )
    })
  })

  describe('a conversation that goes on', () => {
    test('[E19] the same values are fine, another is refused without being shown, and hiding holds', async () => {
      const id = 'chats/stays'
      const secret = 'employees/3-A'
      const again = (parameters: object, prompt?: string) =>
        start({ agent: 'clerk', id, parameters, ...(prompt === undefined ? {} : { prompt }) })
      assert.equal((await again({ country: 'Norway', userId: secret })).status, 201)
      assert.equal((await again({ country: 'Norway' }, 'hello')).status, 200)
      const other = await again({ userId: `${secret}-other`, country: { value: 'Norway', sendToModel: false } }, 'x')
      refused(other, 422, 'PARAM_FIXED')
      assert.equal(other.body.path, 'parameters.userId')
      assert.ok(!other.text.includes(secret))
      refused(await again({ contry: 'Norway' }), 422, 'PARAM_UNKNOWN')
      const shown = async () => (await call('GET', `/api/v1/documents/${id}`)).body.parameters
      assert.deepEqual(await shown(), {
        userId: { sendToModel: false },
        country: { value: 'Norway', sendToModel: true },
      })
      const tightened = await again({ country: { value: 'Norway', sendToModel: false } })
      assert.deepEqual([tightened.status, tightened.body.run], [200, null])
      await again({ country: { value: 'Norway', sendToModel: true } }, 'again')
      assert.deepEqual(await shown(), { userId: { sendToModel: false }, country: { sendToModel: false } })
    })
  })
})
