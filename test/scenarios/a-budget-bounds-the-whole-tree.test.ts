/** Budgets: what an agent, a tree and a level may spend, and how they stop. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, type Rule } from '@witan/core/testing'
import { assertAlternates, assertSound, assertUsage } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { createStage, settle, type Stage } from '../support/stage.ts'

const stubborn = (tool: string): Rule => {
  let count = 0
  return () => ({ text: 'so far', ...call(tool, { message: `try ${++count}` }) })
}
const obedient = (tool: string): Rule => {
  let count = 0
  return (request) => (request.toolChoice === 'none' ? 'my answer' : call(tool, { message: `try ${++count}` }))
}

async function sound(stage: Stage, result: Awaited<ReturnType<Stage['ask']>>) {
  const events = await stage.events('chats/1')
  assertSound(events)
  assertUsage(result, events)
  for (const request of stage.requests) assertAlternates(request)
  return events
}

test('[C3] an agent at its iteration limit answers once more without tools', async () => {
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'leaf' }], limits: { maxIterations: 3 } }, { id: 'leaf' }],
    plays: { root: obedient('leaf'), leaf: () => 'more' },
  })
  const result = await stage.ask('root', 'go', { id: 'chats/1' })
  assert.equal(result.status, 'completed')
  assert.equal(result.finishReason, 'iteration_limit')
  assert.equal(result.text, 'my answer')
  assert.equal(stage.seenBy('root').length, 4)
  assert.deepEqual(
    stage.seenBy('root').map(({ toolChoice }) => toolChoice),
    ['auto', 'auto', 'auto', 'none'],
  )
  await sound(stage, result)
})

test('[E26] a tool called although all tools are off is not run; the text is the answer', async () => {
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'leaf' }], limits: { maxIterations: 1 } }, { id: 'leaf' }],
    plays: { root: stubborn('leaf'), leaf: () => 'more' },
  })
  const result = await stage.ask('root', 'go', { id: 'chats/1' })
  assert.equal(result.text, 'so far')
  assert.equal(result.finishReason, 'iteration_limit')
  assert.equal(stage.seenBy('root').length, 2)
  assert.equal(stage.seenBy('leaf').length, 1)
  const errors = (await sound(stage, result)).filter(({ type }) => type === 'error')
  assert.equal(errors.length, 1)
})

test('[E26] a last answer that calls and says nothing is the answer all the same: nobody is asked once more', async () => {
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'leaf' }], limits: { maxIterations: 1 } }, { id: 'leaf' }],
    plays: { root: (_, turn) => call('leaf', { message: `try ${turn}` }), leaf: () => 'more' },
  })
  const result = await stage.ask('root', 'go', { id: 'chats/1' })
  assert.deepEqual([result.status, result.text, result.finishReason], ['completed', '', 'iteration_limit'])
  assert.deepEqual([stage.seenBy('root').length, stage.seenBy('leaf').length], [2, 1])
  const errors = (await sound(stage, result)).filter(({ type }) => type === 'error')
  assert.equal(errors.length, 1)
})

test('[E25] forced tool mode gives way on the last answer', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf' }], toolMode: 'force', limits: { maxIterations: 1 } },
      { id: 'leaf' },
    ],
    plays: { root: obedient('leaf'), leaf: () => 'more' },
  })
  await stage.ask('root', 'go')
  assert.deepEqual(
    stage.seenBy('root').map(({ toolChoice }) => toolChoice),
    ['required', 'none'],
  )
})

test('[E25] who has called nothing yet is not forced either, once the rounds of the tree are gone', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'mid' }], limits: { maxModelIterationsPerCall: 1 } },
      { id: 'mid', toolMode: 'force', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf' },
    ],
    plays: { root: obedient('mid'), mid: obedient('leaf'), leaf: () => 'never' },
  })
  const result = await stage.ask('root', 'go', { id: 'chats/1' })
  assert.deepEqual(
    stage.seenBy('mid').map(({ toolChoice }) => toolChoice),
    ['none'],
  )
  assert.equal(stage.seenBy('leaf').length, 0)
  await sound(stage, result)
})

test('[C3] what an agent does at its own limit is its own to say, whatever its root says', async () => {
  for (const [own, roots, status] of [
    ['error', 'answer', 'failed'],
    ['answer', 'error', 'completed'],
  ] as const) {
    const stage = createStage({
      agents: [
        { id: 'root', subAgents: [{ agent: 'mid' }], onExhausted: roots },
        { id: 'mid', subAgents: [{ agent: 'leaf' }], limits: { maxIterations: 2 }, onExhausted: own },
        { id: 'leaf' },
      ],
      plays: { root: [call('mid', { message: 'go' }), 'done'], mid: obedient('leaf'), leaf: () => 'more' },
    })
    const result = await stage.ask('root', 'go', { id: 'chats/1' })
    assert.deepEqual([result.status, result.error?.code ?? null], [status, own === 'error' ? 'BUDGET_EXCEEDED' : null])
    await sound(stage, result)
  }
})

test('[C3] with `onExhausted: error` the same limit fails the run', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf' }], limits: { maxIterations: 2 }, onExhausted: 'error' },
      { id: 'leaf' },
    ],
    plays: { root: obedient('leaf'), leaf: () => 'more' },
  })
  const result = await stage.ask('root', 'go', { id: 'chats/1' })
  assert.equal(result.error?.code, 'BUDGET_EXCEEDED')
  await sound(stage, result)
})

test('[R17] [C4] [E24] the root’s rounds bound the whole tree, and every ancestor still answers', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'mid' }], limits: { maxModelIterationsPerCall: 4 } },
      { id: 'mid', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', subAgents: [{ agent: 'deep' }] },
      { id: 'deep' },
    ],
    plays: { root: obedient('mid'), mid: obedient('leaf'), leaf: obedient('deep'), deep: () => 'deep answer' },
  })
  const result = await stage.ask('root', 'go', { id: 'chats/1' })
  assert.equal(result.status, 'completed')
  assert.equal(result.text, 'my answer')
  // `deep` has no tools: its two answers take no round.
  assert.equal(result.usage.modelCalls, 9)
  assert.deepEqual(
    ['leaf', 'mid', 'root'].map((id) => stage.seenBy(id).at(-1)?.toolChoice),
    ['none', 'none', 'none'],
  )
  await sound(stage, result)
})

test('[R17] [C4] the rounds are counted anew for each message, and those of an agent below the root are not asked for', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'mid' }], limits: { maxModelIterationsPerCall: 4 } },
      { id: 'mid', subAgents: [{ agent: 'leaf' }], limits: { maxModelIterationsPerCall: 1 } },
      { id: 'leaf' },
    ],
    plays: { root: obedient('mid'), mid: obedient('leaf'), leaf: () => 'leaf answer' },
  })
  // One round is in `root`, three are in `mid`, none in `leaf`, which has no tools; `mid` and `root` then still answer.
  const calls = ['auto', 'auto', 'none', 'auto', 'none', 'auto', 'none', 'none', 'none']
  const asked = () => stage.requests.map(({ toolChoice }) => toolChoice)
  await stage.ask('root', 'go', { id: 'chats/1' })
  assert.deepEqual(asked(), calls)
  const again = await stage.run('chats/1', { prompt: 'again' })
  assert.deepEqual(asked(), [...calls, ...calls])
  assert.deepEqual([again.usage.modelCalls, again.finishReason], [9, 'iteration_limit'])
})

test('[Rb17] a conversation’s own rounds come before the agent’s', async () => {
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'leaf' }], limits: { maxModelIterationsPerCall: 9 } }, { id: 'leaf' }],
    plays: { root: obedient('leaf'), leaf: () => 'more' },
  })
  const result = await stage.ask('root', 'go', { id: 'chats/1', maxModelIterationsPerCall: 2 })
  assert.equal(stage.seenBy('root').length, 3)
  assert.equal(result.finishReason, 'iteration_limit')
})

test('[Rb17] an agent that says nothing has 16 iterations with tools, as a root and below one', async () => {
  for (const [limits, most] of [
    [{}, 16],
    [{ maxIterations: 18 }, 18],
  ] as const) {
    const stage = createStage({
      agents: [
        { id: 'top', subAgents: [{ agent: 'root' }] },
        { id: 'root', subAgents: [{ agent: 'leaf' }], limits },
        { id: 'leaf' },
      ],
      plays: {
        top: [call('root', { message: 'go' }), 'done'],
        root: obedient('leaf'),
        leaf: () => 'more',
      },
    })
    for (const agent of ['root', 'top']) {
      const before = stage.seenBy('root').length
      await stage.ask(agent, 'go')
      const choices = stage.seenBy('root').slice(before)
      assert.deepEqual(
        choices.map(({ toolChoice }) => toolChoice),
        [...Array(most).fill('auto'), 'none'],
      )
    }
  }
})

test('[bad input 15] a run that stops says whose limit it met: the configuration’s, or the root agent’s', async () => {
  for (const [ceiling, own, whose] of [
    [3, 9, 'the configuration'],
    [9, 3, 'the root agent'],
    [3, 3, 'the root agent'],
  ] as const) {
    const stage = createStage({
      agents: [{ id: 'root', subAgents: [{ agent: 'leaf' }], limits: { maxModelCalls: own } }, { id: 'leaf' }],
      plays: { root: stubborn('leaf'), leaf: () => 'more' },
      options: { limits: { maxModelCalls: ceiling } },
    })
    const { error } = await stage.ask('root', 'go')
    assert.equal(error?.code, 'BUDGET_EXCEEDED')
    assert.match(error.detail, /^modelCalls 3 of 3 used \(root 2, root\/leaf 1\)\.$/)
    assert.equal(error.hint, `Raise limits.maxModelCalls of ${whose}, or look at the tree for what repeats.`)
  }
})

test('[E23] [I10] siblings that think at once never spend more model calls than the tree has', async () => {
  for (let most = 1; most < 8; most += 1) {
    const stage = createStage({
      agents: [
        { id: 'root', subAgents: ['a', 'b', 'c'].map((id) => ({ agent: id })), limits: { maxModelCalls: most } },
        ...['a', 'b', 'c'].map((id) => ({ id })),
      ],
      plays: {
        root: [{ toolCalls: ['a', 'b', 'c'].map((name) => ({ name, arguments: { message: 'x' } })) }, 'done'],
        ...Object.fromEntries(
          ['a', 'b', 'c'].map((id) => [
            id,
            async () => {
              await settle(2)
              return id
            },
          ]),
        ),
      },
    })
    const result = await stage.ask('root', 'go', { id: 'chats/1' })
    assert.ok(stage.requests.length <= most, `${stage.requests.length} calls of ${most}`)
    assert.equal(result.status, most >= 5 ? 'completed' : 'failed', `most ${most}`)
    if (most < 5) {
      assert.equal(result.error?.code, 'BUDGET_EXCEEDED')
      assert.match(result.error?.detail ?? '', /modelCalls \d of \d used.*root/)
    }
    await sound(stage, result)
  }
})

test('[C2] [F36] at the greatest depth delegates are not offered, and a call all the same is an error to read', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'mid' }], limits: { maxDepth: 1 } },
      { id: 'mid', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf' },
    ],
    plays: {
      root: [call('mid', { message: 'go' }), 'done'],
      mid: [call('leaf', { message: 'deeper' }), 'I answer myself'],
    },
  })
  const result = await stage.ask('root', 'go', { id: 'chats/1' })
  assert.equal(result.status, 'completed')
  assert.deepEqual(stage.seenBy('mid')[0]?.tools, [])
  const cue = 'This is the last level (1 of 1): answer with what you have, no other agent can be asked.'
  assert.equal(stage.seenBy('mid')[0]?.messages[0]?.content, `You are mid.\n${cue}`)
  assert.equal(stage.seenBy('mid')[1]?.messages[0]?.content, `You are mid.\n${cue}`)
  assert.equal(stage.seenBy('root')[0]?.messages[0]?.content, 'You are root.', 'only at the cap')
  assert.match(stage.seenBy('mid')[1]?.messages.at(-1)?.content ?? '', /deeper than 1/)
  const codes = (await sound(stage, result))
    .filter(({ type }) => type === 'error')
    .map(({ content }) => content['code'])
  assert.deepEqual(codes, ['DEPTH_EXCEEDED'])
  assert.equal(stage.seenBy('leaf').length, 0)
})

test('[C2] the cue of the last level stands below the parameters, and only where there is a delegate to miss', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'mid' }, { agent: 'leaf' }] },
      { id: 'mid', parameters: [{ name: 'topic' }], subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf' },
    ],
    plays: {
      root: [
        {
          toolCalls: [
            { name: 'mid', arguments: { message: 'go' } },
            { name: 'leaf', arguments: { message: 'go' } },
          ],
        },
        'done',
      ],
      mid: ['here'],
      leaf: ['here'],
    },
    // The ceiling of the runtime counts as well as the root's own limit.
    options: { limits: { maxDepth: 1 } },
  })
  await stage.ask('root', 'go', { parameters: { topic: 'stock' } })
  const [mid = ''] = stage.seenBy('mid').map(({ messages }) => messages[0]?.content)
  assert.match(mid, /^You are mid\.\ntopic = "stock"\nThis is the last level \(1 of 1\): .*\.$/)
  assert.equal(stage.seenBy('leaf')[0]?.messages[0]?.content, 'You are leaf.')
})

test('[D13] tokens and seconds of the tree are limits too', async () => {
  const tokens = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'leaf' }], limits: { maxTokens: 10 } }, { id: 'leaf' }],
    plays: {
      root: [
        {
          ...call('leaf', { message: 'x' }),
          usage: { inputTokens: 8, outputTokens: 8, cachedInputTokens: 0, reasoningTokens: 0 },
        },
      ],
    },
  })
  assert.equal((await tokens.ask('root', 'go')).error?.code, 'BUDGET_EXCEEDED')
  const clock = fakeClock()
  const seconds = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'leaf' }], limits: { maxSeconds: 5 } }, { id: 'leaf' }],
    plays: {
      root: () => {
        clock.advance(6000)
        return call('leaf', { message: 'x' })
      },
    },
    options: { clock },
  })
  assert.equal((await seconds.ask('root', 'go')).error?.code, 'BUDGET_EXCEEDED')
})

test('[E27] text beside a call is kept; the last text is the answer', async () => {
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'leaf' }] }, { id: 'leaf' }],
    plays: { root: [{ text: 'Let me ask.', ...call('leaf', { message: 'x' }) }, 'It is so.'], leaf: ['so'] },
  })
  const result = await stage.ask('root', 'go', { id: 'chats/1' })
  assert.equal(result.text, 'It is so.')
  assert.equal((await stage.document('chats/1')).messages[1]?.text, 'Let me ask.')
})

test('[E28] an empty answer is asked for once more, and twice empty fails', async () => {
  const once = createStage({
    agents: [{ id: 'root' }],
    plays: {
      root: (() => {
        let n = 0
        return () => (n++ === 0 ? ' ' : 'here')
      })(),
    },
  })
  assert.equal((await once.ask('root', 'go')).text, 'here')
  const twice = createStage({ agents: [{ id: 'root' }], plays: { root: () => '' } })
  const result = await twice.ask('root', 'go')
  assert.equal(result.error?.code, 'MODEL_REPLY_INVALID')
  assert.equal(twice.requests.length, 2)
})

test('[E33] a cap of zero, a negative one or a fraction is refused', async () => {
  const stage = createStage({ agents: [], plays: {} })
  for (const maxIterations of [0, -1, 1.5, Number.NaN, 1e9]) {
    const bad = { id: 'root', model: 'play/model', instructions: 'x', limits: { maxIterations } }
    await assert.rejects(stage.runtime.agents.save(bad), { code: 'LIMIT_INVALID', path: 'limits.maxIterations' })
  }
})

test('[C3] [P14] a model call that fails is one of the tree’s: children that only fail end with its budget', async () => {
  const failing = (_: unknown, turn: number) => ({ toolCalls: ['a', 'b'].flatMap((id) => asks(id, `${turn}`)) })
  const asks = (id: string, text: string) => call(id, { message: text }).toolCalls ?? []
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'a' }, { agent: 'b' }], limits: { maxModelCalls: 7, maxIterations: 100 } },
      { id: 'a' },
      { id: 'b' },
    ],
    plays: { root: failing, a: () => new Error('no'), b: () => new Error('no') },
  })
  const result = await stage.ask('root', 'go', { id: 'chats/1' })
  assert.equal(stage.requests.length, 7)
  assert.equal(result.error?.code, 'BUDGET_EXCEEDED')
  assert.match(result.error?.detail ?? '', /^modelCalls 7 of 7 used \(root 3, failed 4\)\.$/)
  assert.equal(result.usage.modelCalls, 3)
  await sound(stage, result)
})
