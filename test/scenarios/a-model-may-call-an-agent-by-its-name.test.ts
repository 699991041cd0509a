/** A model that calls an agent's display name as a tool is understood where one tool is meant, and reads which there are elsewhere. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { call } from '@witan/core/testing'
import { allEvents, createStage } from '../support/stage.ts'

const protocol = {
  name: 'quotes',
  messages: [{ name: 'ask', from: 'initiator', schema: { type: 'object' }, reply: null }],
}

function calling(name: string, args: object) {
  return createStage({
    agents: [
      {
        id: 'root',
        actions: [{ name: 'Look', description: 'Looks.' }],
        subAgents: [{ agent: 'billing' }, { agent: 'both' }, { agent: 'wrapped', style: 'agentTool' }],
        transfers: [{ agent: 'refunds' }, { agent: 'both' }],
        speaks: [{ protocol: 'quotes', role: 'initiator', peers: ['shop'] }],
      },
      { id: 'billing', name: 'Billing Desk', description: 'Bills.' },
      { id: 'both', name: 'Everything', description: 'Does all.' },
      { id: 'wrapped', name: 'Wrapped Up', description: 'Wraps.' },
      { id: 'refunds', name: 'Refund Office', description: 'Refunds.' },
      { id: 'shop', name: 'The Corner Shop', speaks: [{ protocol: 'quotes', role: 'responder' }] },
    ],
    plays: {
      root: [call(name, args as never), 'still root'],
      billing: ['from billing'],
      both: ['from both'],
      wrapped: ['from wrapped'],
      refunds: ['from refunds'],
      shop: ['from shop'],
    },
    options: { protocols: [protocol as never] },
  })
}

describe('[T05] a display name as the name of a tool', () => {
  for (const [name, args, agent] of [
    ['Billing Desk', { message: 'Bill it.' }, 'billing'],
    ['billing_desk', { message: 'Bill it.' }, 'billing'],
    ['BillingDesk', { message: 'Bill it.' }, 'billing'],
    ['Billing', { message: 'Bill it.' }, 'billing'],
    ['both', { message: 'All.' }, 'both'],
    ['wrapped-up', { request: 'Wrap it.' }, 'wrapped'],
    ['the_corner_shop_ask', {}, 'shop'],
    ['The Corner Shop', {}, 'shop'],
    ['shop', {}, 'shop'],
  ] as const)
    test(`\`${name}\` calls ${agent}, and its caller goes on`, async () => {
      const stage = calling(name, args)
      assert.equal((await stage.ask('root', 'go')).text, 'still root')
      assert.equal(stage.seenBy(agent).length, 1)
    })

  for (const [name, args] of [
    ['Refund Office', {}],
    ['refund_office', { message: 'Hand over.' }],
    ['refunds', {}],
  ] as const)
    test(`\`${name}\` hands over to refunds, and the log has the tool's own name`, async () => {
      const stage = calling(name, args)
      assert.equal((await stage.ask('root', 'go', { id: 'chats/1' })).text, 'from refunds')
      const started = (await allEvents(stage.runtime, 'chats/1')).find(
        (event) => event.type === 'start' && event.kind === 'tool',
      )
      assert.match(JSON.stringify(started), /"transfer_to_agent".*"agent_name":"refunds"/)
    })

  for (const [name, error] of [
    [
      'Everything',
      /Everything may be both or transfer_to_agent with {\\"agent_name\\":\\"both\\"}; nothing was run\. Call one of these/,
    ],
    ['look', /unknown tool look; nothing was run\. Available: /],
    ['Billing Desks', /unknown tool Billing Desks; nothing was run/],
    ['_', /unknown tool _;/],
    ['x'.repeat(300), /unknown tool x{64};/],
  ] as const)
    test(`\`${name.slice(0, 20)}\` is not understood`, async () => {
      const stage = calling(name, { message: 'Do it.' })
      assert.equal((await stage.ask('root', 'go')).text, 'still root')
      assert.match(stage.seenBy('root')[1]?.messages.at(-1)?.content ?? '', error)
    })

  test("[C31] an approval of the tool holds a call by another name too, under the tool's own", async () => {
    const stage = createStage({
      agents: [
        { id: 'root', transfers: [{ agent: 'refunds' }], approvals: ['transfer_to_agent'] },
        { id: 'refunds', name: 'Refund Office' },
      ],
      plays: { root: [call('Refund Office', {}), 'still root'], refunds: ['from refunds'] },
    })
    const result = await stage.ask('root', 'go')
    assert.equal(result.status, 'waiting')
    assert.match(JSON.stringify(result.interruptions[0]), /"transfer_to_agent"/)
  })
})
