/** Random acquaintances: the check tells every cycle with its exact path, and nothing that is none. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { holds } from '../support/seeds.ts'
import { agent, createStage } from '../support/stage.ts'

const ids = ['a', 'b', 'c', 'd', 'e']
type Edges = ReadonlyMap<string, readonly string[]>

const graph: fc.Arbitrary<Edges> = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...ids), fc.constantFrom(...ids)), { selector: String, maxLength: 12 })
  .map(
    (pairs) =>
      new Map(ids.map((id) => [id, pairs.filter(([from, to]) => from === id && to !== id).map(([, to]) => to)])),
  )

/** Every way from `start` back to it that meets no agent twice: walked step by step, from the definition. */
function cyclesOf(edges: Edges, start: string): string[] {
  const found: string[] = []
  const walk = (path: readonly string[]): void => {
    for (const next of edges.get(path.at(-1) ?? '') ?? []) {
      if (next === start) found.push([...path, start].join(' –subAgents→ '))
      else if (!path.includes(next)) walk([...path, next])
    }
  }
  walk([start])
  return found.sort()
}

test('[P12] [C1] [E03] every cycle is told with its path, at each agent on it, when checked and when saved', async (context) => {
  let cyclic = 0
  const property = fc.asyncProperty(graph, async (edges) => {
    const agents = ids.map((id) => agent(id, { subAgents: (edges.get(id) ?? []).map((to) => ({ agent: to })) }))
    const { runtime } = createStage({ agents: [], plays: {} })
    const report = await runtime.agents.check(agents)
    await runtime.agents.saveAll(agents)
    for (const id of ids) {
      const wanted = cyclesOf(edges, id)
      cyclic += wanted.length === 0 ? 0 : 1
      const { warnings } = await runtime.agents.get(id)
      for (const told of [report.warnings, warnings]) {
        const cycles = told.filter((one) => one.code === 'AGENT_CYCLE' && one.agent === id)
        assert.deepEqual(cycles.map(({ detail }) => /^Cycle: (.*?)\. /.exec(detail)?.[1]).sort(), wanted)
      }
    }
    assert.deepEqual(report.errors, [])
  })
  const expected = await holds(context, property, 300)
  assert.ok(cyclic > expected(200), 'too few cycles came up')
})

test('[P12] [C1] agents that all list each other are told of the shortest circles, and how many more there are', async () => {
  const all = Array.from({ length: 7 }, (_, index) => `n${index}`)
  const agents = all.map((id) => agent(id, { subAgents: all.filter((to) => to !== id).map((to) => ({ agent: to })) }))
  const { runtime } = createStage({ agents: [], plays: {} })
  const { warnings } = await runtime.agents.check(agents)
  for (const id of all) {
    const details = warnings.filter((one) => one.code === 'AGENT_CYCLE' && one.agent === id).map(({ detail }) => detail)
    assert.equal(details.length, 21)
    // Six circles of two, and fourteen of the thirty of three.
    assert.deepEqual(
      details.slice(0, 20).map((detail) => detail.split(' –subAgents→ ').length),
      [...Array.from({ length: 6 }, () => 3), ...Array.from({ length: 14 }, () => 4)],
    )
    assert.equal(details.at(-1), `\`${id}\` is on at least 1936 more cycles.`)
  }
})
