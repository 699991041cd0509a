/** Peers that speak by a protocol, as a client sees them and as both models read them: the contract to the byte. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { assertEvents } from './support/claims.ts'
import {
  buyer,
  chat,
  exchangesIn,
  initiates,
  noticesIn,
  responds,
  saveAll,
  send,
  stock,
  warehouse,
} from './support/peers.ts'
import { hand, transfer } from './support/handing.ts'
import { agent, createStage, type Stage } from './support/stage.ts'
import { offeredNames, spoken, toolContents, transcript } from './support/transcript.ts'
import type { WitanEvent } from './support/wire.ts'

let stage: Stage
beforeEach(async () => {
  stage = await createStage({ store: 'file', hosted: true })
})
afterEach(() => stage?.close())

const messages = (events: readonly WitanEvent[]) =>
  events.filter(({ type, content }) => type === 'message' && content['exchange'] !== undefined)
const exchangesOf = (run: string) => exchangesIn(stage, run)
const diagramOf = async (run: string, format: string) => {
  const answer = await stage.witan.call('GET', `/api/v1/runs/${run}/diagram?format=${format}`)
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain/)
  return answer.text
}

describe('a message to a peer', () => {
  test('[T16] [T18] [T20] [Tb25] [Tb26] is a tool; its recipient reads who asks what, and its reply is its result', async () => {
    await saveAll(stage, [stock()], [buyer(), warehouse({ description: 'Keeps the stock.' })])
    stage.model.script('buyer', { calls: [send('warehouse', 'ask', { sku: 'A-1' })] }, { text: 'Three are there.' })
    stage.model.script('warehouse', { text: '{"inStock":3}' })
    const run = await stage.ask('buyer', 'How many A-1?', { id: 'chats/one' })
    assert.deepEqual([run.status, run.text], ['completed', 'Three are there.'])
    const [first, second] = stage.model.of('buyer')
    assert.deepEqual(offeredNames(first), ['warehouse_ask', 'warehouse_order'])
    const tool = first?.body.tools?.find((one) => one.function.name === 'warehouse_ask')?.function
    assert.deepEqual(tool?.parameters, {
      type: 'object',
      properties: { sku: { type: 'string' } },
      required: ['sku'],
      additionalProperties: false,
    })
    assert.match(String(tool?.description), /stock-request: What is in stock\.\n\nKeeps the stock\.$/)
    assert.deepEqual(transcript(stage.model.of('warehouse')[0]), [
      { system: 'You are warehouse.\nProtocol stock-request: What is in stock.\nLook before you answer.' },
      { user: '[from @buyer to @warehouse] ask {"sku":"A-1"}' },
    ])
    assert.ok(stage.model.of('warehouse')[0]?.body.response_format, 'the reply is asked for by its schema')
    assert.deepEqual(toolContents(second), ['{"inStock":3}'])
    const events = await stage.events('chats/one')
    assertEvents(events)
    const [sent, reply] = messages(events)
    assert.ok(sent && reply)
    assert.equal(messages(events).length, 2)
    const { text, ...said } = sent.content
    assert.equal(text, '[from @buyer to @warehouse] ask {"sku":"A-1"}')
    const exchange = said['exchange']
    const common = { authorKind: 'agent', protocol: 'stock-request', name: 'ask', exchange }
    assert.deepEqual(said, { ...common, author: 'buyer', to: 'warehouse', isReply: false, body: { sku: 'A-1' } })
    const { text: _, ...replied } = reply.content
    assert.deepEqual(replied, { ...common, author: 'warehouse', to: 'buyer', isReply: true, body: { inStock: 3 } })
    assert.deepEqual([sent.document, sent.author, reply.author], ['chats/one/@warehouse', 'buyer', 'warehouse'])
    const document = await stage.document('chats/one/@warehouse')
    assert.deepEqual(
      document.messages.map((one) => [one.author, one.to, one.text]),
      [
        ['buyer', 'warehouse', '[from @buyer to @warehouse] ask {"sku":"A-1"}'],
        ['warehouse', null, '{"inStock":3}'],
      ],
    )
    const own = await stage.document('chats/one')
    assert.deepEqual(own.messages[1]?.toolCalls?.[0], {
      ...own.messages[1]?.toolCalls?.[0],
      name: 'warehouse_ask',
      result: { inStock: 3 },
      document: 'chats/one/@warehouse',
    })
  })

  test('a peer remembers the earlier messages of a conversation, also those of other senders', async () => {
    await saveAll(
      stage,
      [chat('talk')],
      [
        agent('boss', { subAgents: [{ agent: 'left' }, { agent: 'right' }] }),
        agent('left', { speaks: [initiates('talk', 'oracle')] }),
        agent('right', { speaks: [initiates('talk', 'oracle')] }),
        agent('oracle', { speaks: [responds('talk')] }),
      ],
    )
    stage.model.script(
      'boss',
      { calls: [{ name: 'left', args: { message: 'Go.' } }] },
      { calls: [{ name: 'right', args: { message: 'Go.' } }] },
      { text: 'Done.' },
    )
    stage.model.script('left', { calls: [send('oracle', 'ask', { text: 'one' })] }, { text: 'left is done' })
    stage.model.script('right', { calls: [send('oracle', 'ask', { text: 'two' })] }, { text: 'right is done' })
    stage.model.script('oracle', { text: 'first' }, { text: 'second' })
    await stage.ask('boss', 'Begin.', { id: 'chats/two' })
    assert.deepEqual(spoken(stage.model.of('oracle')[1]), [
      { user: '[from @left to @oracle] ask {"text":"one"}' },
      { assistant: 'first' },
      { user: '[from @right to @oracle] ask {"text":"two"}' },
    ])
  })

  test('[T20] [Tb27] off its schema or out of order it is not sent, and the run goes on', async () => {
    await saveAll(stage, [stock()], [buyer(), warehouse()])
    const order = send('warehouse', 'order', { count: 2 })
    stage.model.script(
      'buyer',
      { calls: [order] },
      { calls: [send('warehouse', 'ask', { sku: 7 })] },
      { calls: [send('warehouse', 'ask', { sku: 'A-1', colour: 'red' })] },
      { calls: [send('warehouse', 'ask', { sku: 'A-1' })] },
      { calls: [order] },
      { calls: [order] },
      { text: 'Enough.' },
    )
    stage.model.script('warehouse', { text: '{"inStock":3}' }, { text: 'Ordered.' })
    const run = await stage.ask('buyer', 'Buy two.', { id: 'chats/order' })
    assert.equal(run.text, 'Enough.')
    const read = toolContents(stage.model.of('buyer').at(-1))
    assert.equal(read[0], '{"error":"order is not allowed in state idle of stock-request; allowed: ask"}')
    assert.match(read[1] ?? '', /sku/)
    assert.match(read[2] ?? '', /colour/)
    assert.deepEqual(read.slice(3, 5), ['{"inStock":3}', 'Ordered.'])
    assert.equal(read[5], '{"error":"order is not allowed in state closed of stock-request; allowed: ask"}')
    const events = await stage.events('chats/order')
    const codes = events.filter(({ type }) => type === 'error').map(({ content }) => content['code'])
    assert.deepEqual(codes, ['PROTOCOL_VIOLATION', 'TOOL_ARGS_INVALID', 'TOOL_ARGS_INVALID', 'PROTOCOL_VIOLATION'])
    assert.deepEqual(noticesIn(events), ['PROTOCOL_VIOLATION', 'PROTOCOL_VIOLATION'])
    assert.equal(stage.model.of('warehouse').length, 2)
    const [exchange, again] = await exchangesOf(run.runId)
    assert.ok(exchange && again === undefined, 'a message that was not allowed begins no other exchange')
    const { id, violations, messages: said, ...ends } = exchange
    assert.deepEqual(ends, {
      protocol: 'stock-request',
      revision: 1,
      initiator: 'buyer',
      responder: 'warehouse',
      state: 'closed',
      finished: true,
    })
    assert.deepEqual(
      violations.map(({ code }) => code),
      codes,
    )
    assert.ok(messages(events).every(({ content }) => content['exchange'] === id))
    assert.deepEqual(
      said.map(({ seq: _, ...one }) => one),
      [
        { number: 1, from: 'buyer', to: 'warehouse', name: 'ask', isReply: false, body: { sku: 'A-1' } },
        { number: 2, from: 'warehouse', to: 'buyer', name: 'ask', isReply: true, body: { inStock: 3 } },
        { number: 3, from: 'buyer', to: 'warehouse', name: 'order', isReply: false, body: { count: 2 } },
        { number: 4, from: 'warehouse', to: 'buyer', name: 'order', isReply: true, body: 'Ordered.' },
      ],
    )
    assert.equal(
      await diagramOf(run.runId, 'text'),
      [
        ' 1  user      → buyer      Buy two.',
        ' 2  buyer     ✗ warehouse  refused (PROTOCOL_VIOLATION): order is not allowed in state idle of stock-request; allowed: ask',
        ' 3  buyer     ✗ warehouse  refused (TOOL_ARGS_INVALID): `sku`: expected string, got number',
        ' 4  buyer     ✗ warehouse  refused (TOOL_ARGS_INVALID): the value: Unrecognized key: "colour"',
        ' 5  buyer     → warehouse  ask {"sku":"A-1"}',
        ' 6  warehouse ⇢ buyer      {"inStock":3}',
        ' 7  buyer     → warehouse  order {"count":2}',
        ' 8  warehouse ⇢ buyer      Ordered.',
        ' 9  buyer     ✗ warehouse  refused (PROTOCOL_VIOLATION): order is not allowed in state closed of stock-request; allowed: ask',
        '10  buyer     ⇢ user       Enough.',
        '',
      ].join('\n'),
    )
    assert.equal(
      await diagramOf(run.runId, 'mermaid'),
      [
        'sequenceDiagram',
        '  actor user',
        '  participant buyer',
        '  participant warehouse',
        '  user->>buyer: 1. Buy two.',
        '  buyer-xwarehouse: 2. refused (PROTOCOL_VIOLATION): order is not allowed in state idle of stock-request#59; allowed: ask',
        '  buyer-xwarehouse: 3. refused (TOOL_ARGS_INVALID): `sku`: expected string, got number',
        '  buyer-xwarehouse: 4. refused (TOOL_ARGS_INVALID): the value: Unrecognized key: "colour"',
        '  buyer->>warehouse: 5. ask {"sku":"A-1"}',
        '  warehouse-->>buyer: 6. {"inStock":3}',
        '  buyer->>warehouse: 7. order {"count":2}',
        '  warehouse-->>buyer: 8. Ordered.',
        '  buyer-xwarehouse: 9. refused (PROTOCOL_VIOLATION): order is not allowed in state closed of stock-request#59; allowed: ask',
        '  buyer-->>user: 10. Enough.',
        '',
      ].join('\n'),
    )
  })

  test('a reply off its schema is asked for once more, and then the sender reads that it does not fit', async () => {
    await saveAll(stage, [stock()], [buyer(), warehouse()])
    const ask = send('warehouse', 'ask', { sku: 'A-1' })
    stage.model.script('buyer', { calls: [ask] }, { calls: [ask] }, { text: 'Well.' })
    stage.model.script(
      'warehouse',
      { text: 'three' },
      { text: '{"inStock":3}' },
      { text: 'four' },
      { text: '{"inStock":"4"}' },
    )
    const run = await stage.ask('buyer', 'How many?', { id: 'chats/off' })
    assert.equal(run.status, 'completed')
    const read = toolContents(stage.model.of('buyer').at(-1))
    assert.equal(read[0], '{"inStock":3}')
    assert.match(read[1] ?? '', /^\{"error":"warehouse's reply does not fit stock-request\.ask: /)
    const again = spoken(stage.model.of('warehouse')[1]).at(-1)
    assert.match('user' in (again ?? {}) ? (again as { user: string }).user : '', /JSON Schema/)
    const events = await stage.events('chats/off')
    assert.deepEqual(
      messages(events).map(({ content }) => [content['author'], content['isReply']]),
      [
        ['buyer', false],
        ['warehouse', true],
        ['buyer', false],
      ],
    )
    assert.deepEqual(noticesIn(events), ['PROTOCOL_UNFINISHED'])
  })

  for (const [title, more, status] of [
    ['cannot be written to', {}, 'completed'],
    ['fails the run where the value is trusted', { policy: 'forbidModelGeneration' }, 'failed'],
  ] as const)
    test(`[C16] a peer that lacks a value is not offered; called all the same, it ${title}`, async () => {
      await saveAll(stage, [stock()], [buyer(), warehouse({ parameters: [{ name: 'site', ...more }] })])
      stage.model.script('buyer', { calls: [send('warehouse', 'ask', { sku: 'A-1' })] }, { text: 'I cannot.' })
      const run = await stage.ask('buyer', 'How many?', { id: 'chats/lack' })
      assert.equal(run.status, status, JSON.stringify(run.error))
      if (status === 'failed') assert.equal(run.error?.code, 'MISSING_AGENT_PARAMETER')
      assert.deepEqual(offeredNames(stage.model.of('buyer')[0]), [])
      assert.deepEqual(noticesIn(await stage.events('chats/lack')), ['DELEGATE_UNAVAILABLE'])
    })

  test('[R30] a parameter of the peer is bound by name or by `map`, and one set of values is one memory', async () => {
    const site = [{ name: 'site' }]
    await saveAll(
      stage,
      [stock({ order: null })],
      [
        buyer({
          parameters: [{ name: 'place' }],
          speaks: [{ ...initiates('stock-request', 'warehouse'), map: { site: 'place' } }],
        }),
        warehouse({ parameters: site }),
      ],
    )
    stage.model.script('buyer', { calls: [send('warehouse', 'ask', { sku: 'A-1' })] }, { text: 'Good.' })
    stage.model.script('warehouse', { text: '{"inStock":1}' })
    await stage.ask('buyer', 'How many?', { id: 'chats/bound', parameters: { place: 'Oslo' } })
    const [seen] = stage.model.of('warehouse')
    assert.match(JSON.stringify(transcript(seen)[0]), /site: Oslo|site.*Oslo/)
  })
})

describe('who waits for whom', () => {
  test('[C35] [T10] [T17] a message back to a peer above is answered in a fresh document that begins with the exchange', async () => {
    const both = (id: string, other: string) => agent(id, { speaks: [initiates('talk', other), responds('talk')] })
    await saveAll(stage, [chat('talk')], [both('one', 'two'), both('two', 'one')])
    stage.model.script(
      'one',
      { calls: [send('two', 'ask', { text: 'a' })] },
      { text: 'from one, apart' },
      { text: 'all is said' },
    )
    stage.model.script('two', { calls: [send('one', 'ask', { text: 'b' })] }, { text: 'from two' })
    const run = await stage.ask('one', 'Begin.', { id: 'chats/back' })
    assert.equal(run.text, 'all is said')
    assert.deepEqual(spoken(stage.model.of('one')[1]), [{ user: '[from @two to @one] ask {"text":"b"}' }])
    const events = await stage.events('chats/back')
    assert.deepEqual(
      messages(events).map(({ document, content }) => [document, content['author'], content['isReply']]),
      [
        ['chats/back/@two', 'one', false],
        ['chats/back/@one~2', 'two', false],
        ['chats/back/@one~2', 'one', true],
        ['chats/back/@two', 'two', true],
      ],
    )
  })

  test('[C35] two pairs that wait for each other crosswise come to an end', async () => {
    const pair = (id: string, other: string) => agent(id, { speaks: [initiates('talk', other), responds('talk')] })
    await saveAll(
      stage,
      [chat('talk')],
      [agent('hub', { speaks: [initiates('talk', 'left', 'right')] }), pair('left', 'right'), pair('right', 'left')],
    )
    stage.model.script(
      'hub',
      { calls: [send('left', 'ask', { text: '1' }), send('right', 'ask', { text: '2' })] },
      { text: 'Both have answered.' },
    )
    stage.model.script('left', { calls: [send('right', 'ask', { text: '3' })] }, { text: 'l1' }, { text: 'l2' })
    stage.model.script('right', { calls: [send('left', 'ask', { text: '4' })] }, { text: 'r1' }, { text: 'r2' })
    const run = await stage.ask('hub', 'Begin.', { id: 'chats/cross' })
    assert.equal(run.text, 'Both have answered.')
    const documents = messages(await stage.events('chats/cross')).map(({ document }) =>
      document.slice('chats/cross/'.length),
    )
    assert.equal(documents.length, 8)
    assert.ok(
      documents.some((one) => one.includes('~')),
      documents.join(' '),
    )
  })
})

test('[T20] a reply may be null, in the text or in a call of `set_output`', async () => {
  const nothing = {
    name: 'nothing',
    messages: [{ name: 'ask', from: 'initiator', schema: { type: 'object' }, reply: { type: 'null' } }],
  }
  await saveAll(
    stage,
    [nothing],
    [
      agent('one', { speaks: [initiates('nothing', 'two', 'three')] }),
      agent('two', { speaks: [responds('nothing')] }),
      agent('three', { speaks: [responds('nothing')], outputMode: 'tool' }),
    ],
  )
  stage.model.script('one', { calls: [send('two', 'ask', {}), send('three', 'ask', {})] }, { text: 'Done.' })
  stage.model.script('two', { text: 'null' })
  stage.model.script(
    'three',
    { text: 'There is nothing.' },
    { calls: [{ name: 'set_output', args: { output: null } }] },
  )
  const { runId } = await stage.ask('one', 'Go.', { id: 'chats/null' })
  const replies = (await exchangesOf(runId)).flatMap(({ messages: said }) => said.filter(({ isReply }) => isReply))
  assert.deepEqual(
    replies.map(({ body }) => body),
    [null, null],
  )
})

test('[T20] the answer of a workflow to which a peer hands over is held against the schema of the reply, too', async () => {
  const desk = { id: 'desk', workflow: { kind: 'sequence', agents: ['clerk'] } }
  await saveAll(stage, [stock()], [buyer(), warehouse({ transfers: [transfer('desk')] }), desk, agent('clerk')])
  stage.model.script('buyer', { calls: [send('warehouse', 'ask', { sku: 'A-1' })] }, { text: 'Well.' })
  stage.model.script('warehouse', { calls: [hand('desk')] })
  stage.model.script('clerk', { text: 'four' })
  const { runId } = await stage.ask('buyer', 'How many?', { id: 'chats/handed' })
  assert.match(toolContents(stage.model.of('buyer').at(-1))[0] ?? '', /^\{"error":"warehouse's reply does not fit /)
  const [exchange] = await exchangesOf(runId)
  assert.deepEqual(
    exchange?.messages.map(({ isReply }) => isReply),
    [false],
  )
})
