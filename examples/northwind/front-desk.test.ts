/** The example as a person meets it: the command line, the real database, and no key in the environment. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { witan } from './command.ts'

const janet = ['--param', 'userId=employees/3', '--hide', 'userId']
const ask = (message: string, as: readonly string[] = janet) =>
  witan(['run', 'company-assistant-agent', message, ...as])

describe('the Northwind front desk, by its script', () => {
  test('Janet’s manager is Andrew Fuller, and the tree shows how that was found', async () => {
    const { code, out, err } = await ask('Who is my manager?')
    assert.deepEqual([code, err], [0, ''])
    assert.match(out, /no language model is called/)
    assert.match(out, /│ employee-profile-agent .*│ │ ✓ get-my-manager {2}\$userId {2}→ .*Andrew Fuller/s)
    assert.match(out, /\nYour manager is Andrew Fuller, Vice President, Sales/)
    assert.doesNotMatch(out, /employees\/3/)
  })

  test('other questions are answered from the database too', async () => {
    const questions: [string, RegExp][] = [
      [
        'Who is in my team, and who are my best customers?',
        /Nobody reports to you\.\n\n.*- QUICK-Stop \(Cunewalde, Germany\): \$22,782\.70 in 5 orders/s,
      ],
      ['What are my latest orders?', /- orders\/11063 of 1998-04-30 for Hungry Owl/],
      ['What is in order 10248?', /orders\/10248 comes to \$440\.00/],
      ['Who are our top customers in Germany?', /in Germany:\n- QUICK-Stop .*\n- Königlich Essen/],
      ['How much Chai is in stock?', /Chai: 39 in stock/],
      ['Who supplies Tofu?', /suppliers-agent.*Mayumi/s],
      ['What is the meaning of life?', /I am a script, not a language model/],
    ]
    const input = `${questions.map(([question]) => question).join('\n')}\n`
    const { code, out } = await witan(['chat', 'company-assistant-agent', ...janet], { input })
    assert.equal(code, 0)
    for (const [, answer] of questions) assert.match(out, answer)
  })

  test('a change of address waits for somebody', async () => {
    const { code, out } = await ask('Change my address to 12 Pike Street, Seattle, 98101, USA')
    assert.equal(code, 3)
    assert.match(out, /◆ employee-profile-agent\/ChangeMyAddress waits.*address +12 Pike Street.*userId +employees\/3/s)
  })

  test('without a userId nobody is asked about employees', async () => {
    const { code, out, err } = await ask('Who is my manager?', [])
    assert.equal(code, 1)
    assert.match(out, /DELEGATE_UNAVAILABLE/)
    assert.match(err, /MISSING_AGENT_PARAMETER/)
  })

  test('there is nothing to say against its agents', async () => {
    assert.match((await witan(['check'])).out, /0 errors, 0 warnings/)
  })
})

test('with a model in the environment the same agents use it', async () => {
  const asked: { readonly authorization: string | undefined; readonly body: string }[] = []
  const server = createServer(async (request, response) => {
    asked.push({ authorization: request.headers.authorization, body: await text(request) })
    const message = { role: 'assistant', content: 'I am a model.' }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: 'x', model: 'm-1', choices: [{ index: 0, message, finish_reason: 'stop' }] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const env = {
    WITAN_MODEL: 'openai-compatible',
    WITAN_BASE_URL: `http://127.0.0.1:${port}/v1`,
    WITAN_MODEL_NAME: 'm-1',
    WITAN_API_KEY: 'key-of-mine',
  }
  const { code, out } = await witan(['run', 'company-assistant-agent', 'Hello?', ...janet], { env })
  server.close()
  assert.equal(code, 0)
  assert.match(out, /I am a model\./)
  assert.doesNotMatch(out, /script/)
  assert.equal(asked[0]?.authorization, 'Bearer key-of-mine')
  assert.doesNotMatch(asked[0]?.body ?? '', /userId|employees\/3/)
})
