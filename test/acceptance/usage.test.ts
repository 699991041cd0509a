/** The bill: tokens of every model call of the tree, summed over the whole run and told apart by the agent's path. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createGate } from './support/model-server.ts'
import { agent, createStage, type Stage, sub, until } from './support/stage.ts'
import type { RunResult, RunState, Usage, UsageCounts } from './support/wire.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage?.close())

const counted = [
  'modelCalls',
  'toolCalls',
  'inputTokens',
  'outputTokens',
  'cachedInputTokens',
  'reasoningTokens',
  'totalTokens',
] as const

function assertAddsUp(usage: Usage): void {
  for (const field of counted) {
    const sum = Object.values(usage.byAgent).reduce((total, part) => total + part[field], 0)
    assert.equal(usage[field], sum, `${field} is the sum of its parts`)
  }
}

function tokens({ modelCalls, inputTokens, outputTokens, totalTokens }: UsageCounts): Record<string, number> {
  return { modelCalls, inputTokens, outputTokens, totalTokens }
}

test('usage is the sum over the whole tree, apart by path [Rb56] [T27]', async () => {
  await stage.save(
    agent('u-root', { subAgents: [sub('u-mid')] }),
    agent('u-mid', { subAgents: [sub('u-leaf')] }),
    agent('u-leaf'),
  )
  stage.model.script(
    'u-root',
    { calls: [{ name: 'u-mid', args: { message: 'm' } }], usage: { input: 1, output: 2, cached: 1 } },
    { text: 'done', usage: { input: 4, output: 8, cached: 2 } },
  )
  stage.model.script(
    'u-mid',
    { calls: [{ name: 'u-leaf', args: { message: 'l' } }], usage: { input: 16, output: 32 } },
    { text: 'ok', usage: { input: 64, output: 128 } },
  )
  stage.model.script('u-leaf', { text: 'ok', usage: { input: 256, output: 512, reasoning: 100 } })
  const { usage, conversationId } = await stage.ask('u-root', 'hello')
  assert.deepEqual(tokens(usage), { modelCalls: 5, inputTokens: 341, outputTokens: 682, totalTokens: 1023 })
  assert.equal(usage.cachedInputTokens, 3)
  assert.equal(usage.reasoningTokens, 100)
  assert.equal(usage.complete, true)
  assert.deepEqual(Object.keys(usage.byAgent).sort(), ['u-root', 'u-root/u-mid', 'u-root/u-mid/u-leaf'])
  assert.deepEqual(tokens(usage.byAgent['u-root'] as UsageCounts), {
    modelCalls: 2,
    inputTokens: 5,
    outputTokens: 10,
    totalTokens: 15,
  })
  assert.deepEqual(tokens(usage.byAgent['u-root/u-mid'] as UsageCounts), {
    modelCalls: 2,
    inputTokens: 80,
    outputTokens: 160,
    totalTokens: 240,
  })
  assertAddsUp(usage)
  const leaf = await stage.document(`${conversationId}/u-mid/u-leaf`)
  assert.equal(leaf.totalUsage.inputTokens, 256)
  assert.equal(leaf.totalUsage.outputTokens, 512)
})

test('one agent on two paths is billed on each', async () => {
  await stage.save(
    agent('fork', { subAgents: [sub('shared'), sub('fork-mid')] }),
    agent('fork-mid', { subAgents: [sub('shared')] }),
    agent('shared'),
  )
  stage.model.script(
    'fork',
    {
      calls: [
        { name: 'shared', args: { message: 'a' } },
        { name: 'fork-mid', args: { message: 'b' } },
      ],
    },
    { text: 'done' },
  )
  stage.model.script('fork-mid', { calls: [{ name: 'shared', args: { message: 'c' } }] }, { text: 'ok' })
  stage.model.on('shared', () => ({ text: 'ok' }))
  const { usage } = await stage.ask('fork', 'hello')
  assert.deepEqual(Object.keys(usage.byAgent).sort(), ['fork', 'fork/fork-mid', 'fork/fork-mid/shared', 'fork/shared'])
  assert.equal(usage.modelCalls, 6)
  assertAddsUp(usage)
})

test('what was spent before a run waited is on its bill, and the next run starts a new one', async () => {
  await stage.save(agent('u-wait', { actions: [{ name: 'save-it', description: 'Saves.' }] }))
  stage.model.script('u-wait', { calls: [{ name: 'save-it' }] }, { text: 'done' }, { text: 'again' })
  const waiting = await stage.ask('u-wait', 'hello')
  assert.equal(waiting.usage.inputTokens, 10)
  const response = { id: waiting.interruptions[0]?.id, response: 'ok' }
  const done = await stage.run(waiting.conversationId, { actionResponses: [response] })
  assert.deepEqual(tokens(done.usage), { modelCalls: 2, inputTokens: 20, outputTokens: 10, totalTokens: 30 })
  const next = await stage.run(waiting.conversationId, { prompt: 'more' })
  assert.equal(next.usage.modelCalls, 1)
})

test('a model that reports no usage makes the sum incomplete, not zero by claim [E83]', async () => {
  await stage.save(agent('silent', { subAgents: [sub('silent-leaf')] }), agent('silent-leaf'))
  stage.model.script('silent', { calls: [{ name: 'silent-leaf', args: { message: 'm' } }] }, { text: 'done' })
  stage.model.script('silent-leaf', { text: 'ok', usage: null })
  const { usage } = await stage.ask('silent', 'hello')
  assert.equal(usage.complete, false)
  assert.equal(usage.modelCalls, 3)
  assert.equal(usage.inputTokens, 20)
})

/** Whether a result, the tree of its run and its document say that their usage is complete. */
async function assertComplete(on: Stage, result: RunResult, isComplete: boolean): Promise<void> {
  assert.equal(result.usage.complete, isComplete, 'the result')
  const { body } = await on.witan.call<RunState>('GET', `/api/v1/runs/${result.runId}`)
  assert.equal(body.tree.usage.complete, isComplete, 'the tree')
  assert.equal((await on.document(result.conversationId)).totalUsage.complete, isComplete, 'the document')
}

