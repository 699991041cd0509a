/** Parameters in random trees against the reference: who gets which value, who sees it, who is asked for it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool } from '@witan/core'
import { type Rule, type ScriptedCall, systemText } from '@witan/core/testing'
import fc from 'fast-check'
import { z } from 'zod'
import { holds } from '../support/seeds.ts'
import { type AgentDraft, createStage, playerOf } from '../support/stage.ts'
import { type Declared, expect, type Given, type Node } from './reference-resolver.ts'

const names = ['p', 'q', 'r', 's', 't']
const generated = (child: string, name: string) => `made for ${child} ${name}`

const declared: fc.Arbitrary<readonly Declared[]> = fc.uniqueArray(
  fc.record({ name: fc.constantFrom(...names), sendToModel: fc.boolean(), forbid: fc.boolean() }),
  { selector: ({ name }) => name, maxLength: 4 },
)
const map = fc.dictionary(fc.constantFrom(...names), fc.option(fc.constantFrom(...names)), { maxKeys: 2 })

interface Sketch {
  readonly parameters: readonly Declared[]
  readonly map: Readonly<Record<string, string | null>>
  readonly children: readonly Sketch[]
}

/** Fan-out by level: wide above, narrow below, so that both shapes come up. */
const fanOut = [4, 3, 2, 2, 1]

function sketchAt(depth: number): fc.Arbitrary<Sketch> {
  const most = fanOut[depth]
  const children = most === undefined ? fc.constant([]) : fc.array(sketchAt(depth + 1), { maxLength: most })
  return fc.record({ parameters: declared, map, children })
}
const sketch = sketchAt(0)

/** Names the nodes and cuts at 24 agents. */
function toNode(root: Sketch): Node {
  let count = 0
  const name = (one: Sketch): Node => {
    const id = `n${count++}`
    const kept: { node: Node; map: Sketch['map'] }[] = []
    for (const child of one.children) {
      if (count < 24) kept.push({ node: name(child), map: child.map })
    }
    const maps = Object.fromEntries(kept.map(({ node, map: names }) => [node.id, names]))
    return { id, parameters: one.parameters, maps, children: kept.map(({ node }) => node) }
  }
  return name(root)
}

const given: fc.Arbitrary<Given> = fc.dictionary(
  fc.constantFrom(...names),
  fc.record({ value: fc.constantFrom('cny-one', 'cny-two', ''), hidden: fc.boolean() }),
)

function agentsOf(node: Node): readonly AgentDraft[] {
  const parameters = node.parameters.map(({ name, sendToModel, forbid }) => ({
    name,
    sendToModel,
    policy: forbid ? ('forbidModelGeneration' as const) : null,
  }))
  const subAgents = node.children.map(({ id }) => ({ agent: id, map: { ...node.maps[id] } }))
  return [{ id: node.id, parameters, subAgents, tools: ['record'] }, ...node.children.flatMap(agentsOf)]
}

/** Calls everything on offer, gives what is asked, and tries to give what is not. */
const hostile: Rule = (request, turn) => {
  if (turn > 0) return 'done'
  const toolCalls = request.tools.map(({ name, parameters }): ScriptedCall => {
    const asked = Object.keys((parameters['properties'] ?? {}) as object)
    const tried = Object.fromEntries(
      names.flatMap((one) => [
        [one, 'evil'],
        [one.toUpperCase(), 'evil'],
      ]),
    )
    const wanted = asked.map((one) => [one, one === 'message' ? 'go' : generated(name, one)])
    return { name, arguments: { ...tried, ...Object.fromEntries(wanted) } }
  })
  return { toolCalls }
}

function allNames(node: Node): Set<string> {
  const own = node.parameters.map(({ name }) => name)
  const mapped = node.children.flatMap(({ id, parameters }) =>
    parameters.flatMap(({ name }) => node.maps[id]?.[name] ?? []),
  )
  return new Set([...own, ...mapped, ...node.children.flatMap((child) => [...allNames(child)])])
}

async function play(node: Node, values: Given) {
  const got = new Map<string, Record<string, unknown>>()
  const record = defineTool({
    name: 'record',
    description: 'Records.',
    parameters: z.object({}),
    effect: 'none',
    execute: (_args, { agent, parameters }) => {
      got.set(agent, { ...parameters })
      return 'ok'
    },
  })
  const agents = agentsOf(node)
  const plays = Object.fromEntries(agents.map(({ id }) => [id, hostile]))
  const stage = createStage({ agents, plays, options: { tools: [record] } })
  const parameters = Object.fromEntries(
    Object.entries(values).map(([name, { value, hidden }]) => [name, { value, sendToModel: !hidden }]),
  )
  const result = await stage.ask(node.id, 'go', { id: 'chats/1', parameters })
  return { stage, got, result }
}

/** Leaves out what a start would refuse: names that nobody declares. */
function known(node: Node, values: Given): Given {
  const all = allNames(node)
  return Object.fromEntries(Object.entries(values).filter(([name]) => all.has(name)))
}

const startable = (node: Node, values: Given) =>
  node.parameters.every(({ name, sendToModel }) => !sendToModel || Object.hasOwn(values, name))

