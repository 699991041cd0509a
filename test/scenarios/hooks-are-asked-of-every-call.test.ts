/** Hooks: functions of the process that see each step of each agent, and may refuse it or write something else [F02, Tb12]. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defineHooks, defineTool, type HooksDefinition, type ModelRequest } from '@witan/core'
import { call, type Rule, type ScriptedAnswer } from '@witan/core/testing'
import type { AnyEvent } from '@witan/protocol'
import { z } from 'zod'
import { type AgentDraft, createStage, type Play, until } from '../support/stage.ts'

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  parameters: z.object({ amount: z.number() }),
  execute: ({ amount }) => ({ paid: amount }),
})
const says = ({ messages }: ModelRequest) => String(messages.at(-1)?.content)

/** One answer after the other, whoever has spoken last. */
function inTurn(...answers: readonly ScriptedAnswer[]): Rule {
  let at = 0
  return () => answers[at++]
}

/** A stage on which hooks of one name are asked. */
function stageOf(
  hooks: Omit<HooksDefinition, 'name'>,
  agents: readonly AgentDraft[] = [{ id: 'root', tools: ['pay'] }],
  plays: Readonly<Record<string, Play>> = {},
) {
  return createStage({ agents, plays, options: { tools: [pay], hooks: [defineHooks({ name: 'audit', ...hooks })] } })
}

const decided = (events: readonly AnyEvent[]) =>
  events.flatMap(({ type, content, agentPath }) => {
    const { hook, at, effect, reason } = content as Readonly<Record<'hook' | 'at' | 'effect' | 'reason', unknown>>
    return type === 'hook' ? [{ hook, at, effect, reason, of: agentPath }] : []
  })
const paying = (amount = 5): readonly ScriptedAnswer[] => [call('pay', { amount }), 'Done.']

describe('[F02] [Tb12] hooks that allow', () => {
  test('see every point of a call in order, and leave nothing in the log', async () => {
    const seen: [string, object][] = []
    const note = (point: string) => (shown: object) => {
      assert.ok(Object.isFrozen(shown))
      const { signal: _, ...rest } = shown as { readonly signal: unknown }
      seen.push([point, rest])
    }
    const points = ['beforeRun', 'beforeModel', 'afterModel', 'beforeTool', 'afterTool', 'afterRun'] as const
    const stage = stageOf(Object.fromEntries(points.map((point) => [point, note(point)])), undefined, {
      root: paying(),
    })
    const run = await stage.ask('root', 'Pay.', { id: 'chats/1' })
    assert.deepEqual([run.status, run.text], ['completed', 'Done.'])
    assert.deepEqual(
      seen.map(([point]) => point),
      ['beforeRun', 'beforeModel', 'afterModel', 'beforeTool', 'afterTool', 'beforeModel', 'afterModel', 'afterRun'],
    )
    assert.deepEqual(decided(await stage.events('chats/1')), [])
    const of = (point: string) => seen.find(([one]) => one === point)?.[1] as Record<string, unknown>
    assert.equal(of('beforeRun')['message'], 'Pay.')
    assert.deepEqual(of('beforeTool')['arguments'], { amount: 5 })
    assert.equal(of('beforeTool')['kind'], 'function')
    assert.deepEqual([of('afterTool')['result'], of('afterTool')['error']], [{ paid: 5 }, null])
    assert.deepEqual([of('afterRun')['text'], of('afterRun')['status']], ['Done.', 'completed'])
    for (const [, { ...shown }] of seen) {
      const { runId, callId, conversationId, agent, agentPath, principal, parameters } = shown as Record<
        string,
        unknown
      >
      assert.deepEqual([runId, callId], [run.runId, run.runId])
      assert.deepEqual([conversationId, agent, agentPath], ['chats/1', 'root', 'root'])
      assert.deepEqual(parameters, {})
      assert.equal((principal as { readonly id: string }).id, 'user:local')
    }
  })
})

