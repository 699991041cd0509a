/** Over our own connection DeepSeek V4 wants thoughts with every reply, and Gemini 3 a signature: also where there were none, and where another model spoke. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineTool, type Model, openaiCompatible, type Runtime } from '@witan/core'
import { z } from 'zod'
import { agent, createGate } from '../support/stage.ts'
import { deepseek, geminiChat, openaiChat, openrouter } from '../support/vendors/chat-completions.ts'
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

type Look = (city: string) => Promise<void>

function openWith(models: Readonly<Record<string, Model>>, settings = { tools: ['weather'] }, look?: Look): Runtime {
  const weather = defineTool({
    name: 'weather',
    description: 'The weather of a city.',
    parameters: z.object({ city: z.string() }),
    effect: 'none',
    async execute({ city }) {
      await look?.(city)
      return `rain in ${city}`
    },
  })
  return createRuntime({ models, agents: [agent('root', settings)], tools: [weather], retry: { tries: 1 } })
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

/** Refuses calls that are not signed, as Google does; a list around the error is its way, too. */
function strictGemini(tape: readonly Step[]): Dialect {
  const signs = [...tape.map(({ sign }) => sign), 'skip_thought_signature_validator']
  const isSigned = ({ tool_calls: calls }: Json) => {
    const [first] = (calls ?? []) as readonly { extra_content?: { google: { thought_signature: string } } }[]
    return first === undefined || signs.includes(first.extra_content?.google.thought_signature ?? '')
  }
  const refusal = 'Function call is missing a thought_signature in functionCall parts.'
  return {
    ...geminiChat,
    refusal: (body) => (repliesIn(body).every(isSigned) ? null : refusal),
    wordsOf: (message) => [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }] as never,
  }
}

test('[E45] Gemini 3 that takes over in the middle of a turn gets calls that say that they are not its own', async () => {
  const other = await openVendor(openrouter)
  const rest = loop.slice(1)
  const vendor = await openVendor(strictGemini(rest), [rest[0] as Step, ...rest])
  const models = { 'play/model': modelOf(other), 'play/other': modelOf(vendor) }
  const settings = { tools: ['weather'], fallbacks: ['play/other'] }
  const runtime = openWith(models, settings, async (city) => (city === 'Oslo' ? other.close() : undefined))
  const result = await runtime.conversation('root').run('Rain?')
  assert.deepEqual([result.text, vendor.refusals.length], ['Rain everywhere.', 1], result.error?.detail)
  const marks = repliesIn(vendor.bodies.at(-1)).map(({ tool_calls: calls }) =>
    (calls as readonly Json[]).map(({ extra_content: extra }) => extra),
  )
  const signed = (thought_signature: string) => ({ google: { thought_signature } })
  assert.deepEqual(marks, [[signed('skip_thought_signature_validator'), undefined], [signed('sign-2')]])
  assert.doesNotMatch(JSON.stringify(vendor.bodies), /sign-1|Two cities|reasoning/)
  await Promise.all([runtime.close(), vendor.close()])
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
