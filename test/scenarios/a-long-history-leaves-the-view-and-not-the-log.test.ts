/** Trimming: what a model reads of a long document is cut between runs, by a summary or without a word; the log stays whole. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore, type ModelRequest } from '@witan/core'
import { call, lastUserMessage, type Rule, scriptedModel, systemText } from '@witan/core/testing'
import { assertAlternates, assertSound, assertUsage } from '../support/claims.ts'
import { outliving } from '../support/reopen.ts'
import { type AgentDraft, agent, cast, createStage } from '../support/stage.ts'

const summarize = {
  kind: 'summarize',
  maxTokensBefore: 40,
  maxTokensAfter: 20,
  beginningPrompt: 'You condense.',
} as const
const long = 'x'.repeat(200)

const isSummary = (request: ModelRequest) => systemText(request) === 'You condense.'
const read = ({ messages }: ModelRequest) => messages.slice(1).map(({ role, content }) => `${role}: ${content}`)

/** One model for all, which condenses where it is asked to. */
function stageOf(agents: readonly AgentDraft[], plays: Record<string, Rule>, condense: Rule = () => 'they greeted') {
  const store = outliving(memoryStore())
  const model = scriptedModel([
    (request, turn) => (isSummary(request) ? condense(request, turn) : undefined),
    cast(plays),
  ])
  const stage = createStage({ agents, plays, options: { models: { 'play/model': model }, store } })
  return { ...stage, store, model, requests: model.requests }
}

test('[Rb38] [Rb39] [E46] a history over its bound is replaced by a summary, said by the runtime, and counted', async () => {
  const stage = stageOf([{ id: 'root', history: { trim: summarize } }], {
    root: (request) => `re: ${lastUserMessage(request)}`,
  })
  await stage.ask('root', long, { id: 'chats/1' })
  const result = await stage.run('chats/1', { prompt: 'and now?' })
  const [, condense, answer] = stage.requests as [ModelRequest, ModelRequest, ModelRequest]
  assert.match(lastUserMessage(condense), new RegExp(`user: ${long}\nassistant: re: ${long}`))
  assert.match(lastUserMessage(condense), /Use at most 20 tokens\.$/)
  assert.deepEqual([condense.tools, condense.toolChoice], [[], 'none'])
  const front = '[from @witan to @root] Summary of the conversation so far: they greeted'
  assert.deepEqual(read(answer), [`user: ${front}\n\nand now?`])
  assert.equal(systemText(answer), 'You are root.')
  assert.equal(result.usage.modelCalls, 2)
  const events = await stage.events('chats/1')
  assertSound(events)
  assertUsage(result, events)
  const summary = events.find(({ type }) => type === 'summary')
  assert.deepEqual(summary?.content, { document: 'chats/1', upToSeq: 4 })
  assert.equal(events[3]?.type, 'end', 'the last seq of the run before')
  const { messages } = await stage.document('chats/1')
  assert.deepEqual(
    messages.map(({ text }) => text.slice(0, 8)),
    ['xxxxxxxx', 're: xxxx', 'and now?', `re: ${front}`.slice(0, 8)],
  )
})

test('[Rb38] what a summary is asked for with, and what stands before it, is the agent’s to say', async () => {
  const trim = { ...summarize, endPrompt: 'Now condense.', resultPrefix: 'So far: ' }
  const stage = stageOf([{ id: 'root', history: { trim } }], { root: () => 'ok' }, () => 'y'.repeat(200))
  await stage.ask('root', long, { id: 'chats/1' })
  await stage.run('chats/1', { prompt: 'two' })
  const [, condense, answer] = stage.requests as [ModelRequest, ModelRequest, ModelRequest]
  assert.equal(systemText(condense), 'You condense.')
  assert.equal(
    lastUserMessage(condense),
    `<conversation>\nuser: ${long}\nassistant: ok\n</conversation>\n\nNow condense. Use at most 20 tokens.`,
  )
  // A model that says more than it was asked for is cut short.
  assert.deepEqual(read(answer), [`user: [from @witan to @root] So far: ${'y'.repeat(80)}\n\ntwo`])
})

