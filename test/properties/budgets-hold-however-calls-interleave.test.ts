/** Parallel children on one budget: whatever the order in which models answer, fail and come back, nothing is spent twice or twice over. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Rule, ScriptedCall } from '@witan/core/testing'
import type { AnyEvent } from '@witan/protocol'
import fc from 'fast-check'
import { note } from '../support/random-system.ts'
import { holds } from '../support/seeds.ts'
import { type AgentDraft, createStage, settle } from '../support/stage.ts'

interface Tree {
  readonly width: number
  readonly depth: number
  readonly maxModelCalls: number
  readonly maxParallel: number
  readonly rounds: number | null
  readonly maxIterations: number
  readonly waits: readonly number[]
  readonly failing: readonly boolean[]
  readonly greedy: boolean
}

const tree: fc.Arbitrary<Tree> = fc.record({
  width: fc.integer({ min: 1, max: 5 }),
  depth: fc.integer({ min: 1, max: 4 }),
  maxModelCalls: fc.integer({ min: 1, max: 30 }),
  maxParallel: fc.integer({ min: 1, max: 6 }),
  rounds: fc.option(fc.integer({ min: 1, max: 12 })),
  maxIterations: fc.integer({ min: 1, max: 4 }),
  waits: fc.array(fc.nat(4), { minLength: 8, maxLength: 8 }),
  failing: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
  greedy: fc.boolean(),
})

const name = (depth: number, index: number) => `d${depth}n${index}`

/** Every agent of a level lists every one of the next; the last have a tool, so that nobody is without. */
function agentsOf({ width, depth, maxModelCalls, maxParallel, rounds, maxIterations }: Tree): readonly AgentDraft[] {
  const own = { maxIterations }
  const limits = { ...own, maxModelCalls, maxParallel, maxDepth: depth, maxModelIterationsPerCall: rounds }
  const level = (at: number) => Array.from({ length: width }, (_, index) => ({ agent: name(at, index) }))
  const agents: AgentDraft[] = [{ id: 'root', limits, subAgents: level(1) }]
  for (let at = 1; at <= depth; at += 1)
    for (const { agent } of level(at))
      agents.push({ id: agent, limits: own, ...(at === depth ? { tools: ['note'] } : { subAgents: level(at + 1) }) })
  return agents
}

/** What is under way and was made, counted where no budget can reach it: in the model. */
interface Counts {
  made: number
  withTools: number
  failed: number
  live: number
  most: number
  /** How many rounds had been taken whenever somebody was cut short by the tree, before its own cap. */
  readonly cutAt: number[]
}

const noCounts = (): Counts => ({ made: 0, withTools: 0, failed: 0, live: 0, most: 0, cutAt: [] })

function playOf({ waits, failing, greedy, maxIterations }: Tree, counts: Counts, { obeys = false } = {}): Rule {
  return async (request, turn) => {
    const number = counts.made
    counts.made += 1
    const isOff = request.toolChoice === 'none' && request.tools.length > 0
    counts.withTools += isOff ? 0 : 1
    if (isOff && turn < maxIterations) counts.cutAt.push(counts.withTools)
    counts.live += 1
    counts.most = Math.max(counts.most, counts.live)
    await settle(waits[number % waits.length])
    counts.live -= 1
    const isRoot = !/You are d/.test(request.messages[0]?.content ?? '')
    if (!isRoot && failing[number % failing.length]) {
      counts.failed += 1
      return new Error('down')
    }
    if ((turn > 0 && !greedy) || (obeys && request.toolChoice === 'none')) return 'done'
    const toolCalls = request.tools.map((tool, index): ScriptedCall => {
      return { name: tool.name, arguments: { message: `${number} ${index}` } }
    })
    return toolCalls.length === 0 ? 'done' : { toolCalls }
  }
}