/** What a hook writes or refuses at each point, and what comes of it. */
const cases: readonly {
  readonly name: string
  readonly hooks: Omit<HooksDefinition, 'name'>
  readonly plays?: readonly ScriptedAnswer[]
  readonly text?: string
  readonly code?: string
  readonly effects: readonly (readonly [string, string, string | null])[]
  readonly check?: (requests: readonly ModelRequest[]) => void
}[] = [
  {
    name: 'beforeRun rewrites the message',
    hooks: { beforeRun: ({ message }) => ({ rewrite: { message: `${message} Twice.` } }) },
    text: 'Done.',
    effects: [['beforeRun', 'rewritten', null]],
    check: ([first]) => assert.equal(says(first as ModelRequest), 'Pay. Twice.'),
  },
  {
    name: 'beforeRun refuses the run',
    hooks: { beforeRun: () => ({ refuse: 'not today' }) },
    code: 'HOOK_REFUSED',
    effects: [['beforeRun', 'refused', 'not today']],
    check: (requests) => assert.equal(requests.length, 0),
  },
  {
    name: 'beforeModel adds a note at the end',
    hooks: { beforeModel: ({ messages }) => (messages.length < 3 ? { rewrite: { note: 'Be kind.' } } : undefined) },
    text: 'Done.',
    effects: [['beforeModel', 'rewritten', null]],
    check: ([first, second]) => {
      assert.ok(says(first as ModelRequest).endsWith('[from @witan to @root] note: {"text":"Be kind."}'))
      const before = (first as ModelRequest).messages
      assert.deepEqual((second as ModelRequest).messages.slice(0, before.length), before)
    },
  },
  {
    name: 'beforeModel refuses the call',
    hooks: { beforeModel: () => ({ refuse: 'no model' }) },
    code: 'HOOK_REFUSED',
    effects: [['beforeModel', 'refused', 'no model']],
    check: (requests) => assert.equal(requests.length, 0),
  },
  {
    name: 'afterModel rewrites the text',
    hooks: { afterModel: ({ text }) => (text === 'Done.' ? { rewrite: { text: 'Paid.' } } : undefined) },
    text: 'Paid.',
    effects: [['afterModel', 'rewritten', null]],
  },
  {
    name: 'afterModel refuses once, and the model is asked once more with the reason',
    hooks: { afterModel: ({ text }) => (text === 'Done.' ? { refuse: 'say how much' } : undefined) },
    plays: [call('pay', { amount: 5 }), 'Done.', 'Paid 5.'],
    text: 'Paid 5.',
    effects: [['afterModel', 'refused', 'say how much']],
    check: (requests) => {
      const read = JSON.stringify(requests.at(-1)?.messages)
      assert.ok(read.includes('hook audit refused: say how much') && !read.includes('"Done."'), read)
    },
  },
  {
    name: 'afterModel refuses twice',
    hooks: { afterModel: ({ text }) => (text === '' ? undefined : { refuse: 'never' }) },
    plays: [call('pay', { amount: 5 }), 'Done.', 'Done again.'],
    code: 'HOOK_REFUSED',
    effects: [
      ['afterModel', 'refused', 'never'],
      ['afterModel', 'refused', 'never'],
    ],
  },
  {
    name: 'beforeTool rewrites the arguments',
    hooks: { beforeTool: () => ({ rewrite: { arguments: { amount: 1 } } }) },
    text: 'Done.',
    effects: [['beforeTool', 'rewritten', null]],
    check: (requests) => assert.ok(says(requests[1] as ModelRequest).includes('"paid":1')),
  },
  {
    name: 'beforeTool writes what does not fit the tool',
    hooks: { beforeTool: () => ({ rewrite: { arguments: { amount: 'much' } } }) },
    text: 'Done.',
    effects: [['beforeTool', 'failed', 'hook audit failed']],
    check: (requests) => assert.ok(says(requests[1] as ModelRequest).includes('hook audit failed')),
  },
  {
    name: 'beforeTool refuses the call',
    hooks: { beforeTool: () => ({ refuse: 'too much' }), tools: ['pay'] },
    text: 'Done.',
    effects: [['beforeTool', 'refused', 'too much']],
    check: (requests) => assert.ok(says(requests[1] as ModelRequest).includes('hook audit refused: too much')),
  },
  {
    name: 'afterTool rewrites the result',
    hooks: { afterTool: () => ({ rewrite: { result: { paid: 'all' } } }) },
    text: 'Done.',
    effects: [['afterTool', 'rewritten', null]],
    check: (requests) => assert.equal(says(requests[1] as ModelRequest), '{"paid":"all"}'),
  },
  {
    name: 'afterTool refuses the result',
    hooks: { afterTool: () => ({ refuse: 'secret' }) },
    text: 'Done.',
    effects: [['afterTool', 'refused', 'secret']],
    check: (requests) => {
      const read = says(requests[1] as ModelRequest)
      assert.ok(read.includes('hook audit refused: secret') && !read.includes('paid'), read)
    },
  },
  {
    name: 'afterRun rewrites the answer',
    hooks: { afterRun: ({ text }) => ({ rewrite: `${text} Bye.` }) },
    text: 'Done. Bye.',
    effects: [['afterRun', 'rewritten', null]],
  },
  {
    name: 'afterRun refuses the answer',
    hooks: { afterRun: ({ status }) => (status === 'completed' ? { refuse: 'rude' } : undefined) },
    code: 'HOOK_REFUSED',
    effects: [['afterRun', 'refused', 'rude']],
  },
  {
    name: 'a hook that throws refuses, and its words reach nobody',
    hooks: {
      beforeTool: () => {
        throw new Error('password 1234')
      },
    },
    text: 'Done.',
    effects: [['beforeTool', 'failed', 'hook audit failed']],
    check: (requests) => assert.ok(!JSON.stringify(requests).includes('1234')),
  },
  {
    name: 'a hook that throws allows, if it is to',
    hooks: { onError: 'allow', beforeTool: () => Promise.reject(new Error('down')) },
    text: 'Done.',
    effects: [['beforeTool', 'failed', 'hook audit failed']],
    check: (requests) => assert.ok(says(requests[1] as ModelRequest).includes('"paid":5')),
  },
  {
    name: 'a hook that hangs is not waited for',
    hooks: { timeoutMs: 20, beforeTool: () => new Promise(() => undefined) },
    text: 'Done.',
    effects: [['beforeTool', 'failed', 'hook audit failed']],
  },
  {
    name: 'a hook that answers nonsense refuses',
    hooks: { beforeTool: () => 'yes' as never },
    text: 'Done.',
    effects: [['beforeTool', 'failed', 'hook audit failed']],
  },
]

