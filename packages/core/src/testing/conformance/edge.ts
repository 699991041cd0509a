/** The conformance kit of edges: what every edge from one agent to another must do. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AgentData, type AgentInput, MissingAgentParameterError } from '@witan/protocol'
import { type AgentEdge, agentEdgesOf } from '@witan/protocol/edges'
import { Boxed } from '../../parameter/hidden.ts'
import type { Bound } from '../../parameter/parameter.ts'
import type { FindAgent } from '../../tool/delegation.ts'
import type { Outcome } from '../../tool/outcome.ts'
import { propertyNames } from '../../tool/schema.ts'
import type { Caller, Tool, ToolSource } from '../../tool/tool.ts'
import {
  agentOf,
  type Arguments,
  assertNoSecret,
  assertOutcome,
  assertUnsaid,
  callerOf,
  type Claim,
  frozen,
  hiddenValues,
  play,
} from './tool-fixtures.ts'

/** An edge that a test needs. */
export interface WantedEdge {
  /** The ids of its targets: one, or as many as the harness says. */
  readonly agents: readonly string[]
  /** Empty for none. */
  readonly description: string
  readonly map: Readonly<Record<string, string | null>>
}

/** A kind of edge. */
export interface EdgeHarness {
  readonly name: string
  /** The tools of its edges. */
  source(find: FindAgent): ToolSource
  /** The part of a definition that lists these edges, in this order. */
  define(edges: readonly WantedEdge[]): Partial<AgentInput>
  /** The arguments that a model writes for a task, without the parameters that the targets need. */
  arguments(task: string): Arguments
  /** How many agents one edge leads to; default 1. */
  readonly targets?: number
}

/** Registers the tests that every edge passes. */
export function testEdge(harness: EdgeHarness): void {
  for (const claim of edgeClaims(harness)) test(`${harness.name}: ${claim.name}`, (context) => claim.run(context))
}

/** The claims of the kit. */
export function edgeClaims(harness: EdgeHarness): readonly Claim[] {
  const claims: Claim[] = []
  const claim: Register = (name, body) => {
    claims.push({ name, run: async () => body(harness) })
  }
  claimDefinition(claim)
  claimOffer(claim)
  claimRefusals(claim)
  claimCalls(claim)
  return claims
}

type Register = (name: string, body: (harness: EdgeHarness) => void | Promise<void>) => void

const task = 'Count the open orders.'
const trusted = { name: 'tenant', type: 'string', policy: 'forbidModelGeneration' } as const
const region = { name: 'region', type: 'string' } as const
const size = { name: 'size', type: 'number' } as const

/** The ids that edges lead to, one after the other. */
function targetIds({ targets = 1 }: EdgeHarness, from = 0): readonly string[] {
  return Array.from({ length: targets }, (_, index) => `target-${from + index}`)
}

function targetOf(id: string): AgentData {
  return agentOf({ id, description: `Knows what ${id} knows.`, parameters: [trusted, region, size] })
}

/** The setup of a test. By default the trusted value and the region are bound, and the size is not. */
interface Wanted {
  readonly parameters?: AgentInput['parameters']
  readonly description?: string
  readonly map?: WantedEdge['map']
  readonly caller?: Partial<Caller>
  readonly gone?: string
}

/** One edge at an agent `desk`, with its tool. */
interface World {
  readonly edges: readonly AgentEdge[]
  readonly caller: Caller
  readonly tool: Tool
  readonly tools: readonly Tool[]
  /** The existing agents; a test removes some. */
  readonly agents: Map<string, AgentData>
}

function worldOf(harness: EdgeHarness, wanted: Wanted = {}): World {
  const { parameters = [trusted, region], description = '', map = {} } = wanted
  const ids = targetIds(harness)
  const agents = new Map(ids.filter((id) => id !== wanted.gone).map((id) => [id, targetOf(id)]))
  const defined = harness.define([{ agents: ids, description, map }])
  const desk = agentOf({ id: 'desk', parameters, ...defined })
  const caller = callerOf(desk, wanted.caller)
  const tools = harness.source((_, id) => agents.get(id) ?? null)(caller)
  const edges = agentEdgesOf(desk)
  const tool = tools.find(({ name }) => name === edges[0]?.tool)
  assert.ok(tool !== undefined, 'the tools of an agent hold one with the name that its edge says')
  return { edges, caller, tool, tools, agents }
}

/** Calls the tool as a model would. Refused arguments fail the test. */
async function callEdge(
  harness: EdgeHarness,
  world: World,
  more: Arguments = { size: 3 },
): Promise<readonly Outcome[]> {
  const { tool, caller } = world
  const checked = tool.check({ ...harness.arguments(task), ...more })
  assert.ok(checked.ok, `it refuses what fits: ${checked.ok || checked.issues.join('; ')}`)
  return play(tool, checked.arguments, { caller })
}

