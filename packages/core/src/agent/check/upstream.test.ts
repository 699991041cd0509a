/** Hidden values that an agent above shows, told beforehand, against every walk through small graphs, cycles included. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentData, AgentInput } from '@witan/protocol'
import fc from 'fast-check'
import { holds } from '../../../../../test/support/seeds.ts'
import { bind, withGenerated } from '../../parameter/bind.ts'
import type { Bound } from '../../parameter/parameter.ts'
import { parseAgent } from '../parse.ts'
import { type CheckContext, checkAgent, checkAll, surveyOf } from './check.ts'

const context: CheckContext = {
  tools: new Map(),
  sources: new Set(),
  querySources: new Map(),
  hasModel: () => true,
  maySend: () => true,
  hasPrice: () => true,
  lacksEmbeddingPrice: () => false,
  modelNames: [],
  protocols: new Map(),
  bases: new Map(),
  maxDepth: 8,
}

type Draft = Partial<AgentInput> & Pick<AgentInput, 'id'>

function setOf(drafts: readonly Draft[]): ReadonlyMap<string, AgentData> {
  const agents = drafts.map((draft) => parseAgent({ model: 'any/model', instructions: 'Work.', ...draft }))
  return new Map(agents.map((agent) => [agent.id, agent]))
}

const names = ['p', 'q']
const ids = ['a0', 'a1', 'a2', 'a3']
const parameters = fc.uniqueArray(
  fc.record({ name: fc.constantFrom(...names), type: fc.constant('any'), sendToModel: fc.boolean() }),
  { selector: ({ name }) => name, maxLength: 2 },
)
type Maps = fc.Arbitrary<Record<string, string | null>>
const renaming: Maps = fc.dictionary(fc.constantFrom(...names), fc.option(fc.constantFrom(...names)), { maxKeys: 2 })
const cutting: Maps = fc.dictionary(fc.constantFrom(...names), fc.constant(null), { maxKeys: 1 })
const graph = (maps: Maps) =>
  fc
    .tuple(...ids.map(() => fc.tuple(parameters, fc.array(maps, { minLength: 4, maxLength: 4 }), fc.nat(15))))
    .map((agents) =>
      setOf(
        agents.map(([declared, own, lists], at) => ({
          id: ids[at] as string,
          parameters: declared,
          subAgents: ids.flatMap((agent, index) =>
            index !== at && (lists >> index) & 1 ? [{ agent, map: own[index] }] : [],
          ),
        })),
      ),
    )

/** Who shows what somebody below hides, on any walk of a conversation that gives every name: `a2.p a0`. */
function shownAbove(root: AgentData, agents: ReadonlyMap<string, AgentData>): Set<string> {
  const given = new Map(names.map((name) => [name, { value: name, hidden: false }]))
  const found = new Set<string>()
  const seen = new Set<string>()
  const walk = (agent: AgentData, bound: Bound, above: ReadonlySet<string>): void => {
    const values = [...bound].map(([name, { box }]) => [name, String(box.reveal())] as const)
    const state = JSON.stringify([agent.id, values, [...above].sort()])
    if (seen.has(state)) return
    seen.add(state)
    const isShown = (name: string) => agent.parameters.some((one) => one.name === name && one.sendToModel)
    for (const [name, value] of values) {
      if (isShown(name)) continue
      for (const one of above) if (one.startsWith(`${value} `)) found.add(`${agent.id}.${name} ${one.split(' ')[1]}`)
    }
    const shown = values.flatMap(([name, value]) => (isShown(name) ? [`${value} ${agent.id}`] : []))
    for (const edge of agent.subAgents) {
      const child = agents.get(edge.agent) as AgentData
      const binding = bind(child.parameters, { parent: bound, conversationValues: given, map: edge.map })
      const known = new Set([...above, ...shown])
      const made = binding.generate.map(({ name }) => [name, freshValue(`${child.id}.${name}`, known)])
      const next = withGenerated(binding, Object.fromEntries(made))
      // Only what the child has, or any start gives, can come further down.
      const held = new Set([...names, ...[...next.values()].map(({ box }) => String(box.reveal()))])
      walk(child, next, new Set([...known].filter((one) => held.has(one.split(' ')[0] ?? ''))))
    }
  }
  walk(root, bind(root.parameters, { parent: null, conversationValues: given, map: {} }).bound, new Set())
  return found
}

