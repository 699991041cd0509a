/** A preview on a path of agents is the first request of an agent that is called there: with its bindings, its depth and its edge. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelRequest } from '@witan/core'
import { call, systemText } from '@witan/core/testing'
import type { Preview } from '@witan/protocol/tools'
import { type AgentDraft, createStage, type Play } from '../support/stage.ts'

interface Case {
  readonly what: string
  readonly agents: readonly AgentDraft[]
  readonly plays: Readonly<Record<string, Play>>
  readonly parameters?: Readonly<Record<string, unknown>>
  /** The agent that is previewed, and its path without itself. */
  readonly id: string
  readonly below: string
}

const say = (name: string, args: object) => call(name, args as never)
const ask = (id: string) => [say(id, { message: 'do it' }), 'Done.']

const cases: readonly Case[] = [
  {
    what: 'an edge that gives a value another name',
    agents: [
      { id: 'boss', parameters: [{ name: 'customer' }], subAgents: [{ agent: 'mid', map: { id: 'customer' } }] },
      { id: 'mid', parameters: [{ name: 'id' }], subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', parameters: [{ name: 'id' }] },
    ],
    plays: { boss: ask('mid'), mid: ask('leaf'), leaf: ['Done.'] },
    parameters: { customer: 'c-7' },
    ...{ id: 'leaf', below: 'boss/mid' },
  },
  {
    what: 'the last level',
    agents: [
      { id: 'boss', subAgents: [{ agent: 'mid' }], limits: { maxDepth: 2 } },
      { id: 'mid', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', subAgents: [{ agent: 'end' }] },
      { id: 'end' },
    ],
    plays: { boss: ask('mid'), mid: ask('leaf'), leaf: ['Done.'] },
    ...{ id: 'leaf', below: 'boss/mid' },
  },
  {
    what: 'a step of a loop, with its own tool mode',
    agents: [
      { id: 'boss', subAgents: [{ agent: 'round' }] },
      {
        id: 'round',
        workflow: { kind: 'loop', agents: [{ agent: 'leaf', toolMode: 'force' }], maxIterations: 2 },
      },
      { id: 'leaf' },
    ],
    plays: { boss: ask('round'), leaf: [say('exit_loop', {}), 'Done.'] },
    ...{ id: 'leaf', below: 'boss/round' },
  },
  {
    what: 'a hand-over, which adds no depth',
    agents: [
      { id: 'boss', transfers: [{ agent: 'leaf' }], limits: { maxDepth: 1 } },
      { id: 'leaf', subAgents: [{ agent: 'end' }] },
      { id: 'end' },
    ],
    plays: { boss: [say('transfer_to_agent', { agent_name: 'leaf' })], leaf: ['Done.'] },
    ...{ id: 'leaf', below: 'boss' },
  },
]

for (const { what, agents, plays, parameters = {}, id, below } of cases)
  test(`it is the first request below ${what}`, async () => {
    const { runtime, ask: start, seenBy } = createStage({ agents, plays })
    await runtime.ready
    const preview = await runtime.agents.preview(id, { parameters, below })
    assert.deepEqual(await runtime.agents.preview(id, { parameters, below: `${below}/${id}` }), preview)
    assert.equal((await start('boss', 'go', { parameters })).status, 'completed')
    const [request] = seenBy(id)
    assert.ok(request)
    assert.deepEqual(shown(preview), requested(request))
    await runtime.close()
  })

const shown = ({ system, tools, toolChoice }: Preview) => ({
  system,
  tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
  toolChoice,
})

const requested = (request: ModelRequest) => ({
  system: systemText(request),
  tools: request.tools,
  toolChoice: request.toolChoice,
})
