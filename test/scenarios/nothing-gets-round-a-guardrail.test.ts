/** Ways on which words reach a model or a reader: a guardrail stands on each of them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRuntime, type Model } from '@witan/core'
import { call, type Rule, type ScriptedAnswer } from '@witan/core/testing'
import { inTurn, pay } from '../support/hooked-stage.ts'
import { type AgentDraft, createStage, type Play, type Stage, until } from '../support/stage.ts'

const word = 'marzipan'
const refuses = { name: 'words', kind: 'pattern', pattern: word, message: 'Not that word.' } as const
const redacts = { ...refuses, action: 'redact' } as const
const shut = (id: string, more: Omit<AgentDraft, 'id'> = {}): AgentDraft => ({
  id,
  guardrails: { input: [refuses] },
  ...more,
})
const cleaned = (id: string, more: Omit<AgentDraft, 'id'> = {}): AgentDraft => ({
  id,
  guardrails: { output: [redacts] },
  ...more,
})
const readBy = (stage: Stage, id: string) => JSON.stringify(stage.seenBy(id).map(({ messages }) => messages))
const everything = async (stage: Stage) => {
  const events = await stage.events('chats/1', { verbose: true })
  const paths = [...new Set(['chats/1', ...events.map(({ document }) => document)])]
  const documents = await Promise.all(paths.map((path) => stage.document(path).catch(() => null)))
  return JSON.stringify([events, documents])
}
const asks = (name: string, args: object) => call(name, args as Record<string, unknown>)

interface Way {
  readonly agents: readonly AgentDraft[]
  readonly plays: Readonly<Record<string, Play>>
  readonly prompt?: string
}

/** How words come to the agent `shut`, which is never to read them. */
const waysIn: Readonly<Record<string, Way>> = {
  'a prompt': { agents: [shut('shut')], plays: { shut: ['Read.'] }, prompt: word },
  'a sub-agent’s message': {
    agents: [{ id: 'root', subAgents: [{ agent: 'shut' }] }, shut('shut')],
    plays: { root: [asks('shut', { message: word }), 'Done.'], shut: ['Read.'] },
  },
  'an agent tool’s message': {
    agents: [{ id: 'root', subAgents: [{ agent: 'shut', style: 'agentTool' }] }, shut('shut')],
    plays: { root: [asks('shut', { request: word, message: word }), 'Done.'], shut: ['Read.'] },
  },
  'a task’s message': {
    agents: [{ id: 'root', subAgents: [{ agent: 'shut', blocking: 'never' }] }, shut('shut')],
    plays: { root: [asks('shut', { message: word }), 'Done.', 'Told.'], shut: ['Read.'] },
  },
  'a step’s message': {
    agents: [{ id: 'root', workflow: { kind: 'sequence', agents: ['first', 'shut'] } }, { id: 'first' }, shut('shut')],
    plays: { first: [`The ${word}.`], shut: ['Read.'] },
  },
  'a hand-over': {
    agents: [{ id: 'root', transfers: [{ agent: 'shut' }] }, shut('shut')],
    plays: { root: [asks('transfer_to_agent', { agent_name: 'shut' })], shut: ['Read.'] },
    prompt: word,
  },
  'the second run of a conversation whose first was refused': {
    agents: [shut('shut')],
    plays: { shut: ['Read.'] },
    prompt: word,
  },
}

