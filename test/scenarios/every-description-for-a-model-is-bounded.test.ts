/** Every description that the runtime makes for a model has a bound, whatever number of agents, people and tools it tells of. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createSqliteSource, defineTool } from '@witan/core'
import { call, type ScriptedAnswer } from '@witan/core/testing'
import { z } from 'zod'
import { type AgentDraft, createStage, type StageOptions } from '../support/stage.ts'

const most = 1_024
const many = <One>(make: (index: number) => One): One[] => Array.from({ length: 200 }, (_, index) => make(index))
const long = 'n'.repeat(50)
const id = (index: number) => `${long}-${index}`
const name = (index: number) => `${'Name '.repeat(15)}${index}`
const description = 'Knows all about it. '.repeat(45)
/** An agent that can use much, under a long name. */
const able = (index: number): AgentDraft => ({
  id: id(index),
  name: name(index),
  description,
  actions: many((at) => ({ name: `${long}${at}`, description })),
})
const plain = (index: number): AgentDraft => ({ id: id(index), name: name(index), description })
const messages = many((index) => ({
  name: `m${index}`,
  from: index % 2 === 0 ? ('initiator' as const) : ('responder' as const),
  schema: { type: 'object' },
  reply: null,
})).slice(0, 100)
const protocol = { name: 'p'.repeat(60), purpose: description.repeat(2), processing: '', messages }

interface Row {
  readonly root: Omit<AgentDraft, 'id'>
  readonly others?: readonly AgentDraft[]
  readonly plays?: Readonly<Record<string, readonly ScriptedAnswer[]>>
  readonly options?: StageOptions['options']
  /** Whose requests are looked at. */
  readonly of?: string
  /** How many tools its model reads. */
  readonly tools: number
}

const steps = many((index) => id(index)).slice(0, 50)
const rows: Readonly<Record<string, Row>> = {
  'sub-agents': {
    root: { subAgents: many((index) => ({ agent: id(index) })) },
    others: [able(0), ...many(plain).slice(1)],
    tools: 200,
  },
  'a sub-agent whose words leave no room for its name': {
    root: { subAgents: [{ agent: 'full' }] },
    others: [{ ...able(0), id: 'full', description: 'x'.repeat(most - 10) }],
    tools: 1,
  },
  'wrapped agents': {
    root: { subAgents: many((index) => ({ agent: id(index), style: 'agentTool' as const })) },
    others: many((index) => ({ ...plain(index), description: 'x'.repeat(1_000) })),
    tools: 200,
  },
  'a workflow as a sub-agent': {
    root: { subAgents: [{ agent: 'flow' }] },
    others: [
      { id: 'flow', name: name(999), description: 'x'.repeat(1_000), workflow: { kind: 'sequence', agents: steps } },
      ...many(plain).slice(0, 50),
    ],
    tools: 1,
  },
  'transfer targets': {
    root: { transfers: many((index) => ({ agent: id(index) })) },
    others: many((index) => ({ ...plain(index), description: description.repeat(3) })),
    tools: 1,
  },
  'targets in reach': {
    root: { subAgents: many((index) => ({ agent: id(index) })), transferReach: 'tree' },
    others: many((index) => ({ ...plain(index), description })),
    tools: 201,
  },
  'messages to peers': {
    root: { speaks: [{ protocol: protocol.name, role: 'initiator', peers: many((index) => id(index)).slice(0, 3) }] },
    others: many((index) => ({
      ...plain(index),
      speaks: [{ protocol: protocol.name, role: 'responder' as const }],
    })).slice(0, 3),
    options: { protocols: [protocol as never] },
    tools: 150,
  },
  'messages of a responder': {
    root: { speaks: [{ protocol: protocol.name, role: 'initiator', peers: [id(0)] }], name: name(1), description },
    others: [{ ...plain(0), speaks: [{ protocol: protocol.name, role: 'responder' }] }],
    options: { protocols: [protocol as never] },
    plays: { root: [call(`${id(0)}_m0`, {}), 'done'], [id(0)]: ['ok'] },
    of: id(0),
    tools: 50,
  },
  people: {
    root: { users: many((index) => ({ id: id(index), name: name(index), roles: ['someone', 'somebody'] })) },
    tools: 2,
  },
  'people with aliases': {
    root: { users: many((index) => ({ id: id(index) })), anonymizeUsers: 'somebody whose name is long' },
    tools: 2,
  },
  actions: { root: { actions: many((index) => ({ name: `${long}${index}` })) }, tools: 200 },
  queries: {
    root: {
      queries: many((index) => ({ name: `${long}${index}`, source: 'shop', query: 'select 1' })),
    },
    options: { sources: { shop: createSqliteSource({ file: ':memory:' }) } },
    tools: 200,
  },
  functions: {
    root: { tools: many((index) => `${long}${index}`) },
    options: {
      tools: many((index) =>
        defineTool({ name: `${long}${index}`, description: 'Does it.', parameters: z.object({}), execute: () => 'ok' }),
      ),
    },
    tools: 200,
  },
  'what is built in': {
    root: { artifacts: true, questions: true, subAgents: [{ agent: 'other', blocking: 'never' }] },
    others: [{ id: 'other', description: 'Other.' }],
    tools: 8,
  },
}

describe('[Rb04] no description of a tool has more than 1,024 characters, and no line of a roster', () => {
  for (const [kind, { root, others = [], plays, options = {}, of = 'root', tools }] of Object.entries(rows))
    test(kind, async () => {
      const stage = createStage({
        agents: [{ id: 'root', ...root }, ...others],
        plays: plays ?? { root: ['done'] },
        options,
      })
      await stage.ask('root', 'hello')
      const [request] = stage.seenBy(of)
      assert.equal(request?.tools.length, tools)
      for (const tool of request?.tools ?? [])
        assert.ok(tool.description.length <= most, `${tool.name}: ${tool.description.length}`)
      const system = request?.messages[0]?.content ?? ''
      for (const line of system.split('\n')) assert.ok(line.length <= most, `a line of ${line.length}`)
      assert.ok(system.length <= 20_000, `a system message of ${system.length}`)
      await stage.runtime.close()
    })
})
