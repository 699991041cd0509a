/** Usage over random trees: failures, cancels at any moment and parallel children, and every sum is the sum of what the model calls below it used. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { memoryStore } from '@witan/core'
import type { Rule, ScriptedReply } from '@witan/core/testing'
import type { CallNode, AnyEvent, RunResult, UsageCounters } from '@witan/protocol'
import fc from 'fast-check'
import { assertUsage, storedEntries } from '../support/claims.ts'
import {
  givenTo,
  note,
  randomPlay,
  type RandomSystem,
  randomSystem,
  toTheEnd,
  definedBy,
} from '../support/random-system.ts'
import { holds } from '../support/seeds.ts'
import { createStage, settle, type Stage, until } from '../support/stage.ts'

type Used = ScriptedReply['usage']

/** The random play, with usage that depends on what is read as the play does; one call in eight does not say what it used. */
function payingPlay(seed: number): Rule {
  const play = randomPlay(seed)
  return async (request, turn) => {
    const answer = await play(request, turn)
    if (answer === undefined || answer instanceof Error) return answer
    const dice = createHash('sha256')
      .update(`usage ${seed} ${JSON.stringify(request.messages)}`)
      .digest()
    const [kind = 0, input = 0, output = 0, cached = 0, thought = 0, written = 0, cost = 0, day = 0] = dice
    const usage: Used =
      kind % 8 === 0
        ? null
        : {
            inputTokens: kind % 8 === 1 ? null : input,
            outputTokens: output,
            cachedInputTokens: cached,
            reasoningTokens: thought,
            ...(written % 2 === 0 ? { cacheWriteTokens: written } : {}),
            costUsd: cost / 1000,
            ...(day % 4 === 0 ? { priceDate: `2026-01-${10 + (day % 9)}` } : {}),
          }
    return typeof answer === 'string' ? { text: answer, usage } : { ...answer, usage }
  }
}

type Sum = UsageCounters

function sumOf(events: readonly AnyEvent[]): Sum {
  const sum: Sum = {
    costUsd: null,
    modelCalls: 0,
    toolCalls: 0,
    inputTokens: 0,
    outputTokens: 0,
    cachedInputTokens: 0,
    reasoningTokens: 0,
    totalTokens: 0,
    complete: true,
  }
  for (const { type, kind, content } of events) {
    if (type === 'start' && kind === 'tool') sum.toolCalls += 1
    if (content['code'] === 'USAGE_INCOMPLETE') sum.complete = false
    if (type !== 'end' || kind !== 'model') continue
    const used = content['usage'] as Used
    const dollars = used?.costUsd ?? null
    if (sum.modelCalls === 0) sum.costUsd = dollars
    else
      sum.costUsd = sum.costUsd === null || dollars === null ? null : Math.round((sum.costUsd + dollars) * 1000) / 1000
    const { cacheWriteTokens: written = 0, priceDate: date } = used ?? {}
    if (written > 0) sum.cacheWriteTokens = (sum.cacheWriteTokens ?? 0) + written
    if (date !== undefined && date < (sum.priceDate ?? '9')) sum.priceDate = date
    sum.modelCalls += 1
    sum.inputTokens += used?.inputTokens ?? 0
    sum.outputTokens += used?.outputTokens ?? 0
    sum.cachedInputTokens += used?.cachedInputTokens ?? 0
    sum.reasoningTokens += used?.reasoningTokens ?? 0
    sum.totalTokens += (used?.inputTokens ?? 0) + (used?.outputTokens ?? 0)
    if (typeof used?.inputTokens !== 'number' || typeof used.outputTokens !== 'number') sum.complete = false
  }
  return sum
}

function plain({ byAgent: _, ...sum }: UsageCounters & { byAgent?: unknown }): Sum {
  return sum
}

/** The events of a call and everything below it. */
function below(events: readonly AnyEvent[], call: string): readonly AnyEvent[] {
  const calls = new Set([call])
  for (const { type, callId, parentCallId } of events)
    if (type === 'start' && parentCallId !== null && calls.has(parentCallId)) calls.add(callId)
  return events.filter(({ callId }) => calls.has(callId))
}

function treeSum(node: CallNode): { modelCalls: number; toolCalls: number; totalTokens: number; complete: boolean } {
  const sum = { modelCalls: 0, toolCalls: 0, totalTokens: 0, complete: true }
  for (const one of [node.usage, ...node.children.map(treeSum)]) {
    sum.modelCalls += one.modelCalls
    sum.toolCalls += one.toolCalls
    sum.totalTokens += one.totalTokens
    sum.complete &&= one.complete
  }
  return sum
}