function claimDefinition(claim: Register): void {
  claim('the edges of a definition stand in its order, each at its place', (harness) => {
    const map = { region: 'area' }
    const wanted = [
      { agents: targetIds(harness), description: 'The first.', map: {} },
      { agents: targetIds(harness, 10), description: '', map },
    ]
    const desk = frozen(agentOf({ id: 'desk', ...harness.define(wanted) }))
    const edges = agentEdgesOf(desk)
    assert.deepEqual(
      edges.map(({ agent }) => agent),
      wanted.flatMap(({ agents }) => agents),
    )
    for (const { at, agentAt, agent, tool, models } of edges) {
      assert.notEqual(placeIn(desk, at), undefined, `nothing stands at ${at}`)
      assert.equal(placeIn(desk, agentAt), agent, agentAt)
      for (const other of edges) assert.equal(other.tool === tool, other.at === at, 'edges at one place share a tool')
      for (const [place, model] of models) assert.equal(placeIn(desk, place), model, place)
    }
    assert.deepEqual(edges.at(-1)?.map, map)
    assert.equal(agentEdgesOf(desk), edges, 'the same edges for the same definition')
    assert.deepEqual(agentEdgesOf(structuredClone(desk)), edges, 'edges come from the definition alone')
  })
}

/** What stands in a definition at a place such as `subAgents.0`. */
function placeIn(agent: AgentData, at: string): unknown {
  return at.split('.').reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], agent)
}

function claimOffer(claim: Register): void {
  claim('its tool is offered with its own description, or else with that of a target', (harness) => {
    const described = worldOf(harness, { description: 'Ask here first.' })
    assert.match(described.tool.offer?.description ?? '', /Ask here first\./)
    const { tool } = worldOf(harness)
    assert.match(tool.offer?.description ?? '', /Knows what target-0 knows\./)
    assert.equal(tool.notice, null)
  })

  claim('what is bound is not in the schema, and what is not bound must be given [P5, R30]', (harness) => {
    const { tool, caller } = worldOf(harness)
    const { parameters } = tool.offer ?? assert.fail('it is not offered')
    assert.deepEqual(
      ['tenant', 'region', 'size'].map((name) => propertyNames(parameters).includes(name)),
      [false, false, true],
    )
    assert.ok((parameters['required'] as readonly string[]).includes('size'))
    assert.deepEqual([...tool.bound].sort(), ['region', 'tenant'])
    assertUnsaid(tool.offer, caller, 'the offer')
  })

  claim('its arguments are those that the checks of agents know', (harness) => {
    const { tool, edges } = worldOf(harness)
    const known = [...edges.flatMap((edge) => edge.arguments), 'size']
    const listed = propertyNames(tool.offer?.parameters ?? {})
    for (const name of [...listed, ...Object.keys(harness.arguments(task))])
      assert.ok(known.includes(name), `an edge does not say that its tool takes \`${name}\``)
  })

  claim('its map says which value of the caller is bound [E17]', (harness) => {
    const area = { name: 'area', type: 'string' } as const
    const mapped = worldOf(harness, { parameters: [trusted, area], map: { region: 'area' } })
    assert.ok(mapped.tool.bound.includes('region'))
    assertUnsaid(mapped.tool.offer, mapped.caller, 'the offer')
    const unmapped = worldOf(harness, { map: { region: null } })
    assert.ok(!unmapped.tool.bound.includes('region'))
    assert.ok(propertyNames(unmapped.tool.offer?.parameters ?? {}).includes('region'))
  })

  claim('a value of the wrong type is refused by name, and not repeated', (harness) => {
    const { tool } = worldOf(harness)
    for (const wrong of ['eleventy', ['eleventy'], { eleventy: 1 }]) {
      const checked = tool.check({ ...harness.arguments(task), size: wrong })
      assert.ok(!checked.ok, 'it takes a size that is no number')
      assert.match(checked.issues.join('; '), /size/)
      assert.doesNotMatch(checked.issues.join('; '), /eleventy/)
    }
    assert.equal(tool.check(harness.arguments(task)).ok, false, 'it does without a value that its target needs')
  })
}

/** Asserts that the tool is not offered, that one notice says so, and that a call is refused with this code. */
async function assertRefused(harness: EdgeHarness, world: World, code: string): Promise<void> {
  assertNotOffered(world)
  assert.equal((await assertFails(harness, world, code)).length, 1, 'it is refused at once')
}

