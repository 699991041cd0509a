/** DeepSeek V4 over our own connection: it wants thoughts with every reply, also where there were none, and where another model spoke. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineTool, type Model, openaiCompatible } from '@witan/core'
import { z } from 'zod'
import { agent, createGate } from '../support/stage.ts'
import { deepseek, openaiChat, openrouter } from '../support/vendors/chat-completions.ts'
import { type Dialect, type Json, loop, openVendor, type Step, type Vendor } from '../support/vendors/tape.ts'

const words = 'The `reasoning_content` in the thinking mode must be passed back to the API.'

const repliesIn = (body: Json | undefined) =>
  ((body?.messages ?? []) as readonly Json[]).filter(({ role }) => role === 'assistant')
const thoughtsIn = (body: Json | undefined) => repliesIn(body).map((reply) => reply.reasoning_content)

/** Takes a request only if each reply in it has thoughts, be they empty. */
const strict: Dialect = {
  ...deepseek,
  refusal: (body) => (thoughtsIn(body).every((thought) => typeof thought === 'string') ? null : words),
}

/** The first step was made without a thought. */
const hasty: readonly Step[] = loop.map((step, at) => (at === 0 ? { ...step, thought: '' } : step))

const weather = defineTool({
  name: 'weather',
  description: 'The weather of a city.',
  parameters: z.object({ city: z.string() }),
  effect: 'none',
  execute: ({ city }) => `rain in ${city}`,
})

function openWith(models: Readonly<Record<string, Model>>) {
  const agents = [agent('root', { tools: ['weather'] })]
  return createRuntime({ models, agents, tools: [weather], retry: { tries: 1 } })
}

const modelOf = ({ baseUrl }: Vendor) => openaiCompatible({ baseUrl, model: 'thinker' })

test('a step without a thought goes back with an empty one once the server has asked for it, and from then on at once', async () => {
  const vendor = await openVendor(strict, [hasty[0] as Step, ...hasty])
  const runtime = openWith({ 'play/model': modelOf(vendor) })
  const result = await runtime.conversation('root', { id: 'chats/1' }).run('Rain?')
  assert.deepEqual([result.text, vendor.refusals], ['Rain everywhere.', [words]], result.error?.detail)
  assert.deepEqual(vendor.bodies.map(thoughtsIn), [[], [undefined], [''], ['', 'And Paris.']])
  await runtime.conversation('root', { id: 'chats/1' }).run('Still?')
  assert.deepEqual(thoughtsIn(vendor.bodies[4]), ['', 'And Paris.', 'All rain.'])
  assert.equal(vendor.refusals.length, 1)
  await Promise.all([runtime.close(), vendor.close()])
})

test('a server that sends no thoughts gets none', async () => {
  const vendor = await openVendor(openaiChat)
  const runtime = openWith({ 'play/model': modelOf(vendor) })
  assert.equal((await runtime.conversation('root').run('Rain?')).text, 'Rain everywhere.')
  await Promise.all([runtime.close(), vendor.close()])
  assert.doesNotMatch(JSON.stringify(vendor.bodies), /reasoning/)
})

test('[E45] a conversation that comes to it from another model goes on, with nothing of that one', async () => {
  for (const dialect of [openrouter, openaiChat, deepseek]) {
    const other = await openVendor(dialect)
    const vendor = await openVendor(strict, loop.slice(2))
    const runtime = openWith({ 'play/model': modelOf(other), 'play/other': modelOf(vendor) })
    const chat = runtime.conversation('root', { id: 'chats/1' })
    assert.equal((await chat.run('Rain?')).text, 'Rain everywhere.')
    await runtime.agents.save({ ...agent('root', { tools: ['weather'] }), model: 'play/other' })
    const result = await chat.run('And now?')
    assert.deepEqual([result.text, vendor.refusals], ['Rain everywhere.', [words]], result.error?.detail)
    assert.deepEqual(thoughtsIn(vendor.bodies[1]), ['', '', ''])
    assert.doesNotMatch(JSON.stringify(vendor.bodies), /sign-|Two cities|And Paris|All rain/)
    await Promise.all([runtime.close(), other.close(), vendor.close()])
  }
})

test('two conversations that are refused at once both go on', async () => {
  const both = createGate()
  let refused = 0
  const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    const replies = repliesIn(JSON.parse(String(init?.body)))
    if (replies.some(({ reasoning_content: thought }) => typeof thought !== 'string')) {
      refused += 1
      if (refused === 2) both.open()
      await both.opened
      return Response.json({ error: { message: words } }, { status: 400 })
    }
    return Response.json(openaiChat.plain(loop[replies.length === 0 ? 1 : 2] as Step))
  }
  const model = openaiCompatible({ baseUrl: 'http://127.0.0.1:1', model: 'thinker', fetch: fetch as never })
  const runtime = openWith({ 'play/model': model })
  const asked = ['chats/1', 'chats/2'].map((id) => runtime.conversation('root', { id }).run('Rain?'))
  const texts = (await Promise.all(asked)).map(({ text, error }) => error?.detail ?? text)
  assert.deepEqual([texts, refused], [['Rain everywhere.', 'Rain everywhere.'], 2])
  await runtime.close()
})

test('one that is never content fails the call after one more request', async () => {
  const vendor = await openVendor({ ...strict, refusal: (body) => (repliesIn(body).length > 0 ? words : null) })
  const runtime = openWith({ 'play/model': modelOf(vendor) })
  const result = await runtime.conversation('root').run('Rain?')
  assert.deepEqual([result.error?.code, vendor.bodies.length], ['MODEL_CALL_FAILED', 3])
  assert.match(result.error?.detail ?? '', /must be passed back/)
  await Promise.all([runtime.close(), vendor.close()])
})