describe('an agent that checks its input', () => {
  for (const [way, { agents, plays, prompt = 'Go.' }] of Object.entries(waysIn))
    test(`never reads words of ${way}`, async () => {
      const stage = createStage({ agents, plays, options: { tools: [pay] } })
      await stage.ask(agents[0]?.id ?? '', prompt, { id: 'chats/1' })
      await until(async () => (await stage.runtime.getConversation('chats/1')).status === 'idle')
      if (way.startsWith('the second')) await stage.run('chats/1', { prompt: 'Hello.' })
      assert.equal(readBy(stage, 'shut').includes(word), false)
      const events = await stage.events('chats/1', { verbose: true })
      const codes = events.map(({ content }) => (content as { code?: string }).code)
      assert.ok(codes.includes('GUARDRAIL_HIT') && codes.includes('GUARDRAIL_REFUSED'), codes.join())
      await stage.runtime.close()
    })

  for (const returnsTo of [null, 'caller'] as const)
    test(`never reads what joins an agent that hands over to it, or that has its control (returns to ${returnsTo})`, async () => {
      const first = returnsTo === null ? { id: 'root' } : shut('root')
      const second = returnsTo === null ? shut('shut') : { id: 'shut' }
      let stage: Stage | null = null
      const isHeld = (id: string) => id === (returnsTo === null ? 'root' : 'shut')
      const play =
        (id: string, ...answers: readonly ScriptedAnswer[]): Rule =>
        async (_, turn) => {
          if (isHeld(id) && turn === 0) {
            void stage?.run('chats/1', { prompt: word, onActive: 'enqueue' }).catch(() => {})
            await until(
              async () => (await stage?.events('chats/1'))?.filter(({ type }) => type === 'message').length === 2,
            )
          }
          return answers[turn] ?? 'Done.'
        }
      const hand = asks('transfer_to_agent', { agent_name: 'shut' })
      const hands = returnsTo === null ? ['Wait.', hand] : [hand, 'Done.']
      stage = createStage({
        agents: [{ ...first, transfers: [{ agent: 'shut', returnsTo }] }, second],
        plays: { root: play('root', ...hands), shut: play('shut', 'Read.') },
      })
      await stage.ask('root', 'Go.', { id: 'chats/1' })
      await until(async () => (await stage?.runtime.getConversation('chats/1'))?.status === 'idle')
      assert.equal(readBy(stage, returnsTo === null ? 'shut' : 'root').includes(word), false)
      await stage.runtime.close()
    })

  test('never reads a question about its progress, and its answer to one is checked, too', async () => {
    const anchored = { ...refuses, pattern: `^${word}$` }
    let isAsked = false
    const working: Rule = async () => {
      await until(() => isAsked)
      return 'Read.'
    }
    const stage = createStage({
      agents: [
        { id: 'root', subAgents: [{ agent: 'shut', blocking: 'never' }] },
        { id: 'shut', guardrails: { input: [anchored], output: [redacts] } },
      ],
      plays: {
        root: [asks('shut', { message: 'Begin.' }), 'Done.', 'Told.'],
        shut: working,
        // The report on its progress is written in no agent’s name.
        '': [`A ${word}.`],
      },
    })
    await stage.ask('root', 'Go.', { id: 'chats/1' })
    const [{ taskId } = { taskId: '' }] = (await stage.runtime.getConversation('chats/1')).tasks
    await assert.rejects(stage.runtime.tasks.progress(taskId, { question: word }), { code: 'GUARDRAIL_REFUSED' })
    const { text } = await stage.runtime.tasks.progress(taskId, { question: 'How far?' })
    assert.equal(text, 'A [removed].')
    // Its attribution stands in front of a message, and an anchor does not mean that.
    await stage.runtime.tasks.message(taskId, { text: word })
    isAsked = true
    await until(async () => (await stage.runtime.getConversation('chats/1')).status === 'idle')
    assert.equal(
      stage.seenBy('shut').some(({ messages }) => JSON.stringify(messages).includes(word)),
      false,
    )
    await stage.runtime.close()
  })

  test('is not spoken to in the name of the runtime', async () => {
    const stage = createStage({ agents: [{ id: 'root' }], plays: {} })
    const save = stage.runtime.agents.save({ id: 'witan', model: 'play/model', instructions: 'You are witan.' })
    await assert.rejects(save, { code: 'ID_INVALID' })
    await stage.runtime.close()
  })

  test('takes out of a message what many patterns find, once', async () => {
    const letters = Array.from({ length: 20 }, (_, at) => ({ ...redacts, name: `letters ${at}`, pattern: '[a-z]' }))
    const agents = [{ id: 'root', guardrails: { input: letters } }]
    const stage = createStage({ agents, plays: { root: ['Done.'] } })
    await stage.ask('root', 'a B cd', { id: 'chats/1' })
    const [request] = stage.seenBy('root')
    assert.equal(request?.messages.at(-1)?.content, '[removed] B [removed]')
    const hits = (await stage.events('chats/1')).filter(({ type }) => type === 'notice')
    assert.equal(hits.length, 1)
    await stage.runtime.close()
  })

  test('never reads what joins it while its tool runs', async () => {
    let stage: Stage | null = null
    const joining: Rule = async () => {
      void stage?.run('chats/1', { prompt: word, onActive: 'enqueue' }).catch(() => {})
      await until(async () => (await stage?.events('chats/1'))?.filter(({ type }) => type === 'message').length === 2)
      return 'Helped.'
    }
    stage = createStage({
      agents: [shut('shut', { subAgents: [{ agent: 'helper' }] }), { id: 'helper' }],
      plays: { shut: [asks('helper', { message: 'Help.' }), 'Read.'], helper: joining },
    })
    const { error } = await stage.ask('shut', 'Go.', { id: 'chats/1' })
    assert.equal(error?.code, 'GUARDRAIL_REFUSED')
    assert.equal(readBy(stage, 'shut').includes(word), false)
    await stage.runtime.close()
  })
})

const words = (...answers: readonly ScriptedAnswer[]) => inTurn(...answers)

const outputSchema = { type: 'object', properties: { said: { type: 'string' } }, required: ['said'] }

