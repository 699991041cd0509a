/** Tb29: from a step on another model answers; tools and people say what they said, and both trees are compared. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineAgent, defineTool } from '@witan/core'
import { call, scriptedModel, systemText, toolResults, turns } from '@witan/core/testing'
import { z } from 'zod'
import { readReplaySource } from './prepare.ts'
import { replayFrom, type ReplaySource } from './replay.ts'

let runs = 0
const weigh = defineTool({
  name: 'weigh',
  description: 'Weighs.',
  parameters: z.object({ what: z.string() }),
  effect: 'none',
  execute: ({ what }) => {
    runs += 1
    return `${what}: 5 kg`
  },
})

async function exported(): Promise<ReplaySource> {
  const clerk = scriptedModel(turns(call('weigh', { what: 'box' }), 'The box has 5 kg.'), { id: 'old/clerk' })
  const desk = scriptedModel(
    (request, turn) => {
      if (turn === 0) return call('clerk', { message: 'How heavy?' })
      return turn === 1 ? call('Ship', {}) : `Shipped: ${toolResults(request).at(-1)}`
    },
    { id: 'old/desk' },
  )
  const runtime = createRuntime({
    agents: [
      defineAgent({
        id: 'desk',
        instructions: 'Help.',
        model: desk,
        subAgents: [{ agent: 'clerk' }],
        actions: [{ name: 'Ship' }],
      }),
      defineAgent({ id: 'clerk', instructions: 'Weigh.', model: clerk, tools: [weigh] }),
    ],
  })
  await runtime
    .conversation('desk', { id: 'chats/1' })
    .handle('Ship', () => 'by train')
    .run('Ship the box.')
  const source = await readReplaySource(runtime.exportConversation('chats/1'))
  await runtime.close()
  return source
}

test('[Tb29] from a step on another model answers, and no tool and no person is called', async () => {
  const source = await exported()
  const before = runs
  const other = scriptedModel((request, turn) => {
    if (systemText(request).includes('Weigh.')) return 'About 5 kg.'
    return turn === 1 ? call('Ship', {}) : `Gone ${toolResults(request).at(-1)}`
  })
  const { difference, tree } = await replayFrom(source, { model: other, from: 3 })
  assert.equal(difference, null)
  assert.equal(runs, before, 'a tool was run')
  assert.deepEqual(
    tree.map(({ status, name, changes }) => [status, name, ...changes.map(({ after }) => after)]),
    [
      ['changed', 'desk', 'Gone by train'],
      ['changed', 'clerk', 'About 5 kg.'],
      ['same', 'weigh'],
      ['same', 'Ship'],
    ],
  )
})

test('[Tb29] what the new model calls otherwise is added, and gets no result', async () => {
  const other = scriptedModel(turns(call('weigh', { what: 'crate' }), 'Nobody knows.', 'I cannot ship it.'))
  const { tree } = await replayFrom(await exported(), { model: other, from: 2 })
  assert.deepEqual(
    tree.map(({ status, name }) => [status, name]),
    [
      ['changed', 'desk'],
      ['changed', 'clerk'],
      ['changed', 'weigh'],
      ['removed', 'Ship'],
    ],
  )
  assert.match(tree[2]?.changes[1]?.after ?? '', /^TOOL_FAILED: `weigh` was not called so in the export/)
})

test('[Tb29] a model that fails, and a step that is not there', async () => {
  const down = scriptedModel(() => new Error('down'), { id: 'new/model' })
  const { tree } = await replayFrom(await exported(), { model: down, from: 1 })
  assert.deepEqual(
    tree.map(({ status, name }) => [status, name]),
    [
      ['changed', 'desk'],
      ['removed', 'clerk'],
      ['removed', 'weigh'],
      ['removed', 'Ship'],
    ],
  )
  await assert.rejects(
    async () => replayFrom(await exported(), { model: down, from: 99 }),
    /fewer than 99 model replies/,
  )
})
