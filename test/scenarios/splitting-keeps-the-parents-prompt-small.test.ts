/** Why a system is split: what a specialist brings stays with it, and nobody is there that was not given. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineTool } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import { z } from 'zod'
import { createStage } from '../support/stage.ts'

const tools = Array.from({ length: 30 }, (_, index) =>
  defineTool({
    name: `tool-${index}`,
    description: 'Does one of many things. '.repeat(10),
    parameters: z.object({ what: z.string() }),
    effect: 'none',
    execute: () => `a long result ${'x'.repeat(2000)}`,
  }),
)

test('[R07] a child’s instructions, tools and exchange never weigh on its parent’s model', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf', description: 'Knows many things.' }] },
      {
        id: 'leaf',
        instructions: `You are leaf. ${'Mind the rules. '.repeat(200)}`,
        tools: tools.map(({ name }) => name),
      },
    ],
    plays: {
      root: [call('leaf', { message: 'find out' }), 'done'],
      leaf: [{ toolCalls: tools.slice(0, 9).map(({ name }) => ({ name, arguments: { what: 'it' } })) }, 'It is seven.'],
    },
    options: { tools },
  })
  await stage.ask('root', 'How many?')
  const size = (id: string, nth: number) => JSON.stringify(stage.seenBy(id)[nth]).length
  assert.deepEqual(
    stage.seenBy('root')[1]?.tools.map(({ name }) => name),
    ['leaf'],
  )
  assert.doesNotMatch(JSON.stringify(stage.seenBy('root')), /Mind the rules|a long result|one of many things/)
  const grown = size('root', 1) - size('root', 0)
  assert.ok(grown < 400, `the root reads ${grown} characters more after a child read ${size('leaf', 1)}`)
})

test('[F05] [F07] a runtime has the agents it was given and no catch-all; a parent without a specialist is on its own', async () => {
  const empty = createRuntime({ models: { 'play/model': scriptedModel(() => 'x') } })
  assert.deepEqual((await empty.agents.list()).items, [])
  await empty.close()
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'mail' }] }, { id: 'mail' }, { id: 'general' }],
    plays: {
      root: [
        {
          toolCalls: ['general', 'general-sub-agent', 'user'].map((name) => ({ name, arguments: { message: 'help' } })),
        },
        'Nobody here can do that.',
      ],
      mail: ['never asked'],
      general: ['never asked'],
    },
  })
  const result = await stage.ask('root', 'Fix my roof')
  assert.equal(result.text, 'Nobody here can do that.')
  assert.deepEqual(Object.keys(result.usage.byAgent), ['root'])
  const read =
    stage
      .seenBy('root')[1]
      ?.messages.slice(-3)
      .map(({ content }) => content) ?? []
  for (const content of read) assert.match(content, /unknown tool .*Available: mail\./)
})
