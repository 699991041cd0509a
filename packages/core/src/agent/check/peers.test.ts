/** The ends of protocols: both must fit, and their tools need names that a model can call. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { agentSchema, protocolSchema } from '@witan/protocol/schemas'
import type { AgentData } from '@witan/protocol'
import { peerMessagesIn } from '../protocol/peer-messages.ts'
import { acquaintancesOf, checkPeers, protocolUses, unspoken } from './peers.ts'

const stock = protocolSchema.parse({
  name: 'stock',
  messages: [
    { name: 'ask', from: 'initiator' },
    { name: 'remind', from: 'responder' },
  ],
})
type Spoken = Partial<AgentData['speaks'][number]>
const agent = (id: string, ...speaks: Spoken[]) =>
  agentSchema.parse({ id, model: 'm', instructions: 'x', speaks: speaks.map((one) => ({ protocol: 'stock', ...one })) })
const set = (...agents: AgentData[]) => ({
  agents: new Map(agents.map((one) => [one.id, one])),
  protocols: new Map([['stock', stock]]),
})
const codes = (id: string, survey: ReturnType<typeof set>, more = {}) =>
  checkPeers(survey.agents.get(id) as AgentData, { ...survey, ...more }).map(({ code, path }) => `${code} ${path}`)
const buyer = agent('buyer', { role: 'initiator', peers: ['store'] })

describe('the ends of a protocol', () => {
  test('two agents fit that speak it in both roles and name each other, or take any initiator', () => {
    for (const peers of [null, ['buyer']]) {
      const survey = set(buyer, agent('store', { role: 'responder', peers }))
      assert.deepEqual([codes('buyer', survey), codes('store', survey)], [[], []])
    }
  })

  test('an end that is missing, in another role, or for others is reported at both', () => {
    const mismatch = 'PROTOCOL_ENDS_MISMATCH'
    const others = [
      agent('store'),
      agent('store', { role: 'initiator', peers: ['other'] }),
      agent('store', { role: 'responder', peers: ['other'] }),
    ]
    for (const store of others) {
      const survey = set(buyer, store, agent('other', { role: 'initiator', peers: ['store'] }))
      assert.deepEqual(codes('buyer', survey), [`${mismatch} speaks.0.peers.0`])
      assert.ok(codes('store', survey).includes(`${mismatch} speaks`), 'who saves the other end learns it too')
      const checked = new Set(['buyer', 'other'])
      assert.ok(!codes('store', survey, { checked }).includes(`${mismatch} speaks`), 'once, where both are checked')
    }
    const responder = set(agent('store', { role: 'responder', peers: ['buyer'] }), agent('buyer'))
    assert.deepEqual(codes('store', responder), [`${mismatch} speaks.0.peers.0`])
  })

  test('an unknown protocol is told with the nearest one', () => {
    const [finding] = checkPeers(agent('a', { protocol: 'stok', role: 'responder' }), set())
    assert.equal(finding?.code, 'PROTOCOL_UNKNOWN')
    assert.match(finding?.detail ?? '', /Did you mean `stock`\?/)
  })

  test('one tool for each peer and message that the agent may send; a responder writes to those that name it', () => {
    const survey = set(buyer, agent('store', { role: 'responder' }), agent('thief'))
    const tools = (id: string) => peerMessagesIn(survey.agents.get(id) as AgentData, survey).map(({ tool }) => tool)
    assert.deepEqual([tools('buyer'), tools('store'), tools('thief')], [['store_ask'], ['buyer_remind'], []])
  })

  test('a name that no model could call is refused', () => {
    const long = 's'.repeat(62)
    const survey = set(agent('buyer', { role: 'initiator', peers: [long] }), agent(long, { role: 'responder' }))
    assert.deepEqual(codes('buyer', survey), ['TOOL_NAME_TOO_LONG speaks.0'])
    assert.deepEqual(codes(long, survey), [], 'its own tool, to the other end, is short enough')
  })

  test('who speaks a protocol is listed by role, and one that nobody speaks is warned of', () => {
    const { agents, protocols } = set(buyer, agent('store', { role: 'responder' }))
    const used = protocolUses(agents, protocols)
    assert.deepEqual(used, [{ name: 'stock', initiators: ['buyer'], responders: ['store'] }])
    assert.deepEqual(unspoken(used), [])
    assert.deepEqual(
      unspoken(protocolUses(new Map(), protocols)).map(({ code }) => code),
      ['PROTOCOL_UNSPOKEN'],
    )
  })
})

test('[T19] an acquaintance is a pair whose both ends fit, whatever else its protocol connects', () => {
  const { agents } = set(
    agent('two', { role: 'initiator', peers: ['store', 'shed', 'nowhere'] }),
    agent('one', { role: 'initiator', peers: ['shed'] }),
    agent('shed', { role: 'responder', peers: ['one'] }),
    agent('store', { role: 'responder', peers: null }),
  )
  const pair = (from: string, to: string) => ({ from, to, protocol: 'stock' })
  assert.deepEqual(acquaintancesOf(agents), [pair('one', 'shed'), pair('two', 'store')])
})