async function claims(stage: Stage, result: RunResult): Promise<void> {
  const events = (await stage.events('chats/1')).filter(({ rootCallId }) => rootCallId === result.runId)
  assertUsage(result, events)
  assert.deepEqual(plain(result.usage), sumOf(events), 'the run')
  for (const path of new Set(events.map(({ agentPath }) => agentPath))) {
    const told = result.usage.byAgent[path]
    const wanted = sumOf(events.filter((event) => event.agentPath === path))
    if (told !== undefined) assert.deepEqual(plain(told), wanted, path)
    else assert.deepEqual([wanted.modelCalls + wanted.toolCalls, wanted.complete], [0, true], path)
  }
  for (const { type, kind, callId, content, agentPath } of events) {
    if (type !== 'end' || kind !== 'agent') continue
    assert.deepEqual(plain(content['usage'] as UsageCounters), sumOf(below(events, callId)), `the end of ${agentPath}`)
  }
  const { tree } = await stage.runtime.getRun(result.runId)
  const { modelCalls, toolCalls, totalTokens, complete } = result.usage
  assert.deepEqual(treeSum(tree), { modelCalls, toolCalls, totalTokens, complete }, 'the call tree')
  const documents = new Set(events.map(({ document }) => document))
  let isComplete = true
  for (const path of documents) isComplete &&= (await stage.runtime.getDocument(path)).totalUsage.complete
  assert.equal(isComplete, complete, 'the documents')
}

interface Moment {
  readonly system: RandomSystem
  /** The number of rounds of the event loop before somebody cancels; null if nobody does. */
  readonly cancelAfter: number | null
}

const moment: fc.Arbitrary<Moment> = fc.record({
  system: randomSystem,
  cancelAfter: fc.option(fc.integer({ min: 0, max: 60 })),
})

/** Cancels after so many rounds of the event loop; false where the run was over by then. */
async function isCancelled(stage: Stage, run: string, rounds: number): Promise<boolean> {
  await settle(rounds)
  return stage.runtime.cancelRun(run).then(
    () => true,
    (error: { code?: string }) => {
      assert.equal(error.code, 'RUN_FINISHED')
      return false
    },
  )
}

async function ended(stage: Stage, run: string): Promise<RunResult> {
  let told: RunResult | null = null
  await until(async () => {
    const { result } = await stage.runtime.getRun(run)
    told = result?.status === 'waiting' ? null : result
    return told !== null
  })
  return told as unknown as RunResult
}

test('[Rb56] [C4] the sum of what model calls used is the usage of the run, of each agent and of each call, however they end', async (context) => {
  const seen = { completed: 0, failed: 0, cancelled: 0, waiting: 0 }
  let unknown = 0
  const property = fc.asyncProperty(moment, async ({ system, cancelAfter }) => {
    const store = memoryStore({ now: () => 0 })
    const play = payingPlay(system.seed)
    const plays = Object.fromEntries(system.agents.map(({ id }) => [id, play]))
    const stage = createStage({
      agents: system.agents,
      plays,
      options: { tools: [note], ...definedBy(system), store },
    })
    const { run } = await stage.runtime.start({
      agent: 'a',
      prompt: 'go',
      id: 'chats/1',
      parameters: givenTo(system),
    })
    assert.ok(run)
    const result =
      cancelAfter !== null && (await isCancelled(stage, run.runId, cancelAfter))
        ? await ended(stage, run.runId)
        : await toTheEnd(stage.runtime, await run.result)
    await claims(stage, result)
    seen[result.status] += 1
    unknown += result.usage.complete ? 0 : 1
    const rounds = (await storedEntries(store, 'chats/1')).filter(
      (entry) =>
        entry.type === 'end' && entry.kind === 'model' && entry.body.offered && entry.body.toolCalls.length > 0,
    )
    assert.equal((await stage.runtime.getRun(result.runId)).toolRounds, rounds.length)
    assert.ok(rounds.length <= result.usage.modelCalls)
  })
  const expected = await holds(context, property, 600)
  for (const status of ['completed', 'failed', 'cancelled'] as const)
    assert.ok(seen[status] > expected(40), `only ${seen[status]} runs ended ${status}`)
  assert.ok(unknown > expected(40), 'too few calls left their usage unsaid')
})
