/** The example with a key of Google: a loopback server plays Gemini 3, signs each step, and refuses one that comes back without its signature. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import type { ModelReply, ModelRequest } from '@witan/core'
import { type Rule, scriptedModel } from '@witan/core/testing'
import { witan } from './command.ts'
import { companyAssistantScript } from './scripts/company-assistant.ts'
import { customersScript } from './scripts/customers.ts'
import { employeeProfileScript } from './scripts/employee-profile.ts'
import { ordersScript } from './scripts/orders.ts'
import { productsScript } from './scripts/products.ts'
import { suppliersScript } from './scripts/suppliers.ts'

/** A request as it comes over the wire, as far as this server reads it. */
interface Body {
  readonly model: string
  readonly messages: readonly Message[]
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
}

interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string | null
  readonly tool_calls?: readonly Call[]
  readonly tool_call_id?: string
}

interface Call {
  readonly id: string
  readonly function: { readonly name: string; readonly arguments: string }
  readonly extra_content?: { readonly google: { readonly thought_signature: string } }
}

/** Which script plays: by how the instructions begin. */
const players: readonly (readonly [RegExp, Rule])[] = [
  [/front desk/, companyAssistantScript],
  [/personnel record/, employeeProfileScript],
  [/suppl/, suppliersScript],
  [/orders/, ordersScript],
  [/customers/, customersScript],
  [/products/, productsScript],
]

async function replyTo({ messages }: Body): Promise<ModelReply> {
  const read = messages.map(({ role, content, tool_calls: calls = [], tool_call_id: toolCallId = '' }) => {
    const toolCalls = calls.map(({ id, function: called }) => ({ id, ...called }))
    return { role, content: content ?? '', toolCalls, toolCallId, name: '' }
  })
  const [, script] = players.find(([sign]) => sign.test(messages[0]?.content?.split('\n')[0] ?? '')) ?? []
  assert.ok(script !== undefined, `nobody plays "${messages[0]?.content}"`)
  const request = { messages: read, tools: [], toolChoice: 'auto' } as unknown as ModelRequest
  const call = { signal: new AbortController().signal, deltas: false }
  for await (const part of scriptedModel(script).stream(request, call)) if (part.type === 'reply') return part.reply
  return assert.fail('no reply')
}

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`

async function createGemini() {
  const signatures = new Map<string, string>()
  const bodies: Body[] = []
  const refusals: string[] = []
  let steps = 0
  /** The first call of each step carries its signature, and no other call has one. */
  const refusal = ({ messages }: Body): string | null => {
    for (const { tool_calls: calls = [] } of messages)
      for (const { id, extra_content: extra } of calls)
        if (extra?.google.thought_signature !== signatures.get(id))
          return 'Function call is missing a thought_signature in functionCall parts.'
    return null
  }
  const stream = ({ text, toolCalls }: ModelReply): string => {
    steps += 1
    const calls = toolCalls.map(({ name, arguments: written }, index) => {
      const id = `function-call-${steps}-${index}`
      const called = { index, id, type: 'function', function: { name, arguments: written } }
      if (index > 0) return called
      signatures.set(id, `signature of step ${steps}`)
      return { ...called, extra_content: { google: { thought_signature: signatures.get(id) } } }
    })
    const said = text === '' ? [] : [chunk({ role: 'assistant', content: text })]
    const called = calls.map((one) => chunk({ tool_calls: [one] }))
    return [...said, ...called, chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'), 'data: [DONE]\n\n'].join('')
  }
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as Body
    bodies.push(body)
    const message = request.headers.authorization === 'Bearer key-of-mine' ? refusal(body) : 'API key not valid.'
    if (message === null) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(stream(await replyTo(body)))
      return
    }
    refusals.push(message)
    response.writeHead(400, { 'content-type': 'application/json' })
    response.end(JSON.stringify([{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }]))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { server, bodies, refusals, port: (server.address() as AddressInfo).port }
}

/** Lets nothing out: what goes to Google goes to this port of the machine. */
function redirect(port: number): string {
  const code = `const { fetch } = globalThis
globalThis.fetch = (url, init) => {
  const prefix = 'https://generativelanguage.googleapis.com/v1beta/openai/'
  if (!String(url).startsWith(prefix)) throw new Error('not Google: ' + url)
  return fetch('http://127.0.0.1:${port}/' + String(url).slice(prefix.length), init)
}`
  return `--import=data:text/javascript,${encodeURIComponent(code)}`
}

test('with a key of Google every request carries the signatures of all steps before', async () => {
  const { server, bodies, refusals, port } = await createGemini()
  const env = { GOOGLE_GENERATIVE_AI_API_KEY: 'key-of-mine', NODE_OPTIONS: redirect(port) }
  const questions = [
    'Who is in my team, and who are my best customers?',
    'Who supplies Tofu?',
    'Who is my manager?',
    'And who supplies Chai?',
  ]
  const words = ['chat', 'company-assistant-agent', '--param', 'userId=employees/3', '--hide', 'userId']
  const { code, out, err } = await witan(words, { env, input: `${questions.join('\n')}\n` })
  server.close()
  assert.deepEqual([code, refusals], [0, []], err)
  for (const answer of [/Nobody reports to you\./, /QUICK-Stop/, /Mayumi/, /Andrew Fuller/, /Exotic Liquids/])
    assert.match(out, answer)
  assert.deepEqual([...new Set(bodies.map(({ model }) => model))], ['gemini-flash-latest'])
  const signed = bodies.map(({ messages }) => JSON.stringify(messages).match(/signature of step/g)?.length ?? 0)
  assert.equal(Math.max(...signed), questions.length, 'the last request of the root has the marks of all its turns')
  assert.doesNotMatch(JSON.stringify(bodies) + out, /employees\/3/)
  assert.doesNotMatch(out, /signature of step/)
})
