/** The played model itself: it must misbehave exactly as told, or the tests that lean on it prove nothing. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createParser } from 'eventsource-parser'
import { createGate, createModelServer, type ModelServer } from './support/model-server.ts'
import { until } from './support/stage.ts'

interface Chunk {
  choices: {
    delta: { content?: string; tool_calls?: { index: number; function: { name?: string; arguments: string } }[] }
    finish_reason: string | null
  }[]
  usage?: { prompt_tokens: number; completion_tokens: number }
}

let model: ModelServer
before(async () => {
  model = await createModelServer()
})
after(() => model.close())

function post(body: Record<string, unknown>): Promise<Response> {
  return fetch(`${model.url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer test' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'hällo' }], ...body }),
  })
}

function chunks(text: string): Chunk[] {
  const found: Chunk[] = []
  const parser = createParser({ onEvent: ({ data }) => data !== '[DONE]' && found.push(JSON.parse(data) as Chunk) })
  parser.feed(text)
  return found
}

test('a request is kept byte for byte with its headers', async () => {
  model.script('keeps', { text: 'ok' })
  await (await post({ model: 'keeps', stream: true })).text()
  const [seen] = model.of('keeps')
  assert.equal(seen?.raw, '{"messages":[{"role":"user","content":"hällo"}],"model":"keeps","stream":true}')
  assert.equal(seen?.headers.authorization, 'Bearer test')
})

test('a text comes in pieces, with a usage chunk only where it was asked for', async () => {
  model.script('pieces', { text: 'abcdef', pieces: 3, usage: { input: 7, output: 2 } }, { text: 'x' })
  const found = chunks(
    await (await post({ model: 'pieces', stream: true, stream_options: { include_usage: true } })).text(),
  )
  assert.deepEqual(
    found.flatMap((chunk) => chunk.choices[0]?.delta.content ?? []),
    ['', 'ab', 'cd', 'ef'],
  )
  assert.deepEqual(found.map((chunk) => chunk.choices[0]?.finish_reason ?? null).filter(Boolean), ['stop'])
  assert.equal(found.at(-1)?.usage?.prompt_tokens, 7)
  const without = chunks(await (await post({ model: 'pieces', stream: true })).text())
  assert.equal(
    without.some((chunk) => chunk.usage),
    false,
  )
})

test('call arguments come in pieces and may be no JSON at all', async () => {
  model.script('calls', {
    calls: [
      { name: 'a', args: { n: 1 } },
      { name: 'b', rawArgs: '{"n":' },
    ],
    pieces: 4,
  })
  const found = chunks(await (await post({ model: 'calls', stream: true })).text())
  const parts = found.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? [])
  const whole = (index: number) =>
    parts
      .filter((part) => part.index === index)
      .map((part) => part.function.arguments)
      .join('')
  assert.equal(whole(0), '{"n":1}')
  assert.equal(whole(1), '{"n":')
  assert.ok(parts.length > 6)
})

test('a plain reply, an error and a cut stream are as told', async () => {
  model.script('odd', { text: 'hi', plain: true }, { status: 429 }, { text: 'abcd', cutAfter: 2 })
  const plain = (await (await post({ model: 'odd', stream: true })).json()) as {
    choices: { message: { content: string } }[]
  }
  assert.equal(plain.choices[0]?.message.content, 'hi')
  assert.equal((await post({ model: 'odd', stream: true })).status, 429)
  await assert.rejects(async () => (await post({ model: 'odd', stream: true })).text())
})

test('a held reply waits until it is let go, and a caller that hangs up is noticed', async () => {
  const [gate, never] = [createGate(), createGate()]
  model.script('held', { text: 'later', hold: gate }, { text: 'never', hold: never })
  const reply = post({ model: 'held' })
  await gate.entered
  gate.open()
  assert.match(await (await reply).text(), /later/)
  const caller = new AbortController()
  const given = fetch(`${model.url}/chat/completions`, {
    method: 'POST',
    body: '{"model":"held","messages":[]}',
    signal: caller.signal,
  })
  await never.entered
  caller.abort()
  await assert.rejects(given)
  await until(
    async () => model.of('held')[1]?.aborted,
    (aborted) => aborted === true,
  )
})

test('an unplanned request is refused and remembered', async () => {
  assert.equal((await post({ model: 'nobody' })).status, 400)
  assert.deepEqual(model.unexpected, ['unknown model nobody'])
})
