/** Models read the display names of agents and people, and whoever has such a name alone is understood by it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { call } from '@witan/core/testing'
import { createStage } from '../support/stage.ts'

const people = [
  { id: 'anna', name: 'Anna Meier' },
  { id: 'bo', name: 'Bo Lind' },
  { id: 'sam-1', name: 'Sam' },
  { id: 'sam-2', name: 'SAM' },
  { id: 'carl', name: 'Bo' },
]

const quotes = {
  name: 'quotes',
  messages: [{ name: 'ask', from: 'initiator', schema: { type: 'object' }, reply: null }],
}

function asking(user: string, more: object = {}) {
  return createStage({
    agents: [{ id: 'root', users: people, ...more }],
    plays: { root: [call('ask_user', { user, message: 'Well?' }), 'done'] },
  })
}

describe('[T05] [T23] [C28] `ask_user`', () => {
  for (const [written, id] of [
    ['anna', 'anna'],
    ['Anna Meier', 'anna'],
    ['  anna   MEIER ', 'anna'],
    ['Ａｎｎａ Meier', 'anna'],
    ['ANNA', 'anna'],
    // An id always wins, also over somebody of that name.
    ['bo', 'bo'],
    ['Bo Lind', 'bo'],
  ] as const)
    test(`\`${written}\` is ${id}`, async () => {
      const result = await asking(written).ask('root', 'go')
      assert.equal(result.status, 'waiting')
      assert.equal(result.interruptions[0]?.addressee, id)
    })

  for (const [written, error] of [
    ['Sam', /`Sam` is the name of several people; nobody was asked\. It may be sam-1 or sam-2: write one/],
    ['BO', /several people; nobody was asked\. It may be bo or carl/],
    ['Anna', null],
    ['Anna Maier', /There is no person `Anna Maier`/],
    ['', /There is no person/],
    ['​anna meier'.repeat(20), /There is no person/],
  ] as const)
    test(`\`${written.slice(0, 30)}\` asks ${error === null ? 'her' : 'nobody'}`, async () => {
      const stage = asking(written)
      const result = await stage.ask('root', 'go')
      if (error === null) return assert.equal(result.interruptions[0]?.addressee, 'anna')
      assert.equal(result.text, 'done')
      assert.match(stage.seenBy('root')[1]?.messages.at(-1)?.content ?? '', error)
    })

  const roles = [{ role: 'buyer' }, { role: 'Head of Sales' }, { role: 'bo' }, ...people]
  for (const [written, addressee] of [
    ['role:buyer', 'role:buyer'],
    ['buyer', 'role:buyer'],
    [' BUYER', 'role:buyer'],
    ['head of  sales', 'role:Head of Sales'],
    // An id always wins, also over a role.
    ['bo', 'bo'],
    ['Bo', null],
    ['seller', null],
  ] as const)
    test(`\`${written}\` is ${addressee ?? 'nobody alone'} beside roles`, async () => {
      const result = await asking(written, { users: roles }).ask('root', 'go')
      if (addressee === null) return assert.equal(result.text, 'done')
      assert.equal(result.interruptions[0]?.addressee, addressee)
    })

  test('[C36] [Tb06] with aliases nobody is found by a real name, and an alias may be written in words', async () => {
    const more = { anonymizeUsers: 'process owner', users: [...people, { role: 'buyer' }] }
    for (const written of ['Anna Meier', 'anna', 'Sam', 'buyer', 'role:buyer']) {
      const stage = asking(written, more)
      assert.equal((await stage.ask('root', 'go')).text, 'done')
      const read = stage.seenBy('root')[1]?.messages.at(-1)?.content ?? ''
      assert.match(read, /There is no person of that name/)
      assert.doesNotMatch(read, /anna|sam|buyer/i)
    }
    for (const written of ['process-owner-0', 'Process Owner 0'])
      assert.equal((await asking(written, more).ask('root', 'go')).interruptions[0]?.addressee, 'anna')
  })
})

function transferring(written: string, names: Readonly<Record<string, string>>) {
  const ids = ['billing', 'refunds']
  return createStage({
    agents: [
      { id: 'root', name: 'Front Desk', transfers: ids.map((agent) => ({ agent })), subAgents: [{ agent: 'look-up' }] },
      ...ids.map((id) => ({ id, description: `Does ${id}.`, ...(names[id] === undefined ? {} : { name: names[id] }) })),
      { id: 'look-up', name: 'Look & See', description: 'Looks.' },
      { id: 'other', name: 'Other Desk' },
    ],
    plays: {
      root: [call('transfer_to_agent', { agent_name: written }), 'still me'],
      billing: ['from billing'],
      refunds: ['from refunds'],
    },
  })
}

describe('[T05] [K10] [C28] a hand-over', () => {
  const names = { billing: 'Money Matters', refunds: 'Refund Desk' }

  test('the roster and the tools show display names beside ids', async () => {
    const stage = transferring('billing', names)
    await stage.ask('root', 'go')
    const [request] = stage.seenBy('root')
    const system = request?.messages[0]?.content ?? ''
    assert.ok(
      system.includes('\n- billing (Money Matters): Does billing.\n- refunds (Refund Desk): Does refunds.'),
      system,
    )
    const described = new Map(request?.tools.map((tool) => [tool.name, tool.description]))
    assert.equal(described.get('look-up'), 'Look & See: Looks.')
  })

  for (const [written, text] of [
    ['billing', 'from billing'],
    ['Money Matters', 'from billing'],
    [' money  MATTERS', 'from billing'],
    ['Refund Desk', 'from refunds'],
    ['REFUNDS', 'from refunds'],
  ] as const)
    test(`\`${written}\` is understood`, async () => {
      assert.equal((await transferring(written, names).ask('root', 'go')).text, text)
    })

  for (const [written, error] of [
    ['Front Desk', /root is you/],
    ['other', /agent other is not reachable from root/],
    ['Other Desk', /unknown agent Other Desk/],
    ['Money', /unknown agent Money/],
  ] as const)
    test(`\`${written}\` is not: ${error.source}`, async () => {
      const stage = transferring(written, names)
      assert.equal((await stage.ask('root', 'go')).text, 'still me')
      assert.match(stage.seenBy('root')[1]?.messages.at(-1)?.content ?? '', error)
    })
})

describe('[T05] [C28] a tool has one name, the id of the agent that it reaches', () => {
  for (const written of [
    'Look & See',
    'look_see',
    'Look-Up',
    'LOOK-UP',
    'billing',
    'Money Matters',
    'shop',
    'The Corner Shop',
  ])
    test(`\`${written}\` runs nothing, and its model reads what there is`, async () => {
      const stage = createStage({
        agents: [
          {
            id: 'root',
            subAgents: [{ agent: 'look-up' }],
            transfers: [{ agent: 'billing' }],
            speaks: [{ protocol: 'quotes', role: 'initiator', peers: ['shop'] }],
          },
          { id: 'look-up', name: 'Look & See' },
          { id: 'billing', name: 'Money Matters' },
          { id: 'shop', name: 'The Corner Shop', speaks: [{ protocol: 'quotes', role: 'responder' }] },
        ],
        plays: {
          root: [call(written, { message: 'Do it.' }), call('look-up', { message: 'Do it.' }), 'done'],
          'look-up': ['seen'],
        },
        options: { protocols: [quotes as never] },
      })
      const result = await stage.ask('root', 'go')
      assert.equal(result.text, 'done')
      const read = stage.seenBy('root')[1]?.messages.at(-1)?.content ?? ''
      assert.ok(read.includes(`unknown tool ${written}; nothing was run. Available: `), read)
      for (const name of ['look-up', 'transfer_to_agent', 'shop_ask']) assert.ok(read.includes(name), read)
      assert.deepEqual(
        [stage.seenBy('look-up').length, stage.seenBy('billing').length, stage.seenBy('shop').length],
        [1, 0, 0],
      )
    })
})

test('[T05] [C35] a tool that writes to a peer says its display name', async () => {
  const stage = createStage({
    agents: [
      { id: 'buyer', speaks: [{ protocol: 'quotes', role: 'initiator', peers: ['shop'] }] },
      { id: 'shop', name: 'The Corner Shop', speaks: [{ protocol: 'quotes', role: 'responder' }] },
    ],
    plays: { buyer: ['done'] },
    options: { protocols: [quotes as never] },
  })
  await stage.ask('buyer', 'go')
  assert.match(stage.seenBy('buyer')[0]?.tools[0]?.description ?? '', /^Sends `ask` to shop \(The Corner Shop\) by/)
})
