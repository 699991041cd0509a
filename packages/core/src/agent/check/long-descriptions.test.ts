/** Each kind of description that a model reads is warned of where it has no room, and none where it has. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentData } from '@witan/protocol'
import type { ProtocolInput } from '@witan/protocol/protocols'
import { protocolSchema } from '@witan/protocol/schemas'
import { runWithPauses } from '../../identity/pausable.ts'
import { parseAgent } from '../parse.ts'
import { checkLongDescriptions } from './long-descriptions.ts'

const x = (length: number) => 'x'.repeat(length)
const many = <One>(make: (index: number) => One): One[] => Array.from({ length: 200 }, (_, index) => make(index))
const draft = (id: string, more: object = {}): AgentData =>
  parseAgent({ id, model: 'play/model', instructions: 'x', description: 'Knows.', ...more })

interface Case {
  readonly root: object
  readonly leaf?: object
  readonly others?: readonly AgentData[]
  readonly protocol?: Partial<ProtocolInput>
  readonly finds: RegExp | null
}

const speaks = (role: 'initiator' | 'responder', peers: readonly string[] | null = null) => ({
  speaks: [{ protocol: 'stock', role, peers }],
})
const cases: Readonly<Record<string, Case>> = {
  'an action': { root: { actions: [{ name: 'Do', description: x(1_024) }] }, finds: null },
  'a long action': {
    root: { actions: [{ name: 'Do', description: x(1_025) }] },
    finds: /^actions\.0: .*`Do` has 1025/,
  },
  'a long delegate': {
    root: { subAgents: [{ agent: 'leaf', description: x(1_025) }] },
    finds: /^subAgents\.0: .*1025/,
  },
  'a full delegate': { root: { subAgents: [{ agent: 'leaf' }] }, leaf: { description: x(1_024) }, finds: null },
  'a delegate with a name': {
    root: { subAgents: [{ agent: 'leaf' }] },
    leaf: { name: 'Leaf', description: x(1_018) },
    finds: null,
  },
  'a delegate whose id is its name': {
    root: { subAgents: [{ agent: 'leaf' }] },
    leaf: { name: 'leaf', description: x(1_024) },
    finds: null,
  },
  'a wrapped agent without room for its name': {
    root: { subAgents: [{ agent: 'leaf', style: 'agentTool' }] },
    leaf: { name: 'A Leaf', description: x(1_020) },
    finds: /^subAgents\.0: .*leaves out its display name:/,
  },
  'a delegate without room for its tools': {
    root: { subAgents: [{ agent: 'leaf' }] },
    leaf: { name: 'A Leaf', description: x(1_020), actions: [{ name: 'Do' }] },
    finds: /leaves out its display name and 1 of the tools/,
  },
  'a wrapped agent says nothing of its tools': {
    root: { subAgents: [{ agent: 'leaf', style: 'agentTool' }] },
    leaf: { actions: many((index) => ({ name: `a${index}` })) },
    finds: null,
  },
  'a target': { root: { transfers: [{ agent: 'leaf' }] }, leaf: { description: x(1_000) }, finds: null },
  'a long target': {
    root: { transfers: [{ agent: 'leaf' }] },
    leaf: { description: x(1_024) },
    finds: /^transfers: The roster of the 1 agents/,
  },
  'a long target that takes nothing over': {
    root: { transfers: [{ agent: 'leaf' }] },
    leaf: { description: x(1_024), acceptTransfer: false },
    finds: null,
  },
  'many targets': {
    root: { transfers: many((index) => ({ agent: `leaf-${index}` })) },
    others: many((index) => draft(`leaf-${index}`, { description: x(100) })),
    finds: /^transfers: The roster of the 200 agents/,
  },
  'a long agent in reach': {
    root: { subAgents: [{ agent: 'leaf' }], transferReach: 'tree' },
    leaf: { description: x(1_024) },
    finds: /^transfers: The roster/,
  },
  'a peer': { root: speaks('initiator', ['leaf']), leaf: speaks('responder'), finds: null },
  'a long peer': {
    root: speaks('initiator', ['leaf']),
    leaf: { ...speaks('responder'), description: x(1_000) },
    finds: /^speaks\.0: .*`leaf_ask` is cut/,
  },
  'a long purpose': {
    root: speaks('initiator', ['leaf']),
    leaf: speaks('responder'),
    protocol: { purpose: x(1_000) },
    finds: /^speaks\.0: .*`leaf_ask` is cut/,
  },
  'a long purpose for a responder that writes nothing': {
    root: speaks('responder'),
    leaf: speaks('initiator', ['root']),
    protocol: { purpose: x(1_020) },
    finds: /^speaks\.0: The purpose of protocol `stock` is cut/,
  },
  people: { root: { users: [{ id: 'anna', name: 'Anna' }] }, finds: null },
  'many people': { root: { users: many((index) => ({ id: `person-${index}` })) }, finds: /^users: .*200 people/ },
  'whoever takes part': { root: { users: 'participants' }, finds: null },
}

for (const [title, { root, leaf = {}, others = [], protocol = {}, finds }] of Object.entries(cases))
  test(`[Rb04] ${title}${finds === null ? ' is not warned of' : ''}`, async () => {
    const stock = protocolSchema.parse({ name: 'stock', messages: [{ name: 'ask', from: 'initiator' }], ...protocol })
    const agents = new Map([draft('root', root), draft('leaf', leaf), ...others].map((one) => [one.id, one]))
    const set = { agents, tools: new Map(), protocols: new Map([['stock', stock]]) }
    const found = await runWithPauses(checkLongDescriptions(agents.get('root') as AgentData, set))
    const lines = found.map(({ path, detail }) => `${path}: ${detail}`)
    assert.equal(lines.length, finds === null ? 0 : 1, lines.join('\n'))
    if (finds !== null) assert.match(lines[0] ?? '', finds)
  })
