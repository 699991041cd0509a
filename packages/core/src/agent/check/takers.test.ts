/** What a given value reaches, told beforehand, against what binding does on every walk through small graphs, cycles included. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentData } from '@witan/protocol'
import { noEdges } from '@witan/protocol/edges'
import fc from 'fast-check'
import { holds } from '../../../../../test/support/seeds.ts'
import { bind, withGenerated } from '../../parameter/bind.ts'
import type { Bound } from '../../parameter/parameter.ts'
import { takersOf } from './takers.ts'

const names = ['p', 'q', 'r']
const ids = ['a0', 'a1', 'a2', 'a3']
const parameters = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom(...names),
    type: fc.constant('any'),
    sendToModel: fc.boolean(),
    policy: fc.constantFrom(null, null, 'forbidModelGeneration'),
  }),
  { selector: ({ name }) => name, maxLength: 3 },
)
const map = fc.dictionary(fc.constantFrom(...names), fc.option(fc.constantFrom(...names)), { maxKeys: 2 })
const graph = fc
  .tuple(
    ...ids.map((id) =>
      fc
        .tuple(parameters, fc.array(map, { minLength: ids.length, maxLength: ids.length }), fc.nat(15))
        .map(([declared, maps, lists]) => ({
          id,
          parameters: declared,
          ...noEdges,
          subAgents: ids.flatMap((agent, index) =>
            agent !== id && (lists >> index) & 1 ? [{ agent, map: maps[index] }] : [],
          ),
        })),
    ),
  )
  .map((agents) => new Map(agents.map((agent) => [agent.id, agent as unknown as AgentData])))

/** All ways to leave some of them out. */
const subsets = ([one, ...others]: readonly string[]): string[][] =>
  one === undefined ? [[]] : subsets(others).flatMap((some) => [some, [one, ...some]])

/** Every binding that a start may lead to; null where some delegate cannot be called, since what it is bound to is then nobody's. */
function reached(root: AgentData, agents: ReadonlyMap<string, AgentData>): Set<string> | null {
  const found = new Set<string>()
  const free = names.filter((name) => !root.parameters.some((one) => one.name === name && one.sendToModel))
  for (const left of subsets(free)) {
    const given = new Map(
      names.filter((name) => !left.includes(name)).map((name) => [name, { value: name, hidden: false }]),
    )
    const seen = new Set<string>()
    const walk = (agent: AgentData, bound: Bound): boolean => {
      const values = [...bound]
        .map(([name, { box, origin }]) => `${String(box.reveal())} > ${agent.id}.${name} ${origin}`)
        .sort()
      if (seen.has(`${agent.id} ${values.join()}`)) return true
      seen.add(`${agent.id} ${values.join()}`)
      for (const value of values) if (value.endsWith(' caller')) found.add(value.replace(' caller', ''))
      return agent.subAgents.every((edge) => {
        const child = agents.get(edge.agent) as AgentData
        const binding = bind(child.parameters, { parent: bound, conversationValues: given, map: edge.map })
        const made = Object.fromEntries(binding.generate.map(({ name }) => [name, 'made']))
        return binding.missing.length === 0 && walk(child, withGenerated(binding, made))
      })
    }
    if (!walk(root, bind(root.parameters, { parent: null, conversationValues: given, map: {} }).bound)) return null
  }
  return found
}

test('[R30] [E15] [E17] a given value is told to reach exactly whom some start binds it to', async (context) => {
  let compared = 0
  const property = fc.property(graph, (agents) => {
    const root = agents.get('a0') as AgentData
    const expected = reached(root, agents)
    if (expected === null) return
    const told = [...takersOf(root, agents)].flatMap(([name, takers]) =>
      takers.map(({ agent, parameter }) => `${name} > ${agent.id}.${parameter.name}`),
    )
    assert.deepEqual(new Set(told), expected)
    compared += told.length
  })
  const expected = await holds(context, property, 2000)
  assert.ok(compared > expected(2000), `${compared} compared`)
})

test('[E15] where a start may leave a value of its root out, a trusted one further down is given by its own name', () => {
  const agents = new Map(
    [
      {
        id: 'root',
        parameters: [{ name: 'id', type: 'any', sendToModel: false, policy: null }],
        subAgents: [{ agent: 'mid', map: { case: 'id' } }],
      },
      {
        id: 'mid',
        parameters: [{ name: 'case', type: 'any', sendToModel: true, policy: null }],
        subAgents: [{ agent: 'leaf', map: {} }],
      },
      {
        id: 'leaf',
        parameters: [{ name: 'case', type: 'any', sendToModel: false, policy: 'forbidModelGeneration' }],
        subAgents: [],
      },
    ].map((agent) => [agent.id, { ...noEdges, ...agent } as unknown as AgentData]),
  )
  const told = [...takersOf(agents.get('root') as AgentData, agents)].map(
    ([name, takers]) => `${name}: ${takers.map(({ agent }) => agent.id).join()}`,
  )
  assert.deepEqual(told, ['id: root,mid,leaf', 'case: leaf'])
})
