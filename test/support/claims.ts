/** What must hold for every log and every request, whatever happened: the invariants of the fault plan. */
import assert from 'node:assert/strict'
import type { ModelRequest, Store } from '@witan/core'
import { messageOrderProblem } from '@witan/core/testing'
import type { AnyEvent, RunResult } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'

/** All entries of a conversation as they are stored. */
export async function storedEntries(store: Store, conversation: string): Promise<readonly Entry[]> {
  return store.readEntries('default', conversation, { after: 0, limit: 100_000 })
}

/** [I2] seq is 1..n without a gap or a repeat. */
export function assertGapFree(events: readonly { readonly seq?: number | undefined }[]): void {
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map((_, index) => index + 1),
    'I2: seq is not 1..n',
  )
}

/** [I3] exactly one terminal event for each run, and nothing of that run after it. */
function assertOneEnd(events: readonly AnyEvent[]): void {
  const runs = new Set(events.map(({ rootCallId }) => rootCallId))
  for (const run of runs) {
    const own = events.filter(({ rootCallId }) => rootCallId === run)
    const ends = own.filter((event) => event.callId === run && isOver(event) && event.kind === 'agent')
    assert.equal(ends.length, 1, `I3: run ${run} has ${ends.length} ends`)
    assert.equal(own.at(-1), ends[0], `I3: something follows the end of run ${run}`)
  }
}

function isOver({ type }: AnyEvent): boolean {
  return type === 'end' || type === 'error'
}

/** [I6] each start has one end or error; parents end after their children. */
export function assertSettled(events: readonly AnyEvent[]): void {
  const starts = events.filter(({ type }) => type === 'start')
  for (const start of starts) {
    const ends = events.filter((event) => event.callId === start.callId && event.kind === start.kind && isOver(event))
    assert.equal(ends.length, 1, `I6: ${start.kind} ${start.callId} has ${ends.length} ends`)
    const parentEnd = events.find(
      (event) => event.callId === start.parentCallId && event.kind === 'agent' && isOver(event),
    )
    if (parentEnd !== undefined)
      assert.ok((ends[0]?.seq ?? 0) < (parentEnd.seq ?? 0), `I6: parent of ${start.callId} ended first`)
  }
}

/** [I7] entries of a job never go back to an earlier epoch. Entries of others carry epoch 0. */
export function assertEpochs(entries: readonly Entry[]): void {
  const last = new Map<string, number>()
  for (const { job, epoch, seq } of entries) {
    if (epoch === 0) continue
    assert.ok(epoch >= (last.get(job) ?? 0), `I7: entry ${seq} of job ${job} is of an earlier epoch`)
    last.set(job, epoch)
  }
}

/** A tool call, and a call that control was handed to, work at the depth of their caller. */
function addsDepth({ kind, content }: AnyEvent): boolean {
  return kind === 'agent' && (content['handedFrom'] ?? null) === null
}

/** [I11] call ids are unique, parents exist and come before, the root is constant. A call that is held is asked for before it starts, if it ever does. */
export function assertTree(events: readonly AnyEvent[], maxDepth = 8): void {
  const depths = new Map<string, number>()
  const roots = new Map<string, string>()
  const held = new Set<string>()
  for (const event of events) {
    if (event.type !== 'start') {
      if (event.type === 'approval_required') held.add(event.callId)
      else if (event.type !== 'message' && !held.has(event.callId))
        assert.ok(depths.has(event.callId), `I11: ${event.type} of an unknown call`)
      continue
    }
    assert.ok(!depths.has(event.callId), `I11: call ${event.callId} starts twice`)
    const parent = event.parentCallId
    if (parent === null) assert.equal(event.rootCallId, event.callId, 'I11: a call without a parent is its own root')
    else {
      assert.ok(depths.has(parent), `I11: the parent of ${event.callId} does not come before it`)
      assert.equal(event.rootCallId, roots.get(parent), `I11: ${event.callId} has another root than its parent`)
    }
    const depth = parent === null ? 0 : (depths.get(parent) ?? 0) + (addsDepth(event) ? 1 : 0)
    assert.ok(depth <= maxDepth, `I11: ${event.callId} is ${depth} deep`)
    depths.set(event.callId, depth)
    roots.set(event.callId, event.rootCallId)
  }
}

/** Everything that must hold for a finished conversation's events. */
export function assertSound(events: readonly AnyEvent[], maxDepth = 8): void {
  assertGapFree(events)
  // Who joins or leaves belongs to no call.
  const ofCalls = events.filter(({ type }) => type !== 'participant')
  assertTree(ofCalls, maxDepth)
  assertSettled(ofCalls)
  assertOneEnd(ofCalls)
}

/** [P21] [T11] the messages stand in the order that the strictest servers take: see `messageOrderProblem`. */
export function assertAlternates({ messages }: ModelRequest): void {
  assert.equal(messages[0]?.role, 'system', 'P21: the first message is not the system message')
  assert.equal(messageOrderProblem(messages), null, 'P21')
}

/** [usage] the sum in a result is the sum over the model calls of its run. */
export function assertUsage(result: RunResult, events: readonly AnyEvent[]): void {
  const own = events.filter(
    ({ rootCallId, kind, type }) => rootCallId === result.runId && kind === 'model' && type === 'end',
  )
  const byAgent: Record<string, { calls: number; input: number; output: number }> = {}
  for (const { agentPath, content } of own) {
    const usage = content['usage'] as { inputTokens: number | null; outputTokens: number | null } | null
    byAgent[agentPath] ??= { calls: 0, input: 0, output: 0 }
    byAgent[agentPath].calls += 1
    byAgent[agentPath].input += usage?.inputTokens ?? 0
    byAgent[agentPath].output += usage?.outputTokens ?? 0
  }
  const told = Object.entries(result.usage.byAgent)
    .filter(([, counters]) => counters.modelCalls > 0)
    .map(([path, counters]) => [
      path,
      { calls: counters.modelCalls, input: counters.inputTokens, output: counters.outputTokens },
    ])
  assert.deepEqual(Object.fromEntries(told), byAgent, 'usage by agent is not the sum over its model calls')
  assert.equal(result.usage.modelCalls, own.length)
  const { inputTokens, outputTokens, totalTokens } = result.usage
  const sums = Object.values(byAgent)
  assert.equal(
    inputTokens,
    sums.reduce((sum, one) => sum + one.input, 0),
  )
  assert.equal(
    outputTokens,
    sums.reduce((sum, one) => sum + one.output, 0),
  )
  assert.equal(totalTokens, inputTokens + outputTokens)
  const isKnown = own.every(({ content }) => {
    const usage = content['usage'] as { inputTokens: number | null; outputTokens: number | null } | null
    return usage !== null && usage.inputTokens !== null && usage.outputTokens !== null
  })
  const lost = events.filter(
    ({ rootCallId, content }) => rootCallId === result.runId && content['code'] === 'USAGE_INCOMPLETE',
  )
  assert.equal(result.usage.complete, isKnown && lost.length === 0, 'whether usage is complete')
}