test('[P1] [P2] [P3] [P4] [P5] [P8] every agent gets, sees and is asked for exactly what the rules say', async (context) => {
  let played = 0
  const property = fc.asyncProperty(sketch, given, async (tree, some) => {
    const node = toNode(tree)
    const values = known(node, some)
    if (!startable(node, values)) {
      await assert.rejects(play(node, values), { code: 'PARAM_MISSING' })
      return
    }
    played += 1
    const { stage, got, result } = await play(node, values)
    assert.equal(result.status, 'completed')
    const expected = expect(node, values, generated)
    assert.deepEqual([...got.keys()].sort(), [...expected.keys()].sort())
    for (const [id, { values: bound, lines, offers }] of expected) {
      assert.deepEqual(got.get(id), bound, `values of ${id}`)
      const [first] = stage.seenBy(id)
      assert.ok(first)
      assert.equal(systemText(first), [`You are ${id}.`, ...lines].join('\n'))
      const seen = first.tools.filter(({ name }) => name !== 'record')
      const asked = seen.map(({ name, parameters }) => [name, Object.keys((parameters['properties'] ?? {}) as object)])
      const wanted = Object.entries(offers).map(([name, own]) => [name, ['message', ...own]])
      assert.deepEqual(asked, wanted, `offers of ${id}`)
    }
  })
  const expected = await holds(context, property, { all: 2_000, quick: 200 })
  assert.ok(played > expected(100), `only ${played} trees could be played`)
})

test('[P2] [R38] hiding one more thing never shows anything', async (context) => {
  const property = fc.asyncProperty(sketch, given, fc.constantFrom(...names), async (tree, some, name) => {
    const node = toNode(tree)
    const values = known(node, some)
    if (!startable(node, values)) return
    const before = await shown(node, values)
    const hidden = values[name] === undefined ? values : { ...values, [name]: { ...values[name], hidden: true } }
    for (const line of await shown(node, hidden)) assert.ok(before.has(line), `${line} appeared`)
  })
  await holds(context, property, 300)
})

async function shown(node: Node, values: Given): Promise<Set<string>> {
  const { stage } = await play(node, values)
  return new Set(
    stage.requests.flatMap((request) =>
      systemText(request)
        .split('\n')
        .filter((line) => line.includes(' = '))
        .map((line) => `${playerOf(request)} ${line}`),
    ),
  )
}

test('[P6] [E19] whatever is given on resume, values stand and flags only tighten', async (context) => {
  const property = fc.asyncProperty(given, fc.array(given, { maxLength: 4 }), async (first, resumes) => {
    const node: Node = {
      id: 'n0',
      parameters: names.map((name) => ({ name, sendToModel: Object.hasOwn(first, name), forbid: false })),
      maps: {},
      children: [],
    }
    const { stage } = await play(node, first)
    const stands: Given = structuredClone(first)
    for (const again of resumes) {
      const parameters = Object.fromEntries(
        Object.entries(again).map(([name, { value, hidden }]) => [name, { value, sendToModel: !hidden }]),
      )
      const fits = Object.entries(again).every(
        ([name, { value }]) => Object.hasOwn(stands, name) && stands[name]?.value === value,
      )
      const resumed = stage.ask('n0', 'again', { id: 'chats/1', parameters })
      if (fits) await resumed
      else await assert.rejects(resumed, { code: 'PARAM_FIXED' })
      if (fits) for (const [name, { hidden }] of Object.entries(again)) if (hidden) hide(stands, name)
    }
    await stage.run('chats/1', { prompt: 'and now' })
    const fresh = await play(node, stands)
    const [now, wanted] = [stage.requests.at(-1), fresh.stage.requests[0]]
    assert.ok(now && wanted)
    assert.equal(systemText(now), systemText(wanted))
  })
  await holds(context, property, 300)
})

function hide(values: Given, name: string): void {
  const known = values[name]
  if (known !== undefined) Object.assign(values, { [name]: { ...known, hidden: true } })
}

test('[P4] [C19] no spelling of a bound name changes the value that is executed', async (context) => {
  const spelling = fc
    .tuple(
      fc.constantFrom(
        'userId',
        'USERID',
        'UserId',
        'ｕｓｅｒＩｄ',
        'userId\u200b',
        '\ufeffuserId',
        'us\u2060erId',
        'us\u0435rId',
      ),
      fc.constantFrom<unknown>('evil', ['evil'], { userId: 'evil' }, null, 7),
    )
    .map(([name, value]) => `{"topic":"x",${JSON.stringify(name)}:${JSON.stringify(value)}}`)
  const odd = fc.constantFrom(
    '{"topic":"x","__proto__":{"userId":"evil"}}',
    '{"topic":"x","constructor":{"prototype":{"userId":"evil"}}}',
    '{"topic":"x","userId":"evil","userId":"evil"}',
    '{"topic":"x","parameters":{"userId":"evil"}}',
  )
  const property = fc.asyncProperty(fc.oneof(spelling, odd), async (text) => {
    const ran: unknown[] = []
    const tool = defineTool({
      name: 'look-up',
      description: 'Looks up.',
      parameters: z.object({ userId: z.string(), topic: z.string() }),
      effect: 'none',
      execute: (args, { parameters }) => {
        ran.push(args, parameters['userId'])
        return 'ok'
      },
    })
    const stage = createStage({
      agents: [{ id: 'root', parameters: [{ name: 'userId', sendToModel: false }], tools: ['look-up'] }],
      plays: { root: [{ toolCalls: [{ name: 'look-up', arguments: text }] }, 'done'] },
      options: { tools: [tool] },
    })
    await stage.ask('root', 'go', { id: 'chats/1', parameters: { userId: 'Users/1' } })
    assert.deepEqual(ran, [{ userId: 'Users/1', topic: 'x' }, 'Users/1'])
    const notices = (await stage.events('chats/1')).filter(({ type }) => type === 'notice')
    assert.deepEqual(
      notices.map(({ content }) => content['code']),
      ['ARGUMENT_OVERRIDE_IGNORED'],
    )
  })
  await holds(context, property, 300)
})