test('a stream that breaks may have cost, a request that is refused has not [E83]', async () => {
  await stage.save(agent('broke'), agent('lost-a-try'), agent('busy'), agent('no-key'), agent('unknown'))
  stage.model.script('broke', { text: 'half of a whole', pieces: 4, cutAfter: 3 }, { text: 'whole' })
  stage.model.script('lost-a-try', { text: 'lost', cutAfter: 0 }, { text: 'whole' })
  stage.model.script('busy', { status: 429 }, { status: 503 }, { text: 'fine' })
  stage.model.script('no-key', { status: 401 })
  stage.model.script('unknown', { status: 404 })
  for (const [id, isComplete] of [
    ['broke', false],
    ['lost-a-try', false],
    ['busy', true],
    ['no-key', true],
    ['unknown', true],
  ] as const)
    await assertComplete(stage, await stage.ask(id, 'hello'), isComplete)
})

for (const how of ['cancel', 'time'] as const)
  test(`a call that is cut off may have cost: ${how} [E83]`, async () => {
    const id = `cut-by-${how}`
    const limits = how === 'time' ? { limits: { maxSeconds: 1 } } : {}
    await stage.save(agent(id, limits))
    const gate = createGate()
    stage.model.on(id, () => ({ text: 'never heard', hold: gate }))
    const begun = await stage.begin(id)
    const { body } = await stage.runAnswer<{ runId: string }>(begun.id, { prompt: 'hello', wait: false })
    await gate.entered
    if (how === 'cancel')
      await stage.witan.call('POST', `/api/v1/runs/${body.runId}/cancel`, { body: { tasks: false } })
    const read = async () => (await stage.witan.call<RunState>('GET', `/api/v1/runs/${body.runId}`)).body
    const { result } = await until(read, ({ status }) => status !== 'running')
    gate.open()
    assert.equal(result?.status, how === 'cancel' ? 'cancelled' : 'failed')
    await assertComplete(stage, result as RunResult, false)
  })

for (const how of ['kill', 'stop'] as const)
  test(`a call that its process did not survive may have cost: ${how} [E83] [D3]`, async () => {
    const file = await createStage({ store: 'file' })
    try {
      await file.save(agent('outlived', { subAgents: [sub('outlived-leaf')] }), agent('outlived-leaf'))
      const gate = createGate()
      file.model.script(
        'outlived',
        { calls: [{ name: 'outlived-leaf', args: { message: 'm' } }] },
        { text: 'done' },
        { text: 'and so on' },
      )
      file.model.on('outlived-leaf', ({ nth }) => (nth === 1 ? { text: 'never heard', hold: gate } : { text: 'ok' }))
      const { id } = await file.begin('outlived')
      const { body } = await file.runAnswer<{ runId: string }>(id, { prompt: 'hello', wait: false })
      await gate.entered
      await file.witan[how]()
      gate.open()
      await file.witan.start()
      await until(
        () => file.conversation(id),
        ({ status }) => status === 'idle',
      )
      const read = async () => (await file.witan.call<RunState>('GET', `/api/v1/runs/${body.runId}`)).body
      const { result, tree } = await read()
      assert.equal(result?.text, 'done')
      const { usage } = result as RunResult
      assert.deepEqual(
        [usage.complete, usage.byAgent['outlived']?.complete, usage.byAgent['outlived/outlived-leaf']?.complete],
        [false, true, false],
      )
      assert.equal(tree.usage.complete, true, 'the root lost nothing of its own')
      assert.equal((await file.document(`${id}/outlived-leaf`)).totalUsage.complete, false)
      await file.witan.kill()
      await file.witan.start()
      assert.deepEqual((await read()).result?.usage, usage, 'after another restart')
      assert.equal((await file.run(id, { prompt: 'more' })).usage.complete, true, 'the next run is another sum')
    } finally {
      await file.close()
    }
  })