describe('[F02] [Tb12] a hook decides', () => {
  for (const { name, hooks, plays = paying(), text, code, effects, check } of cases)
    for (const isLate of [false, true])
      test(`${name}${isLate ? ', after a while' : ''}`, async () => {
        const late = Object.entries(hooks).map(([key, value]) => [
          key,
          typeof value === 'function' && isLate
            ? async (shown: object) => {
                await new Promise((resolve) => setImmediate(resolve))
                return (value as (shown: object) => unknown)(shown)
              }
            : value,
        ])
        const stage = stageOf(Object.fromEntries(late) as typeof hooks, undefined, { root: inTurn(...plays) })
        const run = await stage.ask('root', 'Pay.', { id: 'chats/1' })
        assert.equal(run.error?.code, code)
        if (text !== undefined) assert.equal(run.text, text)
        const found = decided(await stage.events('chats/1'))
        assert.deepEqual(
          found.map(({ at, effect, reason }) => [at, effect, reason]),
          effects,
        )
        for (const { hook, of } of found) assert.deepEqual([hook, of], ['audit', 'root'])
        check?.(stage.requests)
      })
})

describe('[F02] hooks of every agent', () => {
  test('are asked of delegations, tasks, hand-overs and steps as of the root, each in its own name', async () => {
    const asked: string[] = []
    const stage = stageOf(
      {
        beforeRun: ({ agentPath }) => void asked.push(`begin ${agentPath}`),
        beforeTool: ({ tool, kind }) => void asked.push(`${kind} ${tool}`),
        afterTool: ({ tool, result }) => void asked.push(`${tool} gave ${JSON.stringify(result)}`),
        afterRun: ({ agentPath, text }) => void asked.push(`end ${agentPath} ${text}`),
      },
      [
        { id: 'root', subAgents: [{ agent: 'clerk' }, { agent: 'flow' }], transfers: [{ agent: 'heir' }] },
        { id: 'clerk' },
        { id: 'flow', workflow: { kind: 'sequence', agents: ['step'] } },
        { id: 'step' },
        { id: 'heir' },
      ],
      {
        root: [
          call('clerk', { message: 'A?' }),
          call('flow', { message: 'B?' }),
          call('transfer_to_agent', { agent_name: 'heir' }),
        ],
        clerk: ['Clerk.'],
        step: ['Step.'],
        heir: ['Heir.'],
      },
    )
    const run = await stage.ask('root', 'Go.')
    assert.deepEqual([run.status, run.text], ['completed', 'Heir.'])
    assert.deepEqual(asked, [
      'begin root',
      'agent clerk',
      'begin root/clerk',
      'end root/clerk Clerk.',
      'clerk gave "Clerk."',
      'agent flow',
      'begin root/flow',
      'begin root/flow/step',
      'end root/flow/step Step.',
      'end root/flow Step.',
      'flow gave "Step."',
      'transfer transfer_to_agent',
      'begin root/heir',
      'end root/heir Heir.',
    ])
  })

  test('a refused child is an error that its parent reads, and a rewritten answer is all that anybody reads', async () => {
    const stage = stageOf(
      {
        beforeRun: ({ agent }) => (agent === 'thief' ? { refuse: 'no thieves' } : undefined),
        afterTool: ({ tool }) => (tool === 'clerk' ? { rewrite: { result: 'Clean.' } } : undefined),
      },
      [{ id: 'root', subAgents: [{ agent: 'clerk' }, { agent: 'thief' }] }, { id: 'clerk' }, { id: 'thief' }],
      {
        root: [call('clerk', { message: 'A?' }), call('thief', { message: 'B?' }), 'Done.'],
        clerk: ['Dirty.'],
        thief: ['Mine.'],
      },
    )
    const run = await stage.ask('root', 'Go.', { id: 'chats/1' })
    assert.equal(run.status, 'completed', JSON.stringify(run.error))
    const read = JSON.stringify(stage.seenBy('root').at(-1)?.messages)
    assert.ok(read.includes('Clean.') && !read.includes('Dirty.') && read.includes('no thieves'), read)
    assert.equal(stage.seenBy('thief').length, 0)
    const calls = (await stage.document('chats/1')).messages.flatMap(({ toolCalls }) => toolCalls)
    assert.deepEqual(
      calls.map(({ result }) => result),
      ['Clean.', { error: 'hook audit refused: no thieves' }],
    )
  })

  test('an agent that lists a hook which the process lacks fails, at any depth', async () => {
    const agents = [
      { id: 'root', subAgents: [{ agent: 'clerk' }] },
      { id: 'clerk', hooks: ['tax'] },
    ]
    const stage = stageOf({ beforeRun: () => undefined }, agents, { root: [call('clerk', { message: 'A?' }), 'Done.'] })
    const run = await stage.ask('root', 'Go.', { id: 'chats/1' })
    assert.equal(run.status, 'completed')
    assert.ok(JSON.stringify(stage.seenBy('root').at(-1)?.messages).includes('lists the hook `tax`'))
    const alone = await stage.ask('clerk', 'Go.')
    assert.equal(alone.error?.code, 'HOOK_MISSING')
    assert.equal(stage.seenBy('clerk').length, 0)
  })
})

