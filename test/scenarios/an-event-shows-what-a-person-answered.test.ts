/** What people decided and said stands in the event that settles what they were asked; what a client gave to an action does not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool } from '@witan/core'
import { call } from '@witan/core/testing'
import { z } from 'zod'
import { createStage } from '../support/stage.ts'

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  parameters: z.object({ amount: z.number() }),
  execute: ({ amount }) => `paid ${amount}`,
})
const asks = defineTool({
  name: 'asks',
  description: 'Asks while it runs.',
  parameters: z.object({}),
  execute: async (_, { approve }) => `${(await approve({ what: 'x' })).approved}, and goes on`,
})

const demands = defineTool({
  name: 'demands',
  description: 'Demands while it runs.',
  parameters: z.object({ price: z.number() }),
  execute: async ({ price }, { demand }) => {
    await demand({ kind: 'payment_required', message: `It costs ${price}.` })
    return 'done'
  },
})

const steps = [
  call('pay', { amount: 5 }),
  call('asks', {}),
  call('ask_question', { questions: [{ id: 'q', text: 'Which?', options: [{ id: 'r', label: 'Red' }] }] }),
  call('ask_user', { message: 'How many?' }),
  call('Send', {}),
  call('demands', { price: 1 }),
  call('demands', { price: 2 }),
]

async function settled(answers: readonly unknown[]) {
  const stage = createStage({
    agents: [
      {
        id: 'root',
        tools: ['pay', 'asks', 'demands'],
        approvals: ['pay'],
        questions: true,
        users: [{ id: 'anna' }],
        actions: [{ name: 'Send' }],
      },
    ],
    plays: { root: (_, turn) => steps[turn] ?? 'done' },
    options: { tools: [pay, asks, demands] },
  })
  let result = await stage.ask('root', 'go', { id: 'chats/1' })
  for (const answer of answers) {
    const id = result.interruptions[0]?.id ?? ''
    result = await stage.run('chats/1', { answers: [{ id, answer }] })
  }
  assert.equal(result.status, 'completed', JSON.stringify(result.error))
  const terse = await stage.events('chats/1', { verbose: false })
  return terse.filter(({ type }) => type === 'resolved').map(({ content }) => content)
}

test('approvals, answers and replies are shown, also those of a function that asks while it runs; of a condition only whether it was declined; an action’s answer is not', async () => {
  const approved = { decision: 'approved', arguments: { amount: 7 }, reason: 'ours' }
  const denied = { decision: 'denied', reason: 'too dear' }
  const given = [approved, denied, { q: { options: ['r'] } }, 'forty', { secret: 'of the client' }]
  const met = [{ resolution: { receipt: 'r-1' } }, { decision: 'declined' }]
  const shown = await settled([...given, ...met])
  assert.deepEqual(
    shown.map(({ answer }) => answer),
    [approved, denied, given[2], 'forty', undefined, { decision: 'resolved' }, { decision: 'declined' }],
  )
  assert.deepEqual(
    shown.map(({ state, by }) => [state, by]),
    shown.map(() => ['answered', 'user:local']),
  )
  assert.ok(!('answer' in (shown[4] ?? {})))
})
