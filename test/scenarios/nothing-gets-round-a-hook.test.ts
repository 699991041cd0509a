/** Ways round a hook that were found by attack: what is not asked, what is asked too late, and what stays beside what a hook wrote [F02, Tb12]. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createRuntime, defineHooks, type HooksDefinition, memoryStore } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import { hookedStage, inTurn, paid, pay } from '../support/hooked-stage.ts'
import { outliving } from '../support/reopen.ts'
import { type AgentDraft, agent, createStage, type Play, type Stage, settle, until } from '../support/stage.ts'

type Functions = Omit<HooksDefinition, 'name'>

const readBy = (stage: Stage, id: string) => JSON.stringify(stage.seenBy(id).map(({ messages }) => messages))
const said = async (stage: Stage) => (await stage.document('chats/1')).messages.map(({ text }) => text)
const structured = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }

describe('[F02] a hook is asked', () => {
  test('if it is a method of an object, with that object', async () => {
    class Audit {
      name = 'audit'
      beforeTool() {
        return { refuse: `${this.name} says no` }
      }
    }
    const stage = createStage({
      agents: [{ id: 'root', tools: ['pay'] }],
      plays: { root: [call('pay', { amount: 5 }), 'Done.'] },
      options: { tools: [pay], hooks: [defineHooks(new Audit())] },
    })
    await stage.ask('root', 'Pay.')
    assert.match(readBy(stage, 'root'), /audit says no/)
  })

  test('again after a restart that cut it off while it thought about a question', async () => {
    const store = outliving(memoryStore())
    const asked: string[] = []
    const open = (answer: () => unknown) =>
      createRuntime({
        ...{ store, retry: { tries: 1 }, report: () => {} },
        models: {
          'play/model': scriptedModel(({ messages }) =>
            messages.at(-1)?.role === 'tool' ? 'Done.' : call('send', {}),
          ),
        },
        agents: [agent('root', { actions: [{ name: 'send' }] })],
        hooks: [
          defineHooks({
            name: 'audit',
            onInterruption: async () => {
              asked.push('asked')
              return (await answer()) as undefined
            },
          }),
        ],
      })
    const first = open(() => new Promise(() => {}))
    const { run } = await first.start({ agent: 'root', id: 'chats/1', prompt: 'Send.' })
    run?.result.catch(() => {})
    await until(() => asked.length === 1)
    await first.close()
    const second = open(() => ({ refuse: 'nobody' }))
    const { status } = await (await second.followRun(run?.runId ?? '')).result
    assert.deepEqual([status, asked.length], ['completed', 2])
    await second.close()
  })

  test('of an answer that a person gives meanwhile: a refusal stands in its place', async () => {
    const hold = { onInterruption: () => delay(30).then(() => ({ refuse: 'nobody is there' })) }
    const stage = hookedStage(hold, [{ id: 'root', tools: ['pay'], approvals: ['pay'] }], {
      root: inTurn(call('pay', { amount: 5 }), 'Done.'),
    })
    const { run } = await stage.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'Pay.' })
    await until(async () => (await stage.runtime.getConversation('chats/1')).interruptions.length > 0)
    const [{ id } = { id: '' }] = (await stage.runtime.getConversation('chats/1')).interruptions
    await stage.runtime.run('chats/1', { answers: [{ id, answer: { decision: 'approved' } }] })
    await run?.result
    await until(async () => (await stage.runtime.getConversation('chats/1')).status === 'idle')
    assert.deepEqual(paid, [])
    assert.match(readBy(stage, 'root'), /hook audit refused: nobody is there/)
  })

  test('of the arguments that a person approves in place of the model’s', async () => {
    const limit: Functions = {
      beforeTool: ({ arguments: args }) => (Number(args['amount']) > 100 ? { refuse: 'too much' } : undefined),
    }
    for (const [amount, expected] of [
      [999, []],
      [7, [7]],
    ] as const) {
      const stage = hookedStage(limit, [{ id: 'root', tools: ['pay'], approvals: ['pay'] }], {
        root: inTurn(call('pay', { amount: 5 }), 'Done.'),
      })
      const { interruptions } = await stage.ask('root', 'Pay.', { id: 'chats/1' })
      const answer = { decision: 'approved', arguments: { amount } }
      await stage.run('chats/1', { answers: [{ id: interruptions[0]?.id, answer }] })
      assert.deepEqual(paid, expected)
    }
  })

  test('of an answer that a message has overtaken', async () => {
    for (const refuses of [true, false]) {
      const hooks: Functions = {
        afterRun: ({ text }) => (text !== 'SECRET' ? undefined : refuses ? { refuse: 'rude' } : { rewrite: 'CLEAN' }),
      }
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      const stage = hookedStage(hooks, [{ id: 'root' }], {
        root: async ({ messages }) => {
          if (JSON.stringify(messages).includes('more')) return 'Both.'
          await held
          return 'SECRET'
        },
      })
      const { run } = await stage.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'one' })
      await until(() => stage.requests.length === 1)
      await stage.runtime.run('chats/1', { prompt: 'more' })
      release()
      const result = await run?.result
      assert.equal(result?.error?.code, refuses ? 'HOOK_REFUSED' : undefined)
      assert.deepEqual(result?.earlierAnswers, refuses ? undefined : ['CLEAN'])
      assert.ok(!(await said(stage)).includes('SECRET'))
    }
  })

  test('of the answer of an agent that control was handed to, as that of who handed over', async () => {
    const hooks: Functions = {
      agents: ['root'],
      afterRun: ({ status }) => (status === 'completed' ? { refuse: 'no' } : undefined),
    }
    const stage = hookedStage(hooks, [{ id: 'root', transfers: [{ agent: 'heir' }] }, { id: 'heir' }], {
      root: inTurn(call('transfer_to_agent', { agent_name: 'heir' })),
      heir: ['Heir.'],
    })
    assert.equal((await stage.ask('root', 'Go.')).error?.code, 'HOOK_REFUSED')
  })

  test('with the arguments of a call, also once its job has rested', async () => {
    const seen: unknown[] = []
    const hooks: Functions = { afterTool: ({ arguments: args }) => void seen.push(args) }
    const action = { name: 'send', parametersSample: { to: 'ann' } }
    const stage = hookedStage(hooks, [{ id: 'root', actions: [action] }], {
      root: inTurn(call('send', { to: 'bob' }), 'Done.'),
    })
    const { interruptions } = await stage.ask('root', 'Send.', { id: 'chats/1' })
    await stage.run('chats/1', { answers: [{ id: interruptions[0]?.id, answer: 'sent' }] })
    assert.deepEqual(seen, [{ to: 'bob' }])
  })
})

describe('[F02] what a hook refused', () => {
  test('as a run began is read by no later run', async () => {
    const hooks: Functions = { beforeRun: ({ message }) => (message.includes('BAD') ? { refuse: 'bad' } : undefined) }
    const stage = hookedStage(hooks, [{ id: 'root' }], { root: ['Fine.'] })
    assert.equal((await stage.ask('root', 'BAD', { id: 'chats/1' })).error?.code, 'HOOK_REFUSED')
    assert.equal((await stage.run('chats/1', { prompt: 'good' })).text, 'Fine.')
    assert.ok(!readBy(stage, 'root').includes('BAD'))
  })

  test('as an answer stands in no document, and no later run reads it', async () => {
    const hooks: Functions = { afterRun: ({ text }) => (text === 'SECRET' ? { refuse: 'rude' } : undefined) }
    const stage = hookedStage(hooks, [{ id: 'root' }], { root: inTurn('SECRET', 'Fine.') })
    await stage.ask('root', 'one', { id: 'chats/1' })
    await stage.run('chats/1', { prompt: 'two' })
    assert.deepEqual(await said(stage), ['one', '[refused]', 'two', 'Fine.'])
    assert.ok(!readBy(stage, 'root').includes('SECRET'))
  })

  test('twice of a revision fails the call, without a third request', async () => {
    const hooks: Functions = { afterModel: ({ text }) => (text.startsWith('Better') ? { refuse: 'no' } : undefined) }
    const stage = hookedStage(hooks, [{ id: 'root', enableReflection: true }], {
      root: inTurn('Draft.', '{"verdict":"revise","problems":["Short."]}', 'Better.', 'Better yet.', 'Third.'),
    })
    assert.equal((await stage.ask('root', 'Go.')).error?.code, 'HOOK_REFUSED')
    assert.equal(stage.requests.length, 4)
  })

  test('of a workflow’s answer was shown by no step of it', async () => {
    const hooks: Functions = {
      agents: ['root'],
      afterRun: ({ status }) => (status === 'completed' ? { refuse: 'no' } : undefined),
    }
    const stage = hookedStage(
      hooks,
      [{ id: 'root', workflow: { kind: 'sequence', agents: ['step'] } }, { id: 'step' }],
      {
        step: [{ deltas: ['SEC', 'RET'] }],
      },
    )
    await stage.runtime.start({ agent: 'root', id: 'chats/1' })
    const end = new AbortController()
    const shown: string[] = []
    const reading = (async () => {
      for await (const { type } of stage.runtime.followEvents('chats/1', { signal: end.signal })) shown.push(type)
    })()
    await (await stage.runtime.run('chats/1', { prompt: 'Go.' })).result
    await settle()
    end.abort()
    await reading.catch(() => undefined)
    assert.ok(shown.length > 0 && !shown.includes('delta'), shown.join())
  })
})

describe('[F02] what a hook wrote', () => {
  test('as the message is what a model reads, whatever stands before or behind it', async () => {
    const clean: Functions = { beforeRun: ({ message }) => ({ rewrite: message.replace('SECRET', 'CLEAN') }) }
    const query = { name: 'now', description: 'Now.', source: 'db', query: 'select 1 as n', addToInitialContext: true }
    const shapes: Readonly<Record<string, readonly AgentDraft[]>> = {
      'initial queries': [{ id: 'root', queries: [query] }],
      'a workflow': [{ id: 'root', workflow: { kind: 'sequence', agents: ['step'] } }, { id: 'step' }],
      'a delegate': [{ id: 'root', subAgents: [{ agent: 'clerk' }] }, { id: 'clerk' }],
    }
    for (const [shape, agents] of Object.entries(shapes)) {
      const stage = createStage({
        agents,
        plays: {
          root: shape === 'a delegate' ? inTurn(call('clerk', { message: 'SECRET?' }), 'Done.') : ['Done.'],
          step: ['Step.'],
          clerk: ['Clerk.'],
        },
        options: {
          hooks: [defineHooks({ name: 'audit', ...clean })],
          sources: { db: { kind: 'sqlite', file: ':memory:' } },
        },
      })
      await stage.ask('root', 'SECRET', { id: 'chats/1' })
      for (const id of shape === 'a delegate' ? ['clerk'] : ['root', 'step'])
        assert.ok(!readBy(stage, id).includes('SECRET'), `${shape}: ${readBy(stage, id)}`)
    }
  })

  test('is the message that began the run, and none that joined it meanwhile', async () => {
    const hooks: Functions = { beforeRun: ({ message }) => delay(30).then(() => ({ rewrite: `${message}, clean` })) }
    const stage = hookedStage(hooks, [{ id: 'root' }], { root: ['Done.'] })
    const { run } = await stage.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'one' })
    await stage.runtime.run('chats/1', { prompt: 'two' })
    await run?.result
    assert.deepEqual(await said(stage), ['one, clean', 'two', 'Done.'])
    assert.match(readBy(stage, 'root'), /one, clean\\n\\ntwo/)
  })

  test('as a result is all that a caller reads: no other text, no structured form, no error beside it', async () => {
    const hooks: Functions = { tools: ['clerk'], afterTool: () => ({ rewrite: { result: 'CLEAN' } }) }
    const clerks: readonly [Omit<AgentDraft, 'id'>, Play, object][] = [
      [
        { tools: ['pay'] },
        inTurn({ text: 'SECRET1', toolCalls: [{ name: 'pay', arguments: { amount: 1 } }] }, 'SECRET2'),
        { collect: 'all' },
      ],
      [{ outputSchema: structured }, ['{"a":"SECRET"}'], {}],
      [{ outputSchema: structured, outputMode: 'tool' }, inTurn('SECRET', call('set_output', { a: 'SECRET' })), {}],
    ]
    for (const [clerk, play, edge] of clerks) {
      const agents = [
        { id: 'root', subAgents: [{ agent: 'clerk', ...edge }] },
        { id: 'clerk', ...clerk },
      ]
      const stage = hookedStage(hooks, agents, { root: [call('clerk', { message: 'A?' }), 'Done.'], clerk: play })
      await stage.ask('root', 'Go.')
      assert.equal(stage.seenBy('root').at(-1)?.messages.at(-1)?.content, 'CLEAN')
    }
  })

  test('may be nothing at all', async () => {
    const hooks: Functions = { afterTool: () => ({ rewrite: { result: null } }) }
    const stage = hookedStage(hooks, [{ id: 'root', tools: ['pay'] }], {
      root: inTurn(call('pay', { amount: 1 }), 'Done.'),
    })
    await stage.ask('root', 'Go.')
    assert.equal(stage.seenBy('root').at(-1)?.messages.at(-1)?.content, 'null')
  })

  test('as a note is seen by the hooks behind it', async () => {
    const seen: boolean[] = []
    const stage = createStage({
      agents: [{ id: 'root' }],
      plays: { root: ['Done.'] },
      options: {
        hooks: [
          defineHooks({ name: 'one', beforeModel: () => ({ rewrite: { note: 'Be kind.' } }) }),
          defineHooks({
            name: 'two',
            beforeModel: ({ messages }) => void seen.push(JSON.stringify(messages).includes('Be kind.')),
          }),
        ],
      },
    })
    await stage.ask('root', 'Go.')
    assert.deepEqual(seen, [true])
  })
})
