/** What is joined of several answers has at most as many characters as one reply: the longest are cut, and marked, as results are. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '@witan/core'
import { call, type Rule, type ScriptedReply, toolResults } from '@witan/core/testing'
import { type AgentDraft, createGate, createStage, until } from '../support/stage.ts'

const most = 1_000_000
const long = 'A line of a report.\n'.repeat(20_000)
const steps = Array.from({ length: 12 }, (_, at) => `step-${at}`)
const flow = (kind: 'parallel' | 'sequence', pass: 'all' | 'input'): AgentDraft => ({
  id: 'flow',
  workflow: { kind, pass, agents: kind === 'parallel' ? steps : [...steps, 'last'] },
})

/** Calls once in a conversation. */
function calling(...made: NonNullable<ScriptedReply['toolCalls']>): Rule {
  return (request): ScriptedReply | string =>
    request.messages.some(({ role }) => role === 'assistant') ? 'Done.' : { toolCalls: made }
}

interface Way {
  readonly agents: readonly [AgentDraft, ...AgentDraft[]]
  readonly root?: Rule
  /** Who answers what its agents ask. */
  readonly users?: readonly string[]
}

const ways: Readonly<Record<string, Way>> = {
  'the answer of a parallel': { agents: [flow('parallel', 'input')] },
  'what a step reads of all before it': { agents: [flow('sequence', 'all')] },
  'all that a child has said': {
    agents: [{ id: 'root', subAgents: [{ agent: 'flow', collect: 'all' }] }, flow('sequence', 'input')],
    root: calling({ name: 'flow', arguments: { message: 'Go.' } }),
  },
  'all that a wrapped agent has said': {
    agents: [
      { id: 'root', subAgents: [{ agent: 'flow', style: 'agentTool', collect: 'all' }] },
      flow('sequence', 'input'),
    ],
    root: calling({ name: 'flow', arguments: { request: 'Go.' } }),
  },
  'the report of several tasks': {
    agents: [{ id: 'root', subAgents: steps.map((agent) => ({ agent, blocking: 'never' })) }],
    root: calling(...steps.map((name) => ({ name, arguments: { message: 'Go.' } }))),
  },
  'the replies of everybody': {
    agents: [{ id: 'root', users: steps.map((id) => ({ id: `u-${id}` })) }],
    root: calling({ name: 'ask_all_users', arguments: { message: 'Well?' } }),
    users: steps.map((id) => `u-${id}`),
  },
}

for (const [what, { agents, root = () => 'Done.', users }] of Object.entries(ways))
  test(`${what} is bounded`, async () => {
    const store = memoryStore()
    const others = [...steps, 'last'].map((id): AgentDraft => ({ id }))
    const { runtime, ask, requests } = createStage({
      agents: [...agents, ...others],
      plays: {
        ...Object.fromEntries(steps.map((id) => [id, () => (id === 'step-0' ? 'Short.' : long)])),
        last: () => 'Done.',
        root,
      },
      options: { store },
    })
    try {
      const { conversationId: id, interruptions } = await ask(agents[0].id, 'Go.', users === undefined ? {} : { users })
      for (const one of interruptions) await runtime.answerInterruption(one.id, { answer: long.slice(0, 100_000) })
      await until(async () => (await runtime.getConversation(id)).status === 'idle')
      const { entries } = (await store.readSnapshot('default', id)) ?? assert.fail('it is gone')
      const stored = entries.map((entry) => JSON.stringify(entry))
      const read = requests.flatMap(({ messages }) => messages.map(({ content }) => content))
      const longest = [stored, read].map((texts) => Math.max(...texts.map(({ length }) => length)))
      assert.ok(
        longest.every((length, at) => length < (at === 0 ? 3.2 : 1.1) * most),
        `${longest} characters`,
      )
      assert.ok([...read, ...stored].some((text) => text.includes(' [cut: ')))
    } finally {
      await runtime.close()
    }
  })

test('what people say while a workflow works is bounded for its next pass', async () => {
  const store = memoryStore()
  const gate = createGate()
  const { runtime, ask, requests } = createStage({
    agents: [{ id: 'flow', workflow: { kind: 'sequence', agents: ['step-0'] } }, { id: 'step-0' }],
    plays: { 'step-0': () => gate.opened.then(() => 'Done.') },
    options: { store },
  })
  try {
    const first = ask('flow', 'Go.', { id: 'chats/1' })
    await until(() => requests.length > 0)
    const more = await Promise.all(steps.map(() => runtime.run('chats/1', { prompt: long })))
    gate.open()
    await Promise.all([first, ...more.map(({ result }) => result)])
    const read = requests.flatMap(({ messages }) => messages.map(({ content }) => content))
    const longest = Math.max(...read.map(({ length }) => length))
    assert.ok(longest > long.length && longest < 1.1 * most, `${longest} characters`)
    const { entries } = (await store.readSnapshot('default', 'chats/1')) ?? assert.fail('it is gone')
    assert.equal(entries.filter(({ body }) => 'text' in body && body.text === long).length, steps.length)
  } finally {
    await runtime.close()
  }
})

test('a result has as much of its tasks, and of what waits, as a page; the rest is there once that is answered', async () => {
  const actions = [{ name: 'Act', parametersSchema: { type: 'object', properties: { text: {} } } }]
  const asks = steps.map((id): AgentDraft => ({ id, actions }))
  const { runtime, ask } = createStage({
    agents: [{ id: 'flow', workflow: { kind: 'parallel', agents: steps } }, ...asks],
    plays: Object.fromEntries(
      steps.map((id) => [id, (request) => toolResults(request)[0] ?? call('Act', { text: long.repeat(2) })]),
    ),
  })
  try {
    let result = await ask('flow', 'Go.')
    const seen = new Set<string>()
    for (let round = 0; result.status === 'waiting'; round += 1) {
      assert.ok(round < steps.length)
      const { interruptions } = await runtime.getConversation(result.conversationId)
      for (const shown of [result.interruptions, interruptions])
        assert.ok(shown.length > 0 && JSON.stringify(shown).length < 4.5 * most)
      const actionResponses = result.interruptions.map(({ id }) => ({ id, response: 'ok' }))
      for (const { id } of actionResponses) seen.add(id)
      result = await (await runtime.run(result.conversationId, { actionResponses })).result
    }
    assert.deepEqual([result.status, seen.size], ['completed', steps.length])
  } finally {
    await runtime.close()
  }
})

test('a result has the beginnings of what very many tasks answered', async () => {
  const { runtime, ask } = createStage({
    agents: [
      { id: 'root', subAgents: steps.map((agent) => ({ agent, blocking: 'never' })) },
      ...steps.map((id) => ({ id })),
    ],
    plays: {
      ...Object.fromEntries(steps.map((id) => [id, () => (id === 'step-0' ? 'Short.' : long)])),
      root: calling(...steps.map((name) => ({ name, arguments: { message: 'Go.' } }))),
    },
  })
  try {
    const { conversationId, runId } = await ask('root', 'Go.')
    await until(async () => (await runtime.getConversation(conversationId)).status === 'idle')
    const { result } = await runtime.getRun(runId)
    assert.ok(JSON.stringify(result).length < 1.2 * most)
    const texts = result?.tasks.map(({ text }) => text) ?? []
    assert.ok(texts.includes('Short.') && texts.some((text) => text.includes(' [cut: ')))
  } finally {
    await runtime.close()
  }
})