/** What a model makes for one call: another value than all that it made before and that is still known. */
function freshValue(place: string, known: ReadonlySet<string>): string {
  const inUse = new Set([...known].map((one) => one.split(' ')[0]))
  for (let round = 0; ; round += 1) if (!inUse.has(`made-${round}-for-${place}`)) return `made-${round}-for-${place}`
}

/** What the check says of it, in the same words. */
function toldOf(findings: readonly { readonly code: string; readonly detail: string }[]): string[] {
  return findings
    .filter(({ code }) => code === 'PARAM_EXPOSED_UPSTREAM')
    .map(({ detail }) => {
      const [, name, agent, shower] = /^`(\w+)` is hidden in `(\w+)` but shown to `(\w+)`/.exec(detail) ?? []
      return `${agent}.${name} ${shower}`
    })
}

for (const [maps, isComplete, atLeast] of [
  [cutting, true, 250],
  [renaming, false, 500],
] as const) {
  const which = isComplete ? 'the nearest that do are named, and no others' : 'no others are named where maps rename'
  test(`[C17] of each hidden value that an agent above shows, ${which}`, async (checking) => {
    let compared = 0
    const property = fc.asyncProperty(graph(maps), async (agents) => {
      const root = agents.get('a0') as AgentData
      const expected = shownAbove(root, agents)
      const told = toldOf(await checkAgent(root, await surveyOf([root], agents, context)))
      for (const one of told) assert.ok(expected.has(one), `the check warns of ${one}, which never happens`)
      const places = (pairs: Iterable<string>) => new Set([...pairs].map((pair) => pair.split(' ')[0]))
      if (isComplete) assert.deepEqual(places(told), places(expected))
      compared += told.length
    })
    const expected = await holds(checking, property, { all: 600, quick: 600 })
    assert.ok(compared > expected(atLeast), `${compared} compared`)
  })
}

test('an agent that is called with a value shows it, although its caller has none of that name', async () => {
  const agents = setOf([
    { id: 'root', subAgents: [{ agent: 'mid', map: { customer: 'userId' } }] },
    { id: 'mid', parameters: [{ name: 'customer' }], subAgents: [{ agent: 'leaf' }] },
    { id: 'leaf', parameters: [{ name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' }] },
  ])
  const { warnings } = await checkAll([...agents.values()], agents, context)
  const exposed = warnings.find(({ code }) => code === 'PARAM_EXPOSED_UPSTREAM')
  assert.equal(
    exposed?.detail,
    '`userId` is hidden in `leaf` but shown to `mid` as `customer`, which can repeat it in text.',
  )
})

const shown = (id: string, ...agents: string[]) => ({
  id,
  parameters: [{ name: 'userId' }],
  subAgents: agents.map((agent) => ({ agent })),
})

test('of many agents that show one value the twenty nearest are named', async () => {
  const parents = Array.from({ length: 30 }, (_, index) => shown(`p${index}`, 'leaf'))
  const agents = setOf([
    ...parents,
    { id: 'leaf', parameters: [{ name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' }] },
  ])
  const { warnings } = await checkAll([...agents.values()], agents, context)
  const exposed = warnings.filter(({ code }) => code === 'PARAM_EXPOSED_UPSTREAM').map(({ detail }) => detail)
  assert.equal(exposed.length, 21)
  assert.equal(exposed.at(-1), '`userId` is hidden in `leaf` but shown to more agents above it than are named here.')
})

test('of an edge that takes its target out of reach twenty ways are named', async () => {
  const trusted = { name: 'userId', policy: 'forbidModelGeneration' } as const
  const parents = Array.from({ length: 30 }, (_, index) => ({ id: `p${index}`, subAgents: [{ agent: 'mid' }] }))
  const agents = setOf([
    ...parents,
    {
      id: 'mid',
      subAgents: [
        { agent: 'leaf', map: { userId: null } },
        { agent: 'other', map: { userId: null } },
      ],
    },
    { id: 'leaf', parameters: [trusted] },
    { id: 'other', parameters: [trusted] },
  ])
  const { warnings } = await checkAll([...agents.values()], agents, context)
  const closed = warnings.filter(({ code }) => code === 'DELEGATE_UNAVAILABLE')
  assert.deepEqual(
    ['leaf', 'other'].map((id) => closed.filter(({ agent }) => agent === id).length),
    [20, 20],
  )
})
