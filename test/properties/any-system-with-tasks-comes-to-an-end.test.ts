/** Any graph of agents with work in the background, and any behaviour: all of it ends, the log is one tree, and a cold reader knows what a warm one does. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelRequest } from '@witan/core'
import type { Rule, ScriptedCall } from '@witan/core/testing'
import type { AnyEvent } from '@witan/protocol'
import fc from 'fast-check'
import { assertAlternates, assertGapFree, assertTree } from '../support/claims.ts'
import {
  answerTo,
  depthOf,
  givenTo,
  note,
  randomPlay,
  type RandomSystem,
  randomSystem,
} from '../support/random-system.ts'
import { holds } from '../support/seeds.ts'
import { createStage, settle, type Stage } from '../support/stage.ts'

const system: fc.Arbitrary<RandomSystem> = fc
  .tuple(randomSystem, fc.array(fc.constantFrom('always', 'never', 'model'), { minLength: 20, maxLength: 20 }))
  .map(([{ agents, ...rest }, blocking]) => {
    let next = 0
    const blockingOf = () => {
      next += 1
      return blocking[next % blocking.length] ?? 'always'
    }
    return {
      ...rest,
      agents: agents.map((agent, index) => {
        if (agent.workflow) return agent
        const below = agents[index + 1]
        const subAgents = (agent.subAgents ?? []).map((edge) => ({ ...edge, blocking: blockingOf() }))
        const hasIt = below === undefined || subAgents.some((edge) => edge.agent === below.id)
        return {
          ...agent,
          subAgents: hasIt ? subAgents : [...subAgents, { agent: below.id, blocking: 'never' as const }],
        }
      }),
    }
  })

/** What a random model does, but it delegates more, names tasks that it has read of, and chooses what exists. */
function playOf(seed: number): Rule {
  const play = randomPlay(seed)
  return async (request, turn) => {
    const said = await play(request, turn)
    if (typeof said !== 'object' || said instanceof Error || said.toolCalls === undefined) return said
    return { ...said, toolCalls: said.toolCalls.map((call) => sensible(call, request)) }
  }
}

function sensible(call: ScriptedCall, { messages, tools }: ModelRequest): ScriptedCall {
  const known = [...JSON.stringify(messages).matchAll(/task_id\\":\\"(c_[^\\"]+)/g)].map(([, id = '']) => id)
  const dice = messages.length + call.name.length
  const takes = (tool: ModelRequest['tools'][number], name: string) =>
    Object.hasOwn((tool.parameters['properties'] ?? {}) as object, name)
  const delegates = tools.filter((tool) => takes(tool, 'message') && !takes(tool, 'task_id'))
  const delegate = delegates[dice % Math.max(1, delegates.length)]
  if (typeof call.arguments !== 'object' || call.arguments === null) return call
  const isHelper = 'task_id' in call.arguments
  if (delegate !== undefined && (isHelper ? known.length === 0 : call.name === 'note' || call.name.length > 8))
    return { name: delegate.name, arguments: { message: `message ${dice}`, key: 'k', made: 'm', blocking: false } }
  const args: Record<string, unknown> = { ...call.arguments }
  if (isHelper) args['task_id'] = known[dice % known.length] ?? 'c_none'
  if ('mode' in args) args['mode'] = dice % 2 === 0 ? 'send' : 'send_and_wait'
  if ('blocking' in args) args['blocking'] = dice % 2 === 0
  return { name: call.name, arguments: args }
}

function staged(random: RandomSystem): Stage {
  const play = playOf(random.seed)
  const plays = Object.fromEntries(random.agents.map(({ id }) => [id, play]))
  return createStage({ agents: random.agents, plays, options: { tools: [note], protocols: random.protocols ?? [] } })
}

/** Answers whatever waits, in runs and tasks, until nothing is live. */
async function quiet({ runtime }: Stage): Promise<void> {
  for (let round = 0; round < 20_000; round += 1) {
    const { status, tasks, interruptions } = await runtime.getConversation('chats/1')
    if (status === 'idle' && tasks.length === 0) return
    for (const { id, kind } of interruptions)
      await runtime.answerInterruption(id, { answer: answerTo(kind, round) }).catch(() => {})
    await settle(1)
  }
  throw new Error('I9: something does not come to its end')
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
  const property = fc.asyncProperty(system, async (random) => {
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
    for (const request of stage.requests) assertAlternates(request)
    assert.deepEqual(stage.reports, [])
    tasks += (await stage.runtime.tasks.list({ limit: 200 })).items.length
    followUps += runs.filter(({ hidden }) => hidden).length
    await stage.runtime.close()
  })
  await holds(context, property, 300)
  assert.ok(tasks > 200 && followUps > 80, `only ${tasks} tasks and ${followUps} follow-ups came up`)
})

async function waitFor({ requests }: Stage, index: number): Promise<ModelRequest | undefined> {
  for (let round = 0; round < 200 && requests[index] === undefined; round += 1) await settle(1)
  return requests[index]
}
