/** The conformance kit of edges fails what breaks the contract: each broken edge by the claim that is about it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { subAgentTools } from '../../edge/sub-agent.ts'
import { failed, type PendingOutcome, result } from '../../tool/outcome.ts'
import type { Caller, ImmediateTool } from '../../tool/tool.ts'
import { type EdgeHarness, edgeClaims } from './edge.ts'

type Change = (tool: ImmediateTool, caller: Caller) => Partial<ImmediateTool>

/** The edges of style `delegate`, with each tool changed. */
function harnessOf(change: Change, more: Partial<EdgeHarness> = {}): EdgeHarness {
  return {
    name: 'a broken edge',
    source: (find) => (caller) =>
      subAgentTools(find)(caller).map(
        (tool) => ({ ...tool, ...change(tool as ImmediateTool, caller) }) as ImmediateTool,
      ),
    define: (edges) => ({
      subAgents: edges.flatMap(({ agents, description, map }) => agents.map((agent) => ({ agent, description, map }))),
    }),
    arguments: (message) => ({ message }),
    ...more,
  }
}

async function failing(harness: EdgeHarness, context: TestContext): Promise<string[]> {
  const names: string[] = []
  for (const claim of edgeClaims(harness)) {
    try {
      await claim.run(context)
    } catch {
      names.push(claim.name)
    }
  }
  return names
}

const order = 'the edges of a definition stand in its order, each at its place'
const described = 'its tool is offered with its own description, or else with that of a target'
const schema = 'what is bound is not in the schema, and what is not bound must be given [P5, R30]'
const known = 'its arguments are those that the checks of agents know'
const map = 'its map says which value of the caller is bound [E17]'
const type = 'a value of the wrong type is refused by name, and not repeated'
const missing = 'without a trusted value it is not offered, and a call fails the run [C16, R42]'
const gone = 'a target that is gone is refused in words, and the run goes on [E6]'
const depth = 'at the last level it is refused in words [C2]'
const repeat = 'the same task for an agent that is at work on it above is refused [C1]'
const child = 'a call waits for a child of its targets, and ends'
const same = 'the same call comes to the same outcomes'

const spawn = {
  agent: 'target-0',
  message: 'Count the open orders.',
  generated: { size: 3 },
  map: {},
  history: 'agent',
} as const
const always: PendingOutcome = { kind: 'pending', child: spawn }
const offerOf = ({ name, offer }: ImmediateTool, more: object) => ({
  ...(offer ?? { name, description: '', parameters: {} }),
  ...more,
})
const reversed: EdgeHarness['define'] = (edges) => ({
  subAgents: edges.flatMap(({ agents }) => agents.map((agent) => ({ agent }))).reverse(),
})
const listing = (names: readonly string[]) => ({
  parameters: { type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])), required: ['size'] },
})

/** Spawns what it is told, whatever its own words for it are. */
const asks =
  (more: Partial<typeof spawn> | object): Change =>
  ({ invoke }) => ({
    invoke(request, caller) {
      const outcome = invoke(request, caller)
      return outcome.kind === 'pending' && 'child' in outcome
        ? { ...outcome, child: { ...outcome.child, ...more } }
        : outcome
    },
  })

let calls = 0

/** What is wrong, the claim that must fail, and the edge. */
const broken: readonly (readonly [what: string, claim: string, harness: EdgeHarness])[] = [
  ['edges out of order', order, harnessOf(() => ({}), { define: reversed })],
  [
    'a map that is lost',
    order,
    harnessOf(() => ({}), {
      define: (edges) => harnessOf(() => ({})).define(edges.map((one) => ({ ...one, map: {} }))),
    }),
  ],
  [
    'a description of its own',
    described,
    harnessOf((tool) => (tool.offer ? { offer: offerOf(tool, { description: 'Ask.' }) } : {})),
  ],
  [
    'a bound name in the schema',
    schema,
    harnessOf((tool) => (tool.offer ? { offer: offerOf(tool, listing(['size', 'tenant'])) } : {})),
  ],
  [
    'an argument that no check knows',
    known,
    harnessOf(() => ({}), { arguments: (message) => ({ message, urgent: true }) }),
  ],
  [
    'a schema that never asks for the region',
    map,
    harnessOf((tool) => (tool.offer ? { offer: offerOf(tool, listing(['size'])) } : {})),
  ],
  ['a check that takes every type', type, harnessOf(() => ({ check: (args) => ({ ok: true, arguments: args }) }))],
  [
    'a refusal that repeats the value',
    type,
    harnessOf(({ check }) => ({
      check: (args) => (check(args).ok ? check(args) : { ok: false, issues: [`size: ${JSON.stringify(args)}`] }),
    })),
  ],
  [
    'a trusted value that is not needed',
    missing,
    harnessOf(({ offer }) => (offer ? {} : { invoke: () => failed('TOOL_FAILED', 'No.') })),
  ],
  ['a reason that nobody is told', missing, harnessOf(() => ({ notice: null }))],
  ['a target that is asked although it is gone', gone, harnessOf(() => ({ invoke: () => always }))],
  ['an edge that goes ever deeper', depth, harnessOf((_, { depth: at }) => (at === 8 ? { invoke: () => always } : {}))],
  ['an edge that repeats what is under way', repeat, harnessOf(() => ({ invoke: () => always }))],
  ['a child that is no target', child, harnessOf(asks({ agent: 'somebody' }))],
  ['a child that is not told its task', child, harnessOf(asks({ message: 'Do it.' }))],
  ['a child that gets nothing of what was supplied', child, harnessOf(asks({ generated: null }))],
  ['an answer without asking', child, harnessOf(() => ({ invoke: () => result('42') }))],
  [
    'an outcome of chance',
    same,
    harnessOf((tool, caller) => asks({ message: `Count the open orders. ${calls++}` })(tool, caller)),
  ],
]

for (const [what, claim, harness] of broken) {
  test(`the kit of edges fails ${what}`, async (context) => {
    const names = await failing(harness, context)
    assert.ok(names.includes(claim), `failing: ${names.join('; ') || 'nothing'}`)
  })
}

test('the kit of edges passes the edge that these were made from', async (context) => {
  assert.deepEqual(
    await failing(
      harnessOf(() => ({})),
      context,
    ),
    [],
  )
})