describe('[F02] hooks and people', () => {
  const action = { name: 'send', description: 'Sends.', parametersSample: { to: 'ann' } }

  test('an interruption is shown without bound values, and one that is refused is cancelled', async () => {
    const seen: object[] = []
    const stage = stageOf(
      {
        onInterruption: ({ interruption }) => {
          seen.push(interruption)
          return { refuse: 'nobody is there' }
        },
      },
      [{ id: 'root', actions: [action], parameters: [{ name: 'code', sendToModel: false }] }],
      { root: [call('send', { to: 'bob' }), 'Done.'] },
    )
    const run = await stage.ask('root', 'Send.', { id: 'chats/1', parameters: { code: 'sesame' } })
    assert.deepEqual([run.status, run.text], ['completed', 'Done.'])
    assert.ok(!JSON.stringify(seen).includes('sesame'))
    assert.equal((seen[0] as { readonly kind: string }).kind, 'action')
    const events = await stage.events('chats/1')
    assert.deepEqual(
      events.flatMap(({ type, content }) => (type === 'resolved' ? [(content as { state: string }).state] : [])),
      ['cancelled'],
    )
    assert.deepEqual(
      decided(events).map(({ at, effect }) => [at, effect]),
      [['onInterruption', 'refused']],
    )
  })

  test('what a client answers is asked before its model reads it; an approval shows the arguments that a hook wrote', async () => {
    const stage = stageOf(
      {
        beforeTool: ({ tool }) => (tool === 'pay' ? { rewrite: { amount: 1 } } : undefined),
        afterTool: ({ tool, result }) => (tool === 'send' ? { rewrite: { result: [result, 'checked'] } } : undefined),
      },
      [{ id: 'root', actions: [action], tools: ['pay'], approvals: ['pay'] }],
      { root: [call('send', { to: 'bob' }), call('pay', { amount: 9 }), 'Done.'] },
    )
    const first = await stage.ask('root', 'Send.', { id: 'chats/1' })
    assert.equal(first.status, 'waiting')
    const [sent] = first.interruptions
    const second = await stage.run('chats/1', { answers: [{ id: sent?.id, answer: 'sent' }] })
    const [asked] = second.interruptions
    assert.equal(asked?.kind, 'approval')
    assert.deepEqual(asked?.kind === 'approval' && asked.arguments, { amount: 1 })
    const read = stage.requests.at(-1)
    assert.equal(says(read as ModelRequest), '["sent","checked"]')
    await stage.runtime.close()
  })
})

describe('[F02] what hooks may refuse', () => {
  test('is shown to nobody before: no delta of a reply leaves', async () => {
    const stage = stageOf(
      { afterModel: ({ text }) => (text === 'Bad words.' ? { refuse: 'rude' } : undefined) },
      [{ id: 'root' }],
      {
        root: inTurn({ deltas: ['Bad ', 'words.'] }, 'Good words.'),
      },
    )
    await stage.runtime.start({ agent: 'root', id: 'chats/1' })
    const end = new AbortController()
    const shown: unknown[] = []
    const reading = (async () => {
      for await (const event of stage.runtime.followEvents('chats/1', { signal: end.signal })) shown.push(event)
    })()
    const { text } = await (await stage.runtime.run('chats/1', { prompt: 'Hi.' })).result
    assert.equal(text, 'Good words.')
    await until(() => JSON.stringify(shown).includes('Good words.'))
    end.abort()
    await reading.catch(() => undefined)
    assert.ok(!JSON.stringify(shown).includes('Bad'), JSON.stringify(shown))
    assert.ok(!JSON.stringify(await stage.document('chats/1')).includes('Bad'))
  })
})
