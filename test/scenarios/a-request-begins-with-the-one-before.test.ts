/** What a provider caches: over four turns of a three-level tree each request of an agent begins with its whole request before, byte for byte. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { aiSdkModel, createRuntime, defineTool, type Model, openaiCompatible } from '@witan/core'
import { z } from 'zod'
import { type AgentDraft, agent } from '../support/stage.ts'
import type { Json } from '../support/vendors/tape.ts'

interface Reply {
  readonly text?: string
  readonly calls?: readonly (readonly [name: string, args: string])[]
}

/** What one agent says in each of its steps, turn after turn. */
type Script = readonly Reply[]

/** How a provider is asked and writes its replies. `number` makes thoughts and ids that are there once. */
interface Wire {
  model(fetch: typeof globalThis.fetch): Model
  answer(reply: Reply, number: number): Json
}

const wires: Readonly<Record<string, Wire>> = {
  'our own connection': {
    model: (fetch) => openaiCompatible({ baseUrl: 'http://127.0.0.1:1', model: 'm', fetch }),
    answer: ({ text = '', calls = [] }, number) => {
      const tool_calls = calls.map(([name, args], at) => {
        return { id: `call-${number}-${at}`, type: 'function', function: { name, arguments: args } }
      })
      const message = { role: 'assistant', content: text, reasoning_content: `Thought ${number}.` }
      return { choices: [{ index: 0, message: calls.length > 0 ? { ...message, tool_calls } : message }] }
    },
  },
  'the AI SDK': {
    model: (fetch) => aiSdkModel(createAnthropic({ apiKey: 'k', fetch })('claude-sonnet-4-5')),
    answer: ({ text = '', calls = [] }, number) => ({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [
        { type: 'thinking', thinking: `Thought ${number}.`, signature: `sign-${number}` },
        ...(text === '' ? [] : [{ type: 'text', text }]),
        ...calls.map(([name, args], at) => {
          return { type: 'tool_use', id: `call-${number}-${at}`, name, input: JSON.parse(args) }
        }),
      ],
      stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
      usage: { input_tokens: 10, output_tokens: 5 },
    }),
  },
}

const ask = (name: string, message: string): Reply => ({ text: 'I ask.', calls: [[name, JSON.stringify({ message })]] })
const looks: Reply = {
  calls: [
    ['look', '{"at":"stock"}'],
    ['look', '{"at":"orders"}'],
  ],
}
const questions = JSON.stringify({ questions: [{ id: 'q', text: 'Which one?' }] })

/** Two calls at once, a tool that fails, arguments that do not fit, a question, and a turn in which the root asks nobody. */
const scripts: Readonly<Record<string, Script>> = {
  root: [
    ask('mid', 'first'),
    { text: 'one' },
    ask('mid', 'second'),
    ask('mid', 'third'),
    { text: 'two' },
    { text: 'three' },
    ask('mid', 'fourth'),
    { text: 'four' },
  ],
  mid: [
    ask('leaf', 'first'),
    { text: 'm1' },
    ask('leaf', 'second'),
    { calls: [['ask_question', questions]] },
    { text: 'm2' },
    { text: 'm3' },
    ask('leaf', 'fourth'),
    ask('leaf', 'fifth'),
    { text: 'm4' },
  ],
  leaf: [
    looks,
    { text: 'l1' },
    { calls: [['look', '{"at":"nowhere"}']] },
    { calls: [['look', '{"where":1}']] },
    { text: 'l2' },
    looks,
    { text: 'l4' },
    { text: 'l5' },
  ],
}

const drafts: Readonly<Record<string, Omit<AgentDraft, 'id'>>> = {
  root: { subAgents: [{ agent: 'mid', description: 'Asks on.', history: 'agent' }] },
  mid: { questions: true, subAgents: [{ agent: 'leaf', description: 'Looks.', history: 'agent' }] },
  leaf: { tools: ['look'] },
}

const look = defineTool({
  name: 'look',
  description: 'Looks somewhere.',
  parameters: z.object({ at: z.string() }),
  effect: 'none',
  execute: ({ at }) => {
    if (at === 'nowhere') throw new Error('There is nothing.')
    return { at, found: 3 }
  },
})

/** Plays the scripts and keeps every body by its agent. */
function createPlayers(wire: Wire) {
  const bodies = new Map<string, string[]>()
  let number = 0
  const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    const text = String(init?.body)
    const player = /You are ([a-z]+)\./.exec(text)?.[1] ?? ''
    const seen = bodies.get(player) ?? []
    bodies.set(player, [...seen, text])
    number += 1
    const reply = scripts[player]?.[seen.length]
    assert.ok(reply !== undefined, `nothing more of ${player}`)
    return Response.json(wire.answer(reply, number))
  }
  return { bodies, model: wire.model(fetch as typeof globalThis.fetch) }
}

interface Body extends Json {
  readonly messages: readonly unknown[]
}

/** Each request has the messages of the one before in front of its own, and all else as before: tools, instructions, settings. */
function assertPrefixes(texts: readonly string[]): void {
  const requests = texts.map((text) => JSON.parse(text) as Body)
  for (const [at, { messages, ...front }] of requests.entries()) {
    const before = requests[at - 1]
    if (before === undefined) continue
    assert.equal(JSON.stringify(front), JSON.stringify({ ...before, messages: undefined }))
    assert.ok(messages.length > before.messages.length)
    assert.equal(
      JSON.stringify(messages.slice(0, before.messages.length)),
      JSON.stringify(before.messages),
      `request ${at + 1} does not begin with request ${at}`,
    )
  }
}

describe('four turns of a tree of three levels, with `history: agent`', () => {
  for (const [name, wire] of Object.entries(wires)) {
    test(`over ${name}: each request of an agent begins with its whole request before`, async () => {
      const { bodies, model } = createPlayers(wire)
      const runtime = createRuntime({
        models: { 'play/model': model },
        agents: Object.entries(drafts).map(([id, draft]) => agent(id, draft)),
        tools: [look],
        retry: { tries: 1 },
      })
      const chat = runtime.conversation('root', { id: 'chats/1' })
      const texts: string[] = []
      for (const prompt of ['one?', 'two?', 'three?', 'four?']) {
        let result = await chat.run(prompt)
        for (const { id } of result.interruptions) {
          await runtime.answerInterruption(id, { answer: { q: { text: 'The red one.' } } })
          const { runs } = await runtime.getConversation('chats/1')
          result = await (await runtime.followRun(runs.at(-1)?.runId ?? '')).result
        }
        texts.push(result.error?.detail ?? result.text)
      }
      await runtime.close()
      assert.deepEqual(texts, ['one', 'two', 'three', 'four'])
      for (const [player, script] of Object.entries(scripts)) {
        const sent = bodies.get(player) ?? []
        assert.equal(sent.length, script.length, `${player} has more to say`)
        assertPrefixes(sent)
        // A thought of each reply but the last stands in what followed.
        assert.equal(sent.at(-1)?.match(/Thought \d+/g)?.length, script.length - 1)
      }
    })
  }
})