/** How the agent `cleaned` could say the word; none of these ways may let it out. */
const waysOut: Readonly<Record<string, Way>> = {
  'an answer': { agents: [cleaned('cleaned')], plays: { cleaned: words(`A ${word}.`) } },
  'words beside a tool call': {
    agents: [cleaned('cleaned', { tools: ['pay'] })],
    plays: { cleaned: words({ text: `A ${word}.`, toolCalls: [{ name: 'pay', arguments: { amount: 1 } }] }, 'Done.') },
  },
  'all texts that a caller collects': {
    agents: [{ id: 'root', subAgents: [{ agent: 'cleaned', collect: 'all' }] }, cleaned('cleaned', { tools: ['pay'] })],
    plays: {
      root: words(asks('cleaned', { message: 'Say.' }), 'Done.'),
      cleaned: words({ text: `A ${word}.`, toolCalls: [{ name: 'pay', arguments: { amount: 1 } }] }, `More ${word}.`),
    },
  },
  'a last answer': {
    agents: [cleaned('cleaned', { tools: ['pay'], limits: { maxIterations: 1 } })],
    plays: { cleaned: words(call('pay', { amount: 1 }), `A ${word}.`) },
  },
  'an answer in another’s place': {
    agents: [cleaned('cleaned', { transfers: [{ agent: 'other' }] }), { id: 'other' }],
    plays: { cleaned: words(asks('transfer_to_agent', { agent_name: 'other' })), other: words(`A ${word}.`) },
  },
  'a workflow in its place': {
    agents: [
      cleaned('cleaned', { transfers: [{ agent: 'flow' }] }),
      { id: 'flow', workflow: { kind: 'sequence', agents: ['step'] } },
      { id: 'step' },
    ],
    plays: { cleaned: words(asks('transfer_to_agent', { agent_name: 'flow' })), step: words(`A ${word}.`) },
  },
  'a structured form, and what stands beside it': {
    agents: [cleaned('cleaned', { outputSchema, outputMode: 'tool' })],
    plays: {
      cleaned: words(
        'Here.',
        { text: `A ${word}.`, toolCalls: [{ name: 'set_output', arguments: { other: word } }] },
        { text: `A ${word}.`, toolCalls: [{ name: 'set_output', arguments: { said: word } }] },
      ),
    },
  },
  'a draft that is criticised': {
    agents: [cleaned('cleaned', { enableReflection: true })],
    plays: {
      cleaned: words(`A ${word}.`, '{"verdict":"revise","problems":["More."]}', `One more ${word}.`),
    },
  },
}

describe('an agent that checks its output', () => {
  for (const [way, { agents, plays }] of Object.entries(waysOut))
    test(`is never heard with words of ${way}`, async () => {
      const stage = createStage({ agents, plays, options: { tools: [pay] } })
      const result = await stage.ask(agents[0]?.id ?? '', 'Go.', { id: 'chats/1' })
      assert.equal(result.status, 'completed', JSON.stringify(result.error))
      assert.equal(JSON.stringify(result).includes(word), false)
      assert.equal((await everything(stage)).includes(word), false)
      assert.equal(
        stage.requests.some(({ messages }) => JSON.stringify(messages).includes(word)),
        false,
      )
      assert.ok((await everything(stage)).includes('[removed]'))
      await stage.runtime.close()
    })

  test('streams nothing that an agent has not checked', async () => {
    const judge = { name: 'judge', kind: 'agent', agent: 'judge' } as const
    const judged = { output: [judge] }
    const stage = createStage({
      agents: [{ id: 'root', guardrails: judged }, { id: 'judge' }],
      plays: {
        root: words(`A ${word}.`, 'Fine.'),
        judge: ({ messages }) => JSON.stringify({ allow: !String(messages.at(-1)?.content).includes(word) }),
      },
    })
    await stage.runtime.start({ agent: 'root', id: 'chats/1' })
    const leaving = new AbortController()
    const deltas: string[] = []
    const reading = (async () => {
      const live = stage.runtime.followEvents('chats/1', { verbose: true, signal: leaving.signal })
      for await (const event of live) if (event.type === 'delta' && event.agentPath === 'root') deltas.push(event.type)
    })().catch(() => {})
    assert.equal((await stage.run('chats/1', { prompt: 'Go.' })).text, 'Fine.')
    leaving.abort()
    await reading
    assert.deepEqual(deltas, [])
    await stage.runtime.close()
  })

  test('shows no reasoning, which nothing has checked', async () => {
    const shown = cleaned('cleaned', { showReasoning: true })
    const model: Model = {
      id: 'play/model',
      async *stream() {
        const reply = { text: 'Fine.', toolCalls: [], finishReason: 'stop', usage: null, model: null } as const
        yield { type: 'reply', reply: { ...reply, reasoning: 'Think of cake.' } }
      },
    }
    const runtime = createRuntime({
      models: { 'play/model': model },
      agents: [{ ...shown, model: 'play/model', instructions: 'You are cleaned.' }],
    })
    const { run } = await runtime.start({ agent: 'cleaned', id: 'chats/1', prompt: 'Go.' })
    assert.equal((await run?.result)?.text, 'Fine.')
    const lines: string[] = []
    for await (const line of runtime.exportConversation('chats/1')) lines.push(line)
    assert.deepEqual(
      lines.filter((one) => one.includes('cake')),
      [],
    )
    await runtime.close()
  })
})
