/** [T11] A server that takes one order of messages only takes every request, whatever edge led to it, through each adapter. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createMistral } from '@ai-sdk/mistral'
import { aiSdkModel, createRuntime, defineTool, type Model, openaiCompatible, type Runtime } from '@witan/core'
import type { RunResult } from '@witan/protocol'
import { z } from 'zod'
import { type AgentDraft, written } from '../support/stage.ts'
import { strictRefusal } from '../support/strict-order.ts'

type Reply = string | readonly (readonly [name: string, args: Readonly<Record<string, unknown>>])[]

interface Case {
  readonly agents: readonly AgentDraft[]
  /** What each agent says, request after request. */
  readonly says: Readonly<Record<string, readonly Reply[]>>
  /** The prompts of the runs, or what does more than that. */
  readonly runs: readonly string[] | ((runtime: Runtime, run: (body: object) => Promise<RunResult>) => Promise<void>)
  /** The last text. */
  readonly ends: string
  /** How the runs end; default: all complete. */
  readonly statuses?: readonly string[]
}

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  parameters: z.object({}),
  effect: 'none',
  execute: () => 'seen',
})
const to = (name: string): Reply => [[name, { message: 'Do it.' }]]
const handsOver: Reply = [['transfer_to_agent', { agent_name: 'other' }]]
const looks: Reply = [
  ['look', {}],
  ['look', {}],
]

const cases: Readonly<Record<string, Case>> = {
  'a delegate, and a second turn': {
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf', history: 'agent' }] },
      { id: 'leaf', tools: ['look'] },
    ],
    says: { root: [to('leaf'), 'one', to('leaf'), 'two'], leaf: [looks, 'a', looks, 'b'] },
    runs: ['first', 'second'],
    ends: 'two',
  },
  'the message after a hand-over': {
    agents: [{ id: 'root', transfers: [{ agent: 'other' }] }, { id: 'other' }],
    says: { root: [handsOver, 'back'], other: ['taken'] },
    runs: ['first', 'second'],
    ends: 'back',
  },
  'a hand-over that returns to its caller': {
    agents: [
      { id: 'root', transfers: [{ agent: 'other', returnsTo: 'caller' }] },
      { id: 'other', tools: ['look'] },
    ],
    says: { root: [handsOver, 'mine', 'later'], other: [looks, 'taken'] },
    runs: ['first', 'second'],
    ends: 'later',
  },
  'the message after a run that ended on its budget': {
    agents: [{ id: 'root', tools: ['look'], limits: { maxModelCalls: 1 } }],
    says: { root: [looks, looks] },
    runs: ['first', 'second'],
    ends: '',
    statuses: ['failed', 'failed'],
  },
  'a prompt that closes what waits': {
    agents: [{ id: 'root', actions: [{ name: 'ask-it', description: 'Asks.' }] }],
    says: { root: [[['ask-it', {}]], 'never'] },
    runs: async (_, run) => {
      await run({ prompt: 'first' })
      await run({ prompt: 'no', cancelPendingActions: true })
    },
    ends: 'never',
    statuses: ['waiting', 'completed'],
  },
  'calls that a caller brings': {
    agents: [{ id: 'root', tools: ['look'] }],
    says: { root: ['one', 'two', 'three'] },
    runs: async (_, run) => {
      await run({ prompt: 'first' })
      await run({ prompt: 'and', artificialActions: [{ name: 'look', response: 'seen before' }] })
      await run({ prompt: 'second' })
    },
    ends: 'three',
  },
  'a reply of white space only': {
    agents: [{ id: 'root', tools: ['look'] }],
    says: { root: [looks, ' \n', 'one', 'two'] },
    runs: ['first', 'second'],
    ends: 'two',
  },
}

const wires: Readonly<Record<string, (fetch: typeof globalThis.fetch) => Model>> = {
  'our own connection': (fetch) => openaiCompatible({ baseUrl: 'http://127.0.0.1:1', model: 'm', fetch }),
  '@ai-sdk/mistral': (fetch) => aiSdkModel(createMistral({ apiKey: 'k', fetch })('mistral-large-latest')),
}

for (const [wire, modelOf] of Object.entries(wires)) {
  describe(`[T11] over ${wire}, a strict server takes every request`, () => {
    for (const [name, { agents, says, runs, ends, statuses }] of Object.entries(cases)) {
      test(name, async () => {
        const server = strictServer(says)
        const runtime = createRuntime({
          models: { 'play/model': modelOf(server.fetch) },
          agents: agents.map(written),
          tools: [look],
          retry: { tries: 1 },
        })
        const results: RunResult[] = []
        const run = async (body: object): Promise<RunResult> => {
          const opened = results.length === 0 ? await runtime.start({ agent: 'root', id: 'chats/1', ...body }) : null
          const begun = opened === null ? await runtime.run('chats/1', body) : opened.run
          results.push((await begun?.result) as RunResult)
          return results.at(-1) as RunResult
        }
        if (typeof runs === 'function') await runs(runtime, run)
        else for (const prompt of runs) await run({ prompt })
        await runtime.close()
        assert.deepEqual(server.refusals, [])
        assert.deepEqual(
          results.map(({ status }) => status),
          statuses ?? results.map(() => 'completed'),
          results.map(({ error }) => error?.detail).join('\n'),
        )
        assert.equal(results.at(-1)?.text, ends)
        server.assertPrefixes()
        const asked = Object.fromEntries(Object.keys(says).map((id) => [id, server.asked.get(id)?.length]))
        assert.deepEqual(asked, Object.fromEntries(Object.entries(says).map(([id, all]) => [id, all.length])))
      })
    }
  })
}

/** Plays what the agents say, and refuses what a strict server refuses. */
function strictServer(says: Case['says']) {
  const refusals: string[] = []
  const asked = new Map<string, string[][]>()
  const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    const { messages } = JSON.parse(String(init?.body))
    const player = /You are ([a-z]+)\./.exec(messages[0].content)?.[1] ?? ''
    const seen = asked.get(player) ?? []
    asked.set(player, seen)
    seen.push(messages.map((message: unknown) => JSON.stringify(message)))
    const refusal = strictRefusal(messages)
    if (refusal !== null) {
      refusals.push(refusal)
      return Response.json(
        { object: 'error', message: refusal, type: 'invalid_request_message_order' },
        { status: 400 },
      )
    }
    return Response.json(completionOf(says[player]?.[seen.length - 1] ?? `nothing more of ${player}`, seen.length))
  }
  const assertPrefixes = () => {
    for (const requests of asked.values())
      for (const [at, request] of requests.entries()) {
        const before = requests[at - 1]
        if (before === undefined) continue
        // The last message may be one of words that more words have joined since.
        assert.deepEqual(request.slice(0, before.length - 1), before.slice(0, -1))
      }
  }
  return { fetch: fetch as typeof globalThis.fetch, refusals, asked, assertPrefixes }
}

function completionOf(reply: Reply, number: number): object {
  const text = typeof reply === 'string' ? reply : ''
  const calls = typeof reply === 'string' ? [] : reply
  const tool_calls = calls.map(([name, args], at) => {
    return { id: `call${number}${at}abc`, type: 'function', function: { name, arguments: JSON.stringify(args) } }
  })
  const message = { role: 'assistant', content: text, ...(calls.length > 0 ? { tool_calls } : {}) }
  return {
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }
}