test('[Rb39] a summary is read by every later run, also after a restart, and becomes part of the next one', async () => {
  const stage = stageOf([{ id: 'root', history: { trim: summarize } }], { root: () => 'short' })
  await stage.ask('root', long, { id: 'chats/1' })
  await stage.run('chats/1', { prompt: 'two' })
  await stage.runtime.close()
  const again = createRuntime({ store: stage.store, models: { 'play/model': stage.model } })
  await (await again.run('chats/1', { prompt: 'three' })).result
  assert.deepEqual(read(stage.requests.at(-1) as ModelRequest), [
    'user: [from @witan to @root] Summary of the conversation so far: they greeted\n\ntwo',
    'assistant: short',
    'user: three',
  ])
  await (await again.run('chats/1', { prompt: long })).result
  await (await again.run('chats/1', { prompt: 'five' })).result
  assert.match(
    lastUserMessage(stage.requests.at(-2) as ModelRequest),
    /they greeted\n\ntwo\nassistant: short\nuser: three/,
  )
  await again.close()
})

test('[E19] [Rb39] a value that is hidden after a summary told it is taken out of what is read of that summary', async () => {
  const canary = 'Users/canary-7'
  const trusted = { name: 'key', policy: 'forbidModelGeneration' } as const
  const stage = stageOf(
    [{ id: 'root', parameters: [trusted], history: { trim: summarize } }],
    { root: () => 'noted' },
    () => `the key is ${canary}`,
  )
  await stage.ask('root', long, { id: 'chats/1', parameters: { key: canary } })
  await stage.run('chats/1', { prompt: 'and now?' })
  assert.match(lastUserMessage(stage.requests[2] as ModelRequest), new RegExp(`the key is ${canary}`))
  const hidden = { key: { value: canary, sendToModel: false } }
  await stage.ask('root', 'again', { id: 'chats/1', parameters: hidden })
  const last = JSON.stringify(stage.requests.at(-1))
  assert.match(last, /the key is \[hidden\]/)
  assert.doesNotMatch(last, new RegExp(canary))
})

test('[Rb38] [Rb39] truncation keeps whole runs of the newest messages, and the system message', async () => {
  const trim = { kind: 'truncate', messagesBefore: 6, messagesAfter: 5 } as const
  const stage = stageOf([{ id: 'root', history: { trim }, actions: [{ name: 'Ask' }] }], {
    root: (request, turn) => (turn === 0 && lastUserMessage(request) === 'act' ? call('Ask') : 'ok'),
  })
  await stage.ask('root', 'one', { id: 'chats/1' })
  const { interruptions } = await stage.run('chats/1', { prompt: 'act' })
  await stage.run('chats/1', { actionResponses: [{ id: interruptions[0]?.id, response: 'yes' }] })
  await stage.run('chats/1', { prompt: 'three' })
  assert.equal(read(stage.requests.at(-1) as ModelRequest).length, 7, 'at the bound nothing is cut')
  await stage.run('chats/1', { prompt: 'four' })
  // Eight stand before `four`; the newest five begin within the run of `act`, so that goes as a whole.
  assert.deepEqual(read(stage.requests.at(-1) as ModelRequest), ['user: three', 'assistant: ok', 'user: four'])
  for (const request of stage.requests) assertAlternates(request)
  assert.equal((await stage.document('chats/1')).messages.length, 9)
  assert.equal((await stage.events('chats/1')).filter(({ type }) => type === 'summary').length, 1)
})

test('[E46] [Rb39] nothing is cut while an action is open, and a delegate is trimmed by its own rule', async () => {
  const agents: AgentDraft[] = [
    { id: 'root', actions: [{ name: 'Ask' }], subAgents: [{ agent: 'leaf' }] },
    { id: 'leaf', history: { trim: summarize } },
  ]
  const ask = { name: 'Ask', arguments: {} }
  const delegate = (message: string) => ({ name: 'leaf', arguments: { message } })
  const stage = stageOf(agents, {
    root: (request, turn) => {
      if (turn > 0) return 'ok'
      const said = lastUserMessage(request)
      return said === 'both' ? { toolCalls: [ask, delegate('two')] } : { toolCalls: [delegate(said)] }
    },
    leaf: () => 'seen',
  })
  await stage.ask('root', long, { id: 'chats/1' })
  const { interruptions } = await stage.run('chats/1', { prompt: 'both' })
  assert.equal(stage.requests.filter(isSummary).length, 0)
  await stage.run('chats/1', { actionResponses: [{ id: interruptions[0]?.id, response: 'yes' }] })
  const result = await stage.run('chats/1', { prompt: 'three' })
  assert.equal(stage.requests.filter(isSummary).length, 1)
  const summary = (await stage.events('chats/1')).find(({ type }) => type === 'summary')
  assert.equal(summary?.content['document'], 'chats/1/leaf')
  assert.equal(result.usage.byAgent['root/leaf']?.modelCalls, 2)
  assert.match(
    read(
      stage.seenBy('leaf').at(-1) ??
        (stage.requests.findLast((one) => systemText(one) === 'You are leaf.') as ModelRequest),
    )[0] ?? '',
    /they greeted\n\nthree$/,
  )
})