function assertNotOffered({ tool, tools, caller }: World): void {
  assert.equal(tool.offer, null, 'it is offered')
  assert.equal(tools.filter(({ notice }) => notice !== null).length, 1, 'it is told once why it is not offered')
  assertNoSecret(tool.notice, caller, 'the notice')
}

/** Asserts that a call fails with this code, and returns its outcome. */
async function assertFails(harness: EdgeHarness, world: World, code: string): Promise<readonly Outcome[]> {
  const outcomes = await callEdge(harness, world)
  const last = outcomes.at(-1) as Outcome
  assert.equal(last.kind === 'result' && last.failure?.code, code)
  assertOutcome(last, world.caller)
  return outcomes
}

function claimRefusals(claim: Register): void {
  claim('without a trusted value it is not offered, and a call fails the run [C16, R42]', async (harness) => {
    const world = worldOf(harness, { parameters: [region] })
    assertNotOffered(world)
    await assert.rejects(callEdge(harness, world), MissingAgentParameterError)
    // What a model made does not count as a trusted value.
    const made = [...hiddenValues(['tenant', 'region'])].map(
      ([name, value]) => [name, { ...value, origin: 'model', from: 'model' }] as const,
    )
    assertNotOffered(worldOf(harness, { caller: { parameters: new Map(made) } }))
  })

  claim('a target that is gone is refused in words, and the run goes on [E6]', async (harness) => {
    for (const gone of targetIds(harness)) {
      await assertRefused(harness, worldOf(harness, { gone }), 'TOOL_UNKNOWN')
      const world = worldOf(harness)
      world.agents.delete(gone)
      await assertFails(harness, world, 'TOOL_UNKNOWN')
    }
  })

  claim('at the last level it is refused in words [C2]', async (harness) => {
    await assertRefused(harness, worldOf(harness, { caller: { depth: 8, maxDepth: 8 } }), 'DEPTH_EXCEEDED')
    assert.notEqual(worldOf(harness, { caller: { depth: 7, maxDepth: 8 } }).tool.offer, null)
  })

  claim('the same task for an agent that is at work on it above is refused [C1]', async (harness) => {
    for (const agent of targetIds(harness)) {
      const [message] = (await childrenOf(harness, worldOf(harness))).flatMap((child) =>
        child.agent === agent ? [child.message] : [],
      )
      assert.ok(message !== undefined, `a call asks ${agent}`)
      const above = (parameters: Bound) => ({ lineage: [{ agent, message: ` ${message.toUpperCase()}`, parameters }] })
      const same = new Map([...hiddenValues(['tenant', 'region']), ['size', sizeOf(3)] as const])
      const repeated = worldOf(harness, { caller: above(same) })
      await assertFails(harness, repeated, 'DEPTH_EXCEEDED')
      const other = new Map([...same, ['size', sizeOf(4)] as const])
      assert.ok((await childrenOf(harness, worldOf(harness, { caller: above(other) }))).length > 0)
    }
  })
}

function sizeOf(value: number) {
  return { box: new Boxed(value), origin: 'model', hidden: false, from: 'model' } as const
}

type Child = Extract<Outcome, { readonly child: unknown }>['child']

/** The children that a call waits for. */
async function childrenOf(harness: EdgeHarness, world: World): Promise<readonly Child[]> {
  return childrenIn(await callEdge(harness, world))
}

function childrenIn(outcomes: readonly Outcome[]): readonly Child[] {
  return outcomes.flatMap((outcome) => (outcome.kind === 'pending' && 'child' in outcome ? [outcome.child] : []))
}

function claimCalls(claim: Register): void {
  claim('a call waits for a child of its targets, and ends', async (harness) => {
    const map = { region: 'region' }
    const world = worldOf(harness, { map })
    const outcomes = await callEdge(harness, world)
    for (const outcome of outcomes) assertOutcome(outcome, world.caller)
    const children = childrenIn(outcomes)
    assert.ok(children.length > 0, 'it asks nobody')
    for (const { agent, message, generated, map: given } of children) {
      assert.ok(
        world.edges.some((edge) => edge.agent === agent),
        `\`${agent}\` is the target of no edge`,
      )
      assert.ok(message.includes(task), 'a child is told its task')
      assert.deepEqual(generated, { size: 3 }, 'a child gets what its model supplied, and nothing that is bound')
      assert.deepEqual(given, map)
    }
    const last = outcomes.at(-1)
    const isWaiting = last?.kind === 'pending' && 'child' in last
    assert.ok(last?.kind === 'result' || (world.tool.immediate && isWaiting), 'a call that was answered ends')
  })

  claim('the same call comes to the same outcomes', async (harness) => {
    const world = worldOf(harness)
    assert.deepEqual(await callEdge(harness, world), await callEdge(harness, worldOf(harness)))
    assert.equal(world.tool.effect, 'none')
  })
}
