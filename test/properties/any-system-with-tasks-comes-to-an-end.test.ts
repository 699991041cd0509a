/** Any graph of agents with work in the background, and any behaviour: all of it ends, the log is one tree, and a cold reader knows what a warm one does. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelRequest } from '@witan/core'
import type { AnyEvent, Event } from '@witan/protocol'
import { createDiagram } from '@witan/protocol/protocols'
import fc from 'fast-check'
import { assertAlternates, assertGapFree, assertTree } from '../support/claims.ts'
import { depthOf, givenTo, note, type RandomSystem, definedBy } from '../support/random-system.ts'
import { playWithTasks, quiet, systemWithTasks } from '../support/random-tasks.ts'
import { holds } from '../support/seeds.ts'
import { createStage, settle, type Stage } from '../support/stage.ts'

function staged(random: RandomSystem): Stage {
  const play = playWithTasks(random.seed)
  const plays = Object.fromEntries(random.agents.map(({ id }) => [id, play]))
  return createStage({ agents: random.agents, plays, options: { tools: [note], ...definedBy(random) } })
}

/** Each start has one end, each run one that nothing but its tasks follows. */
function assertEnds(events: readonly AnyEvent[]): void {
  const isOver = ({ type }: AnyEvent) => type === 'end' || type === 'error'
  for (const { type, callId, kind } of events) {
    if (type !== 'start') continue
    const ends = events.filter((event) => event.callId === callId && event.kind === kind && isOver(event))
    assert.equal(ends.length, 1, `I6: ${kind} ${callId} has ${ends.length} ends`)
  }
  const inTask = new Set(events.filter(({ type }) => type === 'task').map(({ callId }) => callId))
  for (const { callId, parentCallId } of events) if (inTask.has(parentCallId ?? '')) inTask.add(callId)
  for (const run of new Set(events.map(({ rootCallId }) => rootCallId))) {
    const own = events.filter(({ rootCallId, callId }) => rootCallId === run && !inTask.has(callId))
    assert.ok(own.at(-1)?.callId === run && own.at(-1)?.kind === 'agent', `I3: something follows the end of run ${run}`)
  }
}

test('[P11] [P14] [P21] [I2] [I3] [I6] [I9] [I11] a random system with tasks ends, with one tree and whole histories', async (context) => {
  let tasks = 0
  let followUps = 0
  const property = fc.asyncProperty(systemWithTasks, async (drawn) => {
    // What agents remember goes on between the original and its fork.
    const random = { ...drawn, agents: drawn.agents.map((agent) => ({ ...agent, memory: null })) }
    const stage = staged(random)
    await stage.ask('a', 'go', { id: 'chats/1', parameters: givenTo(random) })
    await quiet(stage)
    const { lastSeq, runs } = await stage.runtime.getConversation('chats/1')
    // What a cold fold of the copied log reads is what the warm one does.
    const fork = await stage.runtime.forkConversation('chats/1', { seq: lastSeq })
    const from = stage.requests.length
    const warm = await stage.runtime.run('chats/1', { prompt: 'and again' })
    const first = stage.requests.length === from ? await waitFor(stage, from) : stage.requests[from]
    await warm.result
    await quiet(stage)
    const then = stage.requests.length
    await (await stage.runtime.run(fork.id, { prompt: 'and again' })).result
    assert.deepEqual(stage.requests[then]?.messages, first?.messages)
    const events = await stage.events('chats/1')
    assertGapFree(events)
    assertTree(events, depthOf(random))
    assertEnds(events)
    for (const run of new Set(events.map(({ rootCallId }) => rootCallId))) {
      const diagram = createDiagram(run)
      for (const event of events) diagram.take(event as Event)
      assert.deepEqual((await stage.runtime.getDiagram(run)).arrows, diagram.arrows)
    }
    for (const request of stage.requests) assertAlternates(request)
    assert.deepEqual(stage.reports, [])
    tasks += (await stage.runtime.tasks.list({ limit: 200 })).items.length
    followUps += runs.filter(({ hidden }) => hidden).length
    await stage.runtime.close()
  })
  const expected = await holds(context, property, 300)
  assert.ok(
    tasks > expected(200) && followUps > expected(80),
    `only ${tasks} tasks and ${followUps} follow-ups came up`,
  )
})

async function waitFor({ requests }: Stage, index: number): Promise<ModelRequest | undefined> {
  for (let round = 0; round < 200 && requests[index] === undefined; round += 1) await settle(1)
  return requests[index]
}