test('[Rb39] a history that grows too long within a run is left to the next one', async () => {
  const used = { inputTokens: 500, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 }
  const stage = stageOf(
    [{ id: 'root', history: { trim: { ...summarize, maxTokensAfter: 1 } }, actions: [{ name: 'Ask' }] }],
    {
      root: (request) =>
        lastUserMessage(request) === 'act' && request.messages.at(-1)?.role === 'user'
          ? { ...call('Ask'), usage: used }
          : 'fine',
    },
  )
  await stage.ask('root', 'a few words', { id: 'chats/1' })
  const { interruptions } = await stage.run('chats/1', { prompt: 'act' })
  await stage.run('chats/1', { actionResponses: [{ id: interruptions[0]?.id, response: 'yes' }] })
  // What the provider counted is far over the bound by now, and yet the second step reads what the first one read.
  assert.deepEqual(read(stage.requests[2] as ModelRequest).slice(0, 3), [
    'user: a few words',
    'assistant: fine',
    'user: act',
  ])
  assert.equal(stage.requests.filter(isSummary).length, 0)
})

test('[Rb39] where a summary cannot be had the run goes on with its whole history, and says so', async () => {
  const troubles: Rule[] = [() => new Error('the model is down'), () => '   ']
  for (const trouble of troubles) {
    const stage = stageOf([{ id: 'root', history: { trim: summarize } }], { root: () => 'ok' }, trouble)
    await stage.ask('root', long, { id: 'chats/1' })
    assert.equal((await stage.run('chats/1', { prompt: 'two' })).status, 'completed')
    assert.deepEqual(read(stage.requests.at(-1) as ModelRequest), [`user: ${long}`, 'assistant: ok', 'user: two'])
    const notice = (await stage.events('chats/1')).find(({ type }) => type === 'notice')
    assert.equal(notice?.content['code'], 'HISTORY_NOT_TRIMMED')
  }
})

test('[Rb38] [C3] a budget with one call left is for the answer, not for a summary', async () => {
  const draft = { id: 'root', history: { trim: summarize }, limits: { maxModelCalls: 1 } }
  const stage = stageOf([draft], { root: () => 'ok' })
  await stage.ask('root', long, { id: 'chats/1' })
  const result = await stage.run('chats/1', { prompt: 'two' })
  assert.deepEqual([result.status, result.usage.modelCalls], ['completed', 1])
})

test('[Rb38] exactly one way to trim, with bounds above nothing and in order; anything else is refused', async () => {
  const { runtime } = stageOf([{ id: 'root' }], {})
  const save = (history: unknown) => runtime.agents.save({ ...agent('other'), history: history as never })
  const bad = [
    [{ trim: { kind: 'summarize', maxTokensBefore: 10, maxTokensAfter: 11 } }, 'LIMIT_INVALID', 'maxTokensAfter'],
    [{ trim: { kind: 'summarize', maxTokensBefore: 0 } }, 'LIMIT_INVALID', 'maxTokensBefore'],
    [{ trim: { kind: 'truncate', messagesBefore: 4, messagesAfter: 0 } }, 'LIMIT_INVALID', 'messagesAfter'],
    [{ trim: { kind: 'truncate', messagesBefore: 4, messagesAfter: 5 } }, 'LIMIT_INVALID', 'messagesAfter'],
    [{ trim: { kind: 'truncate', maxTokensAfter: 5 } }, 'UNKNOWN_KEY', 'maxTokensAfter'],
    [{ trim: { kind: 'forget' } }, 'AGENT_INVALID', 'kind'],
    [{}, 'AGENT_INVALID', 'trim'],
  ] as const
  for (const [history, code, key] of bad) {
    await assert.rejects(save(history), (error: { code: string; path: string }) => {
      assert.deepEqual([error.code, error.path.split('.').at(-1)], [code, key], JSON.stringify(history))
      return true
    })
  }
  const { agent: saved } = await save({ trim: { kind: 'truncate' } })
  assert.deepEqual(saved.history?.trim, { kind: 'truncate', messagesBefore: 500, messagesAfter: 250 })
  const whole = (await save({ trim: { kind: 'summarize' } })).agent.history?.trim
  assert.deepEqual(whole?.kind === 'summarize' ? [whole.maxTokensBefore, whole.maxTokensAfter] : [], [32_768, 1024])
  const small = (await save({ trim: { kind: 'truncate', messagesBefore: 9 } })).agent.history?.trim
  assert.equal(small?.kind === 'truncate' && small.messagesAfter, 9)
  assert.equal((await save(null)).agent.history, null)
})
