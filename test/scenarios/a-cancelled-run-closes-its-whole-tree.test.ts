/** Cancelling: at every moment it ends the whole tree, once, and the conversation goes on afterwards. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool } from '@witan/core'
import { call } from '@witan/core/testing'
import type { AnyEvent } from '@witan/protocol'
import { z } from 'zod'
import { assertAlternates, assertSound, assertUsage } from '../support/claims.ts'
import { createStage, settle } from '../support/stage.ts'

const wait = defineTool({
  name: 'wait',
  description: 'Waits.',
  parameters: z.object({}),
  effect: 'none',
  execute: async () => {
    await settle(1)
    return 'waited'
  },
})

function tree() {
  let after = false
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'mid' }, { agent: 'side' }] },
      { id: 'mid', subAgents: [{ agent: 'leaf' }], tools: ['wait'] },
      { id: 'leaf', tools: ['wait'], actions: [{ name: 'Ask' }] },
      { id: 'side', tools: ['wait'] },
    ],
    plays: {
      root: async (_request, turn) => {
        await settle(1)
        if (after) return 'still here'
        return turn === 0
          ? {
              toolCalls: [
                { name: 'mid', arguments: { message: 'm' } },
                { name: 'side', arguments: { message: 's' } },
              ],
            }
          : 'done'
      },
      mid: [
        {
          toolCalls: [
            { name: 'leaf', arguments: { message: 'l' } },
            { name: 'wait', arguments: {} },
          ],
        },
        'mid done',
      ],
      leaf: [call('wait'), call('Ask'), 'leaf done'],
      side: [call('wait'), call('wait'), 'side done'],
    },
    options: { tools: [wait] },
  })
  return { ...stage, calmDown: () => (after = true) }
}

/** Runs until the k-th event is there, then cancels. Null where the run made fewer. */
async function cancelAt(k: number) {
  const stage = tree()
  const opened = await stage.runtime.start({ agent: 'root', prompt: 'go', id: 'chats/1' })
  const stop = new AbortController()
  const seen: AnyEvent[] = []
  for await (const event of stage.runtime.followEvents('chats/1', { verbose: true, signal: stop.signal })) {
    if (event.seq !== undefined) seen.push(event)
    if (seen.length >= k || event.type === 'action_required') break
  }
  stop.abort()
  const enough = seen.length >= k
  await stage.runtime.cancelRun(opened.run?.runId ?? '')
  const result = await stage.runtime.getRun(opened.run?.runId ?? '')
  return { stage, opened, enough, result }
}

test('[C30] [I3] [I6] cancelled at any event, every call is closed, children first, with one end', async () => {
  let reached = 0
  for (let k = 1; k < 60; k += 1) {
    const { stage, opened, enough } = await cancelAt(k)
    const result = await until(stage, opened.run?.runId ?? '')
    assert.equal(result.status, 'cancelled', `k = ${k}`)
    const events = await stage.events('chats/1')
    assertSound(events)
    assertUsage(result, events)
    assert.deepEqual((await stage.runtime.getConversation('chats/1')).interruptions, [])
    const before = stage.requests.length
    await settle()
    assert.equal(stage.requests.length, before, 'a cancelled run called a model')
    stage.calmDown()
    const next = await stage.run('chats/1', { prompt: 'and now?' })
    assert.equal(next.text, 'still here')
    for (const request of stage.requests) assertAlternates(request)
    assert.deepEqual(stage.reports, [])
    if (!enough) break
    reached = k
  }
  assert.ok(reached >= 10, `only ${reached} moments were tried`)
})

async function until(stage: ReturnType<typeof tree>, run: string) {
  for (let round = 0; round < 200; round += 1) {
    const { result } = await stage.runtime.getRun(run)
    if (result !== null && result.status !== 'waiting') return result
    await settle(1)
  }
  throw new Error(`run ${run} does not end`)
}

test('[I10] a cancel aborts the model call and the tool under way', async () => {
  const aborted: string[] = []
  const hang = defineTool({
    name: 'hang',
    description: 'Hangs.',
    parameters: z.object({}),
    effect: 'none',
    execute: (_args, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          aborted.push('tool')
          reject(signal.reason)
        })
      }),
  })
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'leaf' }], tools: ['hang'] }, { id: 'leaf' }],
    plays: {
      root: [
        {
          toolCalls: [
            { name: 'hang', arguments: {} },
            { name: 'leaf', arguments: { message: 'x' } },
          ],
        },
        'done',
      ],
      leaf: [{ text: 'half', hang: true }],
    },
    options: { tools: [hang] },
  })
  const opened = await stage.runtime.start({ agent: 'root', prompt: 'go', id: 'chats/1' })
  await settle()
  await stage.runtime.cancelRun(opened.run?.runId ?? '')
  const result = await opened.run?.result
  assert.equal(result?.status, 'cancelled')
  assert.deepEqual(aborted, ['tool'])
  assertSound(await stage.events('chats/1'))
})

