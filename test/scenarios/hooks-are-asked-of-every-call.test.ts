/** Hooks: functions of the process that see each step of each agent, and may refuse it or write something else [F02, Tb12]. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { HooksDefinition, ModelRequest } from '@witan/core'
import { call, type ScriptedAnswer } from '@witan/core/testing'
import { decided, hookedStage, inTurn, lastRead, paying } from '../support/hooked-stage.ts'

describe('[F02] [Tb12] hooks that allow', () => {
  test('see every point of a call in order, and leave nothing in the log', async () => {
    const seen: [string, object][] = []
    const note = (point: string) => (shown: object) => {
      assert.ok(Object.isFrozen(shown))
      const { signal: _, ...rest } = shown as { readonly signal: unknown }
      seen.push([point, rest])
    }
    const points = ['beforeRun', 'beforeModel', 'afterModel', 'beforeTool', 'afterTool', 'afterRun'] as const
    const stage = hookedStage(Object.fromEntries(points.map((point) => [point, note(point)])), undefined, {
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
    check: ([first]) => assert.equal(lastRead(first as ModelRequest), 'Pay. Twice.'),
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
      assert.ok(lastRead(first as ModelRequest).endsWith('[from @witan to @root] note: {"text":"Be kind."}'))
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
    check: (requests) => assert.ok(lastRead(requests[1] as ModelRequest).includes('"paid":1')),
  },
  {
    name: 'beforeTool writes what does not fit the tool',
    hooks: { beforeTool: () => ({ rewrite: { arguments: { amount: 'much' } } }) },
    text: 'Done.',
    effects: [['beforeTool', 'failed', 'hook audit failed']],
    check: (requests) => assert.ok(lastRead(requests[1] as ModelRequest).includes('hook audit failed')),
  },
  {
    name: 'beforeTool refuses the call',
    hooks: { beforeTool: () => ({ refuse: 'too much' }), tools: ['pay'] },
    text: 'Done.',
    effects: [['beforeTool', 'refused', 'too much']],
    check: (requests) => assert.ok(lastRead(requests[1] as ModelRequest).includes('hook audit refused: too much')),
  },
  {
    name: 'afterTool rewrites the result',
    hooks: { afterTool: () => ({ rewrite: { result: { paid: 'all' } } }) },
    text: 'Done.',
    effects: [['afterTool', 'rewritten', null]],
    check: (requests) => assert.equal(lastRead(requests[1] as ModelRequest), '{"paid":"all"}'),
  },
  {
    name: 'afterTool refuses the result',
    hooks: { afterTool: () => ({ refuse: 'secret' }) },
    text: 'Done.',
    effects: [['afterTool', 'refused', 'secret']],
    check: (requests) => {
      const read = lastRead(requests[1] as ModelRequest)
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
    check: (requests) => assert.ok(lastRead(requests[1] as ModelRequest).includes('"paid":5')),
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
        const stage = hookedStage(Object.fromEntries(late) as typeof hooks, undefined, { root: inTurn(...plays) })
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
