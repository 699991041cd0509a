/** Agents as data: what is read can be written elsewhere and read again, the same; and nothing unknown is dropped in silence. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QuerySource } from '@witan/core'
import type { AgentInput, StoredAgent } from '@witan/protocol'
import { nameProblem } from '@witan/protocol/names'
import fc from 'fast-check'
import { holds } from '../support/seeds.ts'
import { createStage } from '../support/stage.ts'
import { note } from '../support/random-system.ts'

const ids = ['a', 'b', 'c']
const words = fc.string({ unit: 'grapheme', maxLength: 12 })
const schema = fc.constantFrom(
  null,
  { type: 'object', properties: { n: { type: 'number' } } },
  { type: 'object', description: '__proto__' },
)
const name = fc.constantFrom('one', 'two', 'Three', 'four-4', 'five_5')

const parameter = fc.record(
  {
    name: fc.constantFrom('p', 'q', '_r', 'S9'),
    type: fc.constantFrom('string', 'number', 'any', 'string[]'),
    description: words,
    sendToModel: fc.boolean(),
    policy: fc.constantFrom(null, 'forbidModelGeneration' as const),
    secret: fc.boolean(),
  },
  { requiredKeys: ['name'] },
)
const byName = <Item extends { readonly name: string }>(item: fc.Arbitrary<Item>) =>
  fc.uniqueArray(item, { selector: (one) => one.name, maxLength: 3 })

const one = fc.record(
  {
    name: fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
      .filter((text) => nameProblem(text, 'name') === null),
    description: words,
    instructions: words,
    parameters: byName(parameter),
    actions: byName(
      fc.record(
        { name: name.map((text) => `act-${text}`), description: words, parametersSchema: schema },
        { requiredKeys: ['name'] },
      ),
    ),
    queries: byName(
      fc.record(
        {
          name: name.map((text) => `ask-${text}`),
          description: words,
          source: fc.constant('fake'),
          query: fc.constant('select 1'),
          parametersSchema: schema,
          addToInitialContext: fc.boolean(),
          allowModelQueries: fc.boolean(),
        },
        { requiredKeys: ['name', 'source', 'query'] },
      ),
    ),
    tools: fc.constantFrom<string[]>([], ['note']),
    toolMode: fc.constantFrom('auto' as const, 'force' as const, 'none' as const),
    endToolMode: fc.boolean(),
    outputMode: fc.constantFrom('response_format' as const, 'tool' as const),
    temperature: fc.option(fc.constantFrom(0, 0.5, 2)),
    outputSchema: schema,
    limits: fc.record(
      {
        maxIterations: fc.integer({ min: 1, max: 9 }),
        maxDepth: fc.integer({ min: 1, max: 9 }),
        maxTokens: fc.option(fc.integer({ min: 1, max: 99 })),
      },
      { requiredKeys: [] },
    ),
    onExhausted: fc.constantFrom('answer' as const, 'error' as const),
    disabled: fc.boolean(),
    lists: fc.subarray(ids),
    collect: fc.constantFrom('final' as const, 'all' as const),
    style: fc.constantFrom('delegate' as const, 'agentTool' as const),
    map: fc.dictionary(fc.constantFrom('p', 'q'), fc.option(fc.constantFrom('p', 'q')), { maxKeys: 2 }),
  },
  { requiredKeys: ['instructions', 'lists', 'collect', 'style', 'map'] },
)

const several: fc.Arbitrary<readonly AgentInput[]> = fc.tuple(one, one, one).map((all) =>
  all.map(({ lists, collect, style, map, name: words, ...others }, index) => {
    const id = ids[index] ?? ''
    // A display name leads to one agent, so no two have the same.
    const rest = words === undefined ? others : { ...others, name: `${words} ${id}.` }
    const subAgents = lists.filter((other) => other !== id).map((agent) => ({ agent, collect, style, map }))
    return { ...rest, id, model: 'play/model', subAgents } as AgentInput
  }),
)

const source: QuerySource = {
  kind: 'fake',
  check: async () => ({ ok: true, placeholders: [] }),
  run: async () => ({ ok: true, rows: [], truncated: false }),
  close: async () => {},
}
const fresh = () =>
  createStage({ agents: [], plays: {}, options: { tools: [note], sources: { fake: source } } }).runtime

/** What is exported: what a list gives, as text, as it would stand in a file. */
async function exported(runtime: ReturnType<typeof fresh>): Promise<string> {
  const { items } = await runtime.agents.list({ limit: 200 })
  return JSON.stringify(items.map(({ revision: _, ...rest }: StoredAgent) => rest))
}

test('[P23] export, import and export again gives the same', async (context) => {
  let played = 0
  const property = fc.asyncProperty(several, async (agents) => {
    const first = fresh()
    const saved = await first.agents.saveAll(agents).then(
      () => true,
      (error: { code: string }) => {
        assert.equal(error.code, 'PARAM_TYPE_CLASH')
        return false
      },
    )
    if (!saved) return
    played += 1
    const text = await exported(first)
    const second = fresh()
    await second.agents.saveAll(JSON.parse(text))
    assert.equal(await exported(second), text)
    const report = await second.agents.check(JSON.parse(text))
    assert.deepEqual(report.errors, [])
  })
  const expected = await holds(context, property, 200)
  assert.ok(played > expected(50), `only ${played} sets could be saved`)
})

type Tree = { [key: string]: unknown }

/** Every object of an agent that has keys of its own to know: schemas, samples and maps take any. */
function objectsOf(agent: Tree): Tree[] {
  const found: Tree[] = [agent]
  for (const [key, value] of Object.entries(agent)) {
    if (/schema|sample|^map$|^warnings$/i.test(key) || typeof value !== 'object' || value === null) continue
    const all = (Array.isArray(value) ? value : [value]) as unknown[]
    for (const inner of all) if (typeof inner === 'object' && inner !== null) found.push(...objectsOf(inner as Tree))
  }
  return found
}

test('[P23] an unknown key is refused wherever it stands, and nothing is stored', async (context) => {
  const key = fc.constantFrom('temprature', 'subagents', 'x', 'Model', 'toString', 'constructor')
  const property = fc.asyncProperty(several, fc.nat(), key, async (agents, which, unknown) => {
    const runtime = fresh()
    const bad = structuredClone(agents) as unknown as Tree[]
    const objects = bad.flatMap(objectsOf)
    const at = objects[which % objects.length] as Tree
    at[unknown] = 'cny'
    await assert.rejects(runtime.agents.saveAll(bad as never), { code: 'UNKNOWN_KEY', message: new RegExp(unknown) })
    assert.deepEqual((await runtime.agents.list()).items, [])
    const own = structuredClone(agents[0]) as unknown as Tree
    Object.defineProperty(own, '__proto__', { value: { disabled: true }, enumerable: true })
    await assert.rejects(runtime.agents.save(own as never), { code: 'UNKNOWN_KEY' })
  })
  await holds(context, property, 200)
})