test('[D10] a tool that ignores the abort does not hold the run', async () => {
  const stubborn = defineTool({
    name: 'stubborn',
    description: 'Ignores everybody.',
    parameters: z.object({}),
    effect: 'none',
    execute: () => new Promise(() => {}),
  })
  const stage = createStage({
    agents: [{ id: 'root', tools: ['stubborn'] }],
    plays: { root: [call('stubborn')] },
    options: { tools: [stubborn] },
  })
  const opened = await stage.runtime.start({ agent: 'root', prompt: 'go' })
  await settle()
  await stage.runtime.cancelRun(opened.run?.runId ?? '')
  assert.equal((await opened.run?.result)?.status, 'cancelled')
})

test('[E58] an action of a cancelled run can be answered no more, and a finished run not cancelled', async () => {
  const stage = createStage({
    agents: [{ id: 'root', actions: [{ name: 'Ask' }] }],
    plays: { root: [call('Ask'), 'done'] },
  })
  const { runId, interruptions } = await stage.ask('root', 'go', { id: 'chats/1' })
  await stage.runtime.cancelRun(runId)
  await settle()
  assert.equal((await stage.runtime.getRun(runId)).status, 'cancelled')
  await assert.rejects(stage.runtime.answerInterruption(interruptions[0]?.id ?? '', { answer: 1 }), {
    code: 'RUN_FINISHED',
  })
  await assert.rejects(stage.runtime.cancelRun(runId), { code: 'RUN_FINISHED' })
  await assert.rejects(stage.runtime.cancelRun('c_none'), { code: 'NOT_FOUND' })
})

test('[I8] an answer and a cancel at the same moment: the run ends cancelled and is told', async () => {
  for (let round = 0; round < 30; round += 1) {
    const stage = createStage({
      agents: [{ id: 'root', actions: [{ name: 'Ask' }] }],
      plays: { root: [call('Ask'), 'done'] },
    })
    const { runId, interruptions } = await stage.ask('root', 'go', { id: 'chats/1' })
    const id = interruptions[0]?.id ?? ''
    const both = [() => stage.runtime.answerInterruption(id, { answer: 1 }), () => stage.runtime.cancelRun(runId)]
    if (round % 2 === 1) both.reverse()
    await Promise.allSettled(both.map((one) => one()))
    await settle()
    const { status } = await stage.runtime.getRun(runId)
    assert.ok(status === 'cancelled' || status === 'completed', `round ${round}: ${status}`)
    assertSound(await stage.events('chats/1'))
    assert.deepEqual(stage.reports, [])
  }
})

test('[D10] who called what was cancelled reads an error, and no empty answer', async () => {
  const asked = {
    toolCalls: [
      { name: 'mid', arguments: { message: 'm' } },
      { name: 'wrapped', arguments: { request: 'w' } },
    ],
  }
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'mid' }, { agent: 'wrapped', style: 'agentTool' }] },
      { id: 'mid', actions: [{ name: 'Ask' }] },
      { id: 'wrapped', actions: [{ name: 'Ask' }] },
    ],
    plays: {
      root: ({ messages }) => (messages.some(({ role }) => role === 'tool') ? 'still here' : asked),
      mid: [call('Ask')],
      wrapped: [call('Ask')],
    },
  })
  const { runId } = await stage.ask('root', 'go', { id: 'chats/1' })
  await stage.runtime.cancelRun(runId)
  assert.equal((await stage.run('chats/1', { prompt: 'and now?' })).text, 'still here')
  const error = 'The run ended before this was answered.'
  const wanted = [{ error }, { text: '', error: `The run was cancelled.\n${error}` }]
  const read = stage.seenBy('root')[1]?.messages.filter(({ role }) => role === 'tool') ?? []
  assert.deepEqual(
    read.map(({ content }) => JSON.parse(content)),
    wanted,
  )
  const { messages } = await stage.runtime.getDocument('chats/1')
  assert.deepEqual(
    messages.flatMap(({ toolCalls }) => toolCalls ?? []).map(({ result }) => result),
    wanted,
  )
})
