/** What an agent may be called, and what it may call: a save that would leave a doubt is refused with its place. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool, type ModelRequest, type QuerySource } from '@witan/core'
import { call, systemText } from '@witan/core/testing'
import { z } from 'zod'
import { type AgentDraft, agent, createStage, type Stage } from '../support/stage.ts'

const empty: QuerySource = {
  kind: 'empty',
  check: async () => ({ ok: true, placeholders: [] }),
  run: async () => ({ ok: true, rows: [], truncated: false }),
  close: async () => {},
}

const tool = (name: string) =>
  defineTool({ name, description: 'Does.', parameters: z.object({}), effect: 'none', execute: () => 'ok' })

const staged = (): Stage =>
  createStage({
    agents: [{ id: 'leaf' }, { id: 'other' }],
    plays: {},
    options: {
      sources: { shop: empty },
      tools: ['leaf', 'twice', 'transfer_to_agent', 'exit_loop', 'message_sub_agent', 'set_output'].map(tool),
    },
  })

const save = (stage: Stage, id: string, more: Omit<AgentDraft, 'id'>) => stage.runtime.agents.save(agent(id, more))

test('[E01] an agent that lists an unknown id is refused with the nearest known one, and nothing is stored', async () => {
  const stage = staged()
  await assert.rejects(save(stage, 'root', { subAgents: [{ agent: 'other' }, { agent: 'laef' }] }), {
    code: 'AGENT_REF_UNKNOWN',
    path: 'subAgents.1.agent',
    message: /`root` lists sub-agent `laef`, which does not exist\. Did you mean `leaf`\?/,
  })
  await assert.rejects(stage.runtime.agents.get('root'), { code: 'NOT_FOUND' })
  await save(stage, 'root', { subAgents: [{ agent: 'leaf' }] })
  await assert.rejects(save(stage, 'root', { subAgents: [{ agent: 'gone' }] }), { code: 'AGENT_REF_UNKNOWN' })
  assert.equal((await stage.runtime.agents.get('root')).subAgents[0]?.agent, 'leaf')
})

const twice = {
  subAgent: (name: string) => ({ subAgents: [{ agent: name }] }),
  query: (name: string) => ({ queries: [{ name, source: 'shop', query: 'select 1' }] }),
  action: (name: string) => ({ actions: [{ name }] }),
  tool: (name: string) => ({ tools: [name] }),
} as const

test('[E04] [Rb43] sub-agents, queries, actions and tools of one agent share one name space', async () => {
  const stage = staged()
  const kinds = Object.entries(twice)
  for (const [one, first] of kinds) {
    for (const [another, second] of kinds) {
      if (one === another) continue
      const clash = { ...first('leaf'), ...second('leaf') }
      await assert.rejects(save(stage, 'root', clash), { code: 'NAME_TAKEN', message: /`leaf`/ }, `${one}, ${another}`)
    }
  }
  for (const doubled of [
    { queries: [...twice.query('same').queries, ...twice.query('same').queries] },
    { actions: [{ name: 'same' }, { name: 'same' }] },
    { tools: ['twice', 'twice'] },
    { parameters: [{ name: 'same' }, { name: 'same' }] },
  ])
    await assert.rejects(save(stage, 'root', doubled), { code: 'NAME_TAKEN' }, JSON.stringify(doubled))
  for (const builtIn of ['transfer_to_agent', 'exit_loop', 'message_sub_agent', 'set_output'])
    for (const kind of [twice.query, twice.action, twice.tool])
      await assert.rejects(save(stage, 'root', kind(builtIn)), { code: 'NAME_TAKEN', message: /built-in/ }, builtIn)
  // Another letter case is another name, and another agent has a name space of its own.
  await save(stage, 'root', { ...twice.subAgent('leaf'), ...twice.action('Leaf') })
  await save(stage, 'second', { ...twice.action('leaf') })
})

test('[Rb43] ids and names have a fixed form, and an agent does not list itself', async () => {
  const stage = staged()
  for (const id of ['Leaf', 'a_b', 'a b', 'a.b', 'a/b', 'a$b', 'é', '', 'a'.repeat(65)])
    await assert.rejects(save(stage, id, {}), { code: 'ID_INVALID' }, id)
  for (const id of ['a', '0-9', 'a'.repeat(64)]) assert.equal((await save(stage, id, {})).created, true)
  for (const name of ['a b', 'a/b', 'a$b', 'a.b', 'é', '', 'a'.repeat(65)]) {
    for (const kind of [twice.query, twice.action])
      await assert.rejects(save(stage, 'root', kind(name)), { code: 'AGENT_INVALID', path: /\.0\.name$/ }, name)
  }
  await assert.rejects(save(stage, 'root', { subAgents: [{ agent: 'leaf' }, { agent: 'root' }] }), {
    code: 'AGENT_SELF_REFERENCE',
  })
})

test('[E05] [C28] display names that look alike are no clash: the ids name the tools', async () => {
  const stage = createStage({
    agents: [
      {
        id: 'root',
        name: 'Process-Owner',
        subAgents: [{ agent: 'owner-1' }, { agent: 'owner-2' }, { agent: 'owner-3' }],
      },
      { id: 'owner-1', name: 'Process Owner' },
      { id: 'owner-2', name: 'Process_Owner' },
      { id: 'owner-3', name: 'ProcessOwner' },
    ],
    plays: {
      root: [call('owner-2', { message: 'go' }), 'done'],
      'owner-1': ['one'],
      'owner-2': ['two'],
      'owner-3': ['three'],
    },
  })
  const result = await stage.ask('root', 'hello')
  assert.equal(result.status, 'completed')
  assert.deepEqual(
    stage.seenBy('root')[0]?.tools.map(({ name }) => name),
    ['owner-1', 'owner-2', 'owner-3'],
  )
  assert.equal(stage.seenBy('root')[1]?.messages.at(-1)?.content, 'two')
  assert.equal(stage.seenBy('owner-1').length + stage.seenBy('owner-3').length, 0)
})

test('[Rb07] one name with two types along an edge is refused, unless one of them is any', async () => {
  const stage = createStage({ agents: [], plays: {} })
  const pair = (parent: object, child: object, map?: Record<string, string | null>) => [
    agent('root', { parameters: [{ name: 'n', ...parent }], subAgents: [{ agent: 'leaf', ...(map ? { map } : {}) }] }),
    agent('leaf', { parameters: [{ name: 'n', ...child }] }),
  ]
  const clash = { code: 'PARAM_TYPE_CLASH', message: /`n` is `number` in `leaf` but `string` in `root`/ }
  await assert.rejects(stage.runtime.agents.saveAll(pair({ type: 'string' }, { type: 'number' })), clash)
  assert.equal((await stage.runtime.agents.list()).items.length, 0)
  await stage.runtime.agents.saveAll(pair({ type: 'any' }, { type: 'number' }))
  await stage.runtime.agents.saveAll(pair({ type: 'string' }, { type: 'any' }))
  // Cut off from the parent's name, the two have nothing to do with each other.
  await stage.runtime.agents.saveAll(pair({ type: 'string' }, { type: 'number' }, { n: null }))
  // A change of the child alone is held against the parents that are there.
  await stage.runtime.agents.saveAll(pair({ type: 'string' }, { type: 'string' }))
  await assert.rejects(stage.runtime.agents.save(agent('leaf', { parameters: [{ name: 'n', type: 'number' }] })), clash)
  // And so is one of the parent alone against the children that are there.
  await stage.runtime.agents.saveAll(pair({ type: 'number' }, { type: 'number' }))
  const [parent] = pair({ type: 'string' }, { type: 'number' })
  await assert.rejects(stage.runtime.agents.save(parent as never), clash)
})

const root = (more: Omit<AgentDraft, 'id'>): AgentDraft => ({ id: 'root', ...more })
const mid = (map: Record<string, string | null>) => ({ subAgents: [{ agent: 'mid', map }] })
const trusted = { policy: 'forbidModelGeneration' } as const
const sound: [title: string, root: AgentDraft, leaf: object][] = [
  [
    'an agent between has another value under that name',
    root({ parameters: [{ name: 'n' }, { name: 'count', type: 'number' }], ...mid({ n: 'count' }) }),
    {},
  ],
  [
    'a trusted one takes the value that an agent between has under that name',
    root({ parameters: [{ name: 'n' }, { name: 'count', type: 'number' }], ...mid({ n: 'count' }) }),
    trusted,
  ],
  [
    'an edge above cuts it off, and a model makes another',
    root({ parameters: [{ name: 'n' }], ...mid({ n: null }) }),
    {},
  ],
]

for (const [title, top, leaf] of sound) {
  test(`[Rb07] [E17] one name with two types is no clash where ${title}`, async () => {
    const agents: AgentDraft[] = [
      top,
      { id: 'mid', parameters: [{ name: 'n', type: 'number' }], subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', parameters: [{ name: 'n', type: 'number', ...leaf }] },
    ]
    const isAsked = top.parameters?.length === 1
    const stage = createStage({
      agents,
      plays: {
        root: [call('mid', { message: 'm', ...(isAsked ? { n: 7 } : {}) }), 'ok'],
        mid: [call('leaf', { message: 'l' }), 'ok'],
        leaf: ['ok'],
      },
    })
    assert.deepEqual((await stage.runtime.agents.check()).errors, [])
    const parameters = { n: 'a word', ...(isAsked ? {} : { count: 7 }) }
    await stage.ask('root', 'go', { parameters })
    assert.match(systemText(stage.seenBy('leaf')[0] as ModelRequest), /^n = 7$/m)
  })
}

test('[Rb07] one name with two types is a clash where every start gives it, whatever the root takes', async () => {
  const stage = createStage({ agents: [], plays: {} })
  const agents = [
    agent('root', { parameters: [{ name: 'n', type: 'any' }], subAgents: [{ agent: 'one' }, { agent: 'two' }] }),
    agent('one', { parameters: [{ name: 'n', type: 'number' }] }),
    agent('two', { parameters: [{ name: 'n' }] }),
  ]
  await assert.rejects(stage.runtime.agents.saveAll(agents), {
    code: 'PARAM_TYPE_CLASH',
    message: '`n` is one value in a conversation, but `number` in `one` and `string` in `two`.',
  })
  // Listed by somebody, the root may be handed what fits.
  await stage.runtime.agents.saveAll([...agents, agent('above', { subAgents: [{ agent: 'root' }] })])
})
