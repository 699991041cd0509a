/**
 * A small real model behind a server on this machine. What it says is judged loosely, as it may be nonsense; what goes over the wire
 * strictly: every request is taken, every reply is read whole, and a schema is kept or refused by name.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { compare } from '../../examples/process-discovery/command.ts'
import { createRuntime, type Runtime } from '@witan/core'
import { witan } from '../../examples/northwind/command.ts'
import { assertSound } from '../support/claims.ts'
import { agent, type AgentDraft, allEvents } from '../support/stage.ts'

const target = process.env.WITAN_LOCAL_MODEL_URL?.replace(/\/+$/, '') ?? ''
const model = process.env.WITAN_LOCAL_MODEL ?? ''

/** Stands before the server and notes what it answers to. */
const seen: { readonly status: number; readonly body: Readonly<Record<string, unknown>>; readonly text: string }[] = []
const proxy = createServer(async (request, response) => {
  const asked = await buffer(request)
  const body = asked.length > 0 ? asked.toString('utf8') : null
  const { method = 'GET', url = '/' } = request
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${target}${url}`, { method, headers, body })
  const text = answer.ok ? '' : await answer.clone().text()
  seen.push({ status: answer.status, body: body === null ? {} : JSON.parse(body), text })
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
  if (answer.body === null) response.end()
  else Readable.fromWeb(answer.body as never).pipe(response)
})

/** What was sent since the last look; the server took all of it. */
function taken(): readonly Readonly<Record<string, unknown>>[] {
  const all = seen.splice(0)
  assert.ok(all.length > 0, 'the model was asked')
  for (const { status, text } of all) assert.equal(status, 200, text)
  return all.map(({ body }) => body)
}

/** Short replies: a small model seldom knows when to stop. */
const brief = { maxOutputTokens: 64, temperature: 0 } as const

describe('a small model on this machine', () => {
  let baseUrl = ''
  before(async () => {
    await once(proxy.listen(0, '127.0.0.1'), 'listening')
    baseUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  })
  after(async () => {
    proxy.closeAllConnections()
    proxy.close()
  })

  function open(draft: Omit<AgentDraft, 'id'>): Runtime {
    const connections = { local: { kind: 'openai-compatible', baseUrl } } as const
    return createRuntime({ connections, agents: [{ ...agent('root', draft), model: `local/${model}` }] })
  }

  test('chats: two turns, with words and a count of tokens each', async () => {
    const runtime = open(brief)
    const chat = runtime.conversation('root', { id: 'chats/1' })
    for (const prompt of ['My name is Ada. Say hello to me.', 'What is my name?']) {
      const result = await chat.run(prompt)
      assert.deepEqual([result.status, result.error], ['completed', null])
      assert.notEqual(result.text.trim(), '')
      assert.ok((result.usage.inputTokens ?? 0) > 0 && (result.usage.outputTokens ?? 0) > 0)
    }
    const [, second] = taken()
    assert.equal(((second?.['messages'] ?? []) as unknown[]).length, 4)
    assertSound(await allEvents(runtime, 'chats/1'))
    await runtime.close()
  })

  test('streams: the pieces make the reply', async () => {
    const runtime = open(brief)
    await runtime.start({ agent: 'root', id: 'chats/1' })
    const reading = new AbortController()
    let text = ''
    let pieces = 0
    const reader = (async () => {
      for await (const event of runtime.followEvents('chats/1', { signal: reading.signal, verbose: true })) {
        if (event.type !== 'delta') continue
        pieces += 1
        if ('text' in event.content) text += event.content.text
      }
    })()
    const result = await (await runtime.run('chats/1', { prompt: 'Count from one to ten.' })).result
    reading.abort()
    await reader
    assert.equal(result.status, 'completed')
    assert.equal(text, result.text)
    assert.ok(pieces > 1, 'in more than one piece')
    taken()
    await runtime.close()
  })

  test('answers a schema, or the run says by name that it did not', async () => {
    const outputSchema = {
      type: 'object',
      properties: { city: { type: 'string' }, warm: { type: 'boolean' } },
      required: ['city', 'warm'],
      additionalProperties: false,
    }
    const runtime = open({ ...brief, outputSchema })
    const result = await runtime.conversation('root').run('Name a city, and whether it is warm there. Answer in JSON.')
    const requests = taken()
    assert.ok(requests.every((body) => (body['response_format'] as { type: string }).type === 'json_schema'))
    if (result.status === 'completed') {
      const output = result.output as { readonly city: unknown; readonly warm: unknown }
      assert.deepEqual([typeof output.city, typeof output.warm], ['string', 'boolean'])
    } else assert.match(result.error?.code ?? '', /^MODEL_(REPLY_INVALID|OUTPUT_LIMIT)$/)
    await runtime.close()
  })

  test('runs the Northwind example: it is asked with the tools of the front desk, and the run ends', async () => {
    const env = { WITAN_MODEL: 'openai-compatible', WITAN_BASE_URL: baseUrl, WITAN_MODEL_NAME: model }
    const words = ['run', 'company-assistant-agent', 'Who is my manager?', '--param', 'userId=employees/3']
    const { code, out, err } = await witan([...words, '--hide', 'userId'], { env })
    const [first] = taken()
    const tools = (first?.['tools'] ?? []) as readonly { readonly function: { readonly name: string } }[]
    assert.ok(tools.some(({ function: { name } }) => name === 'employee-profile-agent'))
    assert.doesNotMatch(out, /no language model is called/)
    // It may call tools that do not exist or answer without any: then the run fails by name, and never otherwise.
    if (code !== 0) assert.match(`${out}${err}`, /[A-Z]{3,}_[A-Z_]+/)
    assert.ok(code === 0 || code === 1, `${code}: ${err}`)
  })

  test('compares a set-up of the process discovery: it ends by itself, with a table and with what to do next', async () => {
    const env = { WITAN_BASE_URL: baseUrl }
    const { code, out, err } = await compare(['--setup', 'monolithic', '--model', `own/${model}`], env)
    const requests = taken()
    assert.ok(requests.length <= 120, `${requests.length} model calls`)
    assert.ok(requests.every((body) => (body['tools'] as unknown[]).length > 0))
    assert.match(out, /^Model: own\/.+\n\nset-up +agents +model calls/, err)
    assert.match(out, /\nmonolithic +1 +\d+ +\d/)
    // What it makes may be nothing, or nonsense. Then there is a line that says what, and why.
    assert.match(out, /\nmonolithic: (it saved no process model|left: |[A-Z_]{6,}: )|\b0 +–/)
    assert.ok(code === 0 || code === 1, `${code}: ${err}`)
  })
})