test('[P9] [P10] [P14] [C3] [E23] no order of parallel children makes more calls than there are, failed ones too, and usage has the replies', async (context) => {
  const ends = new Map<string, number>()
  let atCap = 0
  const property = fc.asyncProperty(tree, async (one) => {
    const counts = noCounts()
    const agents = agentsOf(one)
    const play = playOf(one, counts)
    const stage = createStage({
      agents,
      plays: Object.fromEntries(agents.map(({ id }) => [id, play])),
      options: { tools: [note] },
    })
    const { usage, status } = await stage.ask('root', 'go', { id: 'chats/1' })
    ends.set(status, 1 + (ends.get(status) ?? 0))
    atCap += counts.made === one.maxModelCalls ? 1 : 0
    assert.ok(usage.modelCalls <= one.maxModelCalls, `${usage.modelCalls} of ${one.maxModelCalls} are counted`)
    assert.ok(counts.made <= one.maxModelCalls, `${counts.made} calls of ${one.maxModelCalls}`)
    assert.ok(counts.most <= one.maxParallel, `${counts.most} at once of ${one.maxParallel}`)
    assert.equal(
      usage.modelCalls,
      Object.values(usage.byAgent).reduce((sum, { modelCalls }) => sum + modelCalls, 0),
    )
    if (status === 'completed')
      assert.equal(usage.modelCalls, counts.made - counts.failed, 'a call is counted twice, or not at all')
    else assert.ok(usage.modelCalls <= counts.made - counts.failed && usage.modelCalls >= 0)
  })
  const expected = await holds(context, property, 400)
  assert.ok(
    (ends.get('completed') ?? 0) > expected(30) && (ends.get('failed') ?? 0) > expected(30),
    'too few kinds of ends',
  )
  assert.ok(atCap > expected(30), `only ${atCap} runs came to their cap`)
})

test('[P9] [P11] [P14] [R17] [Rb20] [C3] [E23] [E24] rounds with tools are shared by the whole tree to the last, and nobody in it goes without an answer', async (context) => {
  const seen = { tight: 0, starved: 0, own: 0 }
  const property = fc.asyncProperty(tree, fc.integer({ min: 1, max: 8 }), async (some, rounds) => {
    const one = { ...some, rounds, maxModelCalls: 500, failing: [false] }
    const counts = noCounts()
    const agents = agentsOf(one)
    const play = playOf(one, counts, { obeys: true })
    const stage = createStage({
      agents,
      plays: Object.fromEntries(agents.map(({ id }) => [id, play])),
      options: { tools: [note] },
    })
    const result = await stage.ask('root', 'go', { id: 'chats/1' })
    const events = await stage.events('chats/1')
    const replies = events.filter(({ type, kind }) => type === 'end' && kind === 'model')
    const isLast = ({ content }: AnyEvent) => content['finishReason'] === 'iteration_limit'
    const withTools = replies.filter((event) => !isLast(event))
    assert.equal(result.status, 'completed')
    assert.ok(withTools.length <= rounds, `${withTools.length} rounds of ${rounds}`)
    for (const start of events.filter(({ type, kind }) => type === 'start' && kind === 'agent')) {
      const own = replies.filter(({ callId }) => callId === start.callId)
      const end = events.find(({ callId, type, kind }) => callId === start.callId && type === 'end' && kind === 'agent')
      assert.equal(end?.content['text'], 'done', `${start.agentPath} gave no answer`)
      assert.ok(own.filter(isLast).length <= 1, `${start.agentPath} had more than one last answer`)
    }
    for (const taken of counts.cutAt) assert.equal(taken, rounds, `cut short after ${taken} rounds of ${rounds}`)
    seen.starved += counts.cutAt.length > 0 ? 1 : 0
    seen.own += replies.filter(isLast).length > counts.cutAt.length ? 1 : 0
    seen.tight += withTools.length === rounds ? 1 : 0
  })
  const expected = await holds(context, property, 300)
  for (const [what, count] of Object.entries(seen))
    assert.ok(count > expected(50), `${what} came up only ${count} times`)
})
