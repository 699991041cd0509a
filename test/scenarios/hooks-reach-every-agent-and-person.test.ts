/** Hooks of agents at any depth, of what people are asked and answer, and of replies that nobody may see before [F02, Tb12]. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ModelRequest } from '@witan/core'
import { call } from '@witan/core/testing'
import { decided, hookedStage, inTurn, lastRead } from '../support/hooked-stage.ts'
import { until } from '../support/stage.ts'

describe('[F02] hooks of every agent', () => {
  test('are asked of delegations, tasks, hand-overs and steps as of the root, each in its own name', async () => {
    const asked: string[] = []
    const stage = hookedStage(
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
    const stage = hookedStage(
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
    const stage = hookedStage({ beforeRun: () => undefined }, agents, {
      root: [call('clerk', { message: 'A?' }), 'Done.'],
    })
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
    const stage = hookedStage(
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
    const stage = hookedStage(
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
    assert.equal(lastRead(read as ModelRequest), '["sent","checked"]')
    await stage.runtime.close()
  })
})

describe('[F02] what hooks may refuse', () => {
  test('is shown to nobody before: no delta of a reply leaves', async () => {
    const stage = hookedStage(
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
