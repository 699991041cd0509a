/** Numbers of a body that JavaScript would change: what takes a text gets their digits, what takes a number is refused by name. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createStage, type Stage } from './testing/stage.ts'

const numbers = ['2512292042121000001', '-9007199254740993', '1e400', '1e-400']
const conversations = '/api/v1/conversations'
const saved = (more: string) => `{"id":"bad","model":"play/model","instructions":"x",${more}}`
const bounded = (bound: string) => saved(`"outputSchema":{"type":"object","properties":{"n":${bound}}}`)
const given = (parameters: string) => `{"agent":"meter","parameters":{${parameters}}}`

/** What is sent, with `@` for the number; the code of the refusal, and words of it. */
const refused: readonly (readonly [string, string, string, string, string, ...string[]])[] = [
  [
    'a parameter',
    'POST',
    conversations,
    given('"count":@'),
    'PARAM_TYPE',
    '`count` must be a number',
    'only a string keeps',
  ],
  [
    'a hidden one',
    'POST',
    conversations,
    given('"count":{"value":@,"sendToModel":false}'),
    'PARAM_TYPE',
    '`count`',
    'only a string keeps',
  ],
  ['a list', 'POST', conversations, given('"counts":[1,@]'), 'PARAM_TYPE', '`counts`', 'only a string keeps'],
  ['a limit', 'PUT', '/api/v1/agents/bad', saved('"limits":{"maxDepth":@}'), 'LIMIT_INVALID', 'limits.maxDepth'],
  [
    'a bound of a schema',
    'PUT',
    '/api/v1/agents/bad',
    bounded('{"maximum":@}'),
    'AGENT_INVALID',
    '`maximum`',
    'n',
    '9007199254740991',
  ],
  ['a length of a schema', 'PUT', '/api/v1/agents/bad', bounded('{"maxLength":@}'), 'AGENT_INVALID', '`maxLength`'],
]

describe('long numbers in a body', () => {
  let stage: Stage
  before(async () => {
    stage = await createStage()
    const types = { id: 'string', any: 'any', count: 'number', counts: 'number[]' }
    const parameters = Object.entries(types).map(([name, type]) => ({ name, type }))
    await stage.call('PUT', '/api/v1/agents/meter', {
      body: { id: 'meter', model: 'play/model', instructions: 'You count.', parameters },
    })
  })
  after(() => stage.close())

  for (const [name, method, path, body, code, ...words] of refused)
    test(`refused by name: ${name}`, async () => {
      for (const number of numbers) {
        const answer = await stage.call(method, path, { raw: body.replace('@', number) })
        assert.deepEqual([answer.status, answer.body.code], [422, code], answer.text)
        for (const word of words) assert.ok(answer.body.detail?.includes(word), answer.text)
        assert.equal(answer.text.includes(number), false, answer.text)
      }
    })

  test('a parameter that takes a text has every digit', async () => {
    for (const number of numbers) {
      const answer = await stage.call('POST', conversations, {
        raw: given(`"id":${number},"any":${number},"count":1,"counts":[]`),
      })
      assert.equal(answer.status, 201, answer.text)
      const { parameters } = await stage.runtime.getDocument(String(answer.body.id))
      assert.deepEqual([parameters.id?.value, parameters.any?.value], [number, number])
    }
  })

  test('an answer to an action has every digit, and so has the call that it answers', async () => {
    for (const number of numbers) {
      const started = await stage.call('POST', conversations, {
        body: { agent: 'clerk', parameters: { country: 'x' }, prompt: 'rename' },
      })
      assert.equal(started.status, 201, started.text)
      const id = String(started.body.id)
      const listed = await stage.call('GET', '/api/v1/interruptions')
      const open = (listed.body.items as { id: string }[])[0]?.id ?? ''
      const answered = await stage.call('POST', `/api/v1/interruptions/${encodeURIComponent(open)}/answer`, {
        raw: `{"answer":{"id":${number}}}`,
      })
      assert.equal(answered.status, 200, answered.text)
      const { messages } = await stage.runtime.getDocument(id)
      const [result] = messages.flatMap(({ toolCalls }) => toolCalls.map((call) => JSON.stringify(call.result)))
      assert.ok(result?.includes(number), result)
    }
  })
})
