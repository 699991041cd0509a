/** The call tree, the client's view, the documents and the spans are read from one log by four folds: each call is the same to all of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConversationFold, type CallView } from '@witan/client'
import { memoryStore } from '@witan/core'
import type { CallNode } from '@witan/protocol'
import fc from 'fast-check'
import { type CollectedSpan, createCollector } from '../acceptance/support/collector.ts'
import { fakeClock } from '../support/clock.ts'
import { givenTo, note, type RandomSystem, definedBy } from '../support/random-system.ts'
import { commands, send } from '../support/random-commands.ts'
import { playWithTasks, quiet, systemWithTasks } from '../support/random-tasks.ts'
import { holds } from '../support/seeds.ts'
import { allEvents, createStage, settle } from '../support/stage.ts'

/** What every reader says of a call. Times are those of the log. */
interface Seen {
  readonly kind: string
  readonly name: string
  readonly parent: string | null
  readonly isFailed: boolean
  readonly startedAt: number
  readonly endedAt: number | null
}

/** What a call has used itself. */
interface Used {
  readonly modelCalls: number
  readonly input: number
  readonly output: number
  readonly isComplete: boolean
}

const at = (time: string | null) => (time === null ? null : Date.parse(time))

/** The calls of the trees, parents before children; those that have not started are held by an approval. */
function inTrees(
  roots: readonly CallNode[],
): ReadonlyMap<string, { readonly node: CallNode; readonly parent: string | null }> {
  const found = new Map<string, { readonly node: CallNode; readonly parent: string | null }>()
  const walk = (node: CallNode, parent: string | null) => {
    found.set(node.callId, { node, parent })
    for (const child of node.children) walk(child, node.callId)
  }
  for (const root of roots) walk(root, null)
  return found
}

const seenInTree = ({ kind, name, status, startedAt, endedAt }: CallNode, parent: string | null): Seen => ({
  ...{ kind, name, parent, isFailed: status === 'failed' || status === 'cancelled' },
  ...{ startedAt: Date.parse(startedAt), endedAt: at(endedAt) },
})

const seenByClient = ({ kind, name, parentCallId, state, startedAt, endedAt }: CallView): Seen => ({
  ...{ kind, name, parent: parentCallId, isFailed: state === 'failed' || state === 'cancelled' },
  ...{ startedAt: Date.parse(startedAt), endedAt: at(endedAt) },
})

const usedInTree = ({ usage }: CallNode): Used => ({
  ...{ modelCalls: usage.modelCalls, input: usage.inputTokens, output: usage.outputTokens, isComplete: usage.complete },
})

const usedByClient = ({ modelCalls, tokens }: CallView): Used => ({
  ...{ modelCalls, input: tokens.input, output: tokens.output, isComplete: tokens.complete },
})

/** The spans of calls, by call. Those of model replies have the call that asked. */
function spansIn(spans: readonly CollectedSpan[]) {
  const isCall = ({ name }: CollectedSpan) => /^(invoke_agent|execute_tool) /.test(name)
  const ids = new Map(spans.filter(isCall).map((span) => [span.spanId, String(span.attributes['witan.call.id'])]))
  const calls = new Map(spans.filter(isCall).map((span) => [String(span.attributes['witan.call.id']), span]))
  const replies = spans.filter((span) => !isCall(span))
  return { calls, replies, parentOf: ({ parentSpanId }: CollectedSpan) => ids.get(parentSpanId ?? '') ?? null }
}

/** A conversation that was worked on, and what each reader gets of it. */
async function readings(system: RandomSystem, sent: Parameters<Parameters<typeof commands.map>[0]>[0], url: string) {
  const clock = fakeClock()
  let ticks = 0
  const play = playWithTasks(system.seed)
  const stage = createStage({
    agents: system.agents,
    plays: Object.fromEntries(system.agents.map(({ id }) => [id, play])),
    options: {
      ...{ tools: [note], ...definedBy(system), store: memoryStore() },
      clock: { ...clock, now: () => clock.now() + ticks++ },
      telemetry: { otlp: { url, content: 'full', protocol: 'http/json' } },
    },
  })
  const { runtime } = stage
  await runtime.start({ agent: 'a', prompt: 'go', id: 'chats/1', parameters: givenTo(system) })
  const done: Promise<void>[] = []
  for (const { kind, after } of sent) {
    await settle(after)
    done.push(send(runtime, kind).catch(() => {}))
  }
  await Promise.all(done)
  await quiet(stage)
  const events = await allEvents(runtime, 'chats/1')
  const fold = createConversationFold()
  for (const event of events) fold.take(event)
  const { runs } = await runtime.getConversation('chats/1')
  const trees = await Promise.all(runs.map(async ({ runId }) => (await runtime.getRun(runId)).tree))
  const paths = [...new Set(events.map(({ document }) => document))]
  const documents = await Promise.all(paths.map((path) => runtime.getDocument(path, { detail: 'full', limit: 200 })))
  await runtime.close()
  return { trees, calls: fold.view.calls, documents, paths }
}

test('[P16] [C32] the tree, the client, the documents and the spans say the same of every call', async (context) => {
  const collector = await createCollector()
  let [compared, traced] = [0, 0]
  const property = fc.asyncProperty(systemWithTasks, commands, async (system, sent) => {
    const before = collector.spans().length
    const { trees, calls, documents, paths } = await readings(system, sent, collector.url)
    const tree = inTrees(trees)
    assert.deepEqual([...tree.keys()].sort(), [...calls.keys()].sort())
    const spans = spansIn(collector.spans().slice(before))
    for (const [id, { node, parent }] of tree) {
      const client = calls.get(id) as CallView
      assert.deepEqual(seenByClient(client), seenInTree(node, parent), `the client, and the tree, of ${id}`)
      assert.deepEqual(usedByClient(client), usedInTree(node), `the usage of ${id}`)
      compared += 1
      const span = spans.calls.get(id)
      // The spans of a job are sent when it has ended, and a call that was held and never began has none.
      if (span === undefined || node.endedAt === null || (parent !== null && !spans.calls.has(parent))) continue
      traced += 1
      const { kind, name, startedAt, endedAt } = seenInTree(node, parent)
      assert.deepEqual(
        [span.name, spans.parentOf(span), span.status.code === 2],
        [`${kind === 'tool' ? 'execute_tool' : 'invoke_agent'} ${name}`, parent, client.error !== null],
        `the span of ${id}`,
      )
      const [from, to] = [span.startTimeUnixNano, span.endTimeUnixNano].map((time) => Number(BigInt(time) / 1_000_000n))
      // A call that an approval held is there since it was asked; its span begins with its work.
      const isHeld = client.asked.some(({ interruption }) => interruption.kind === 'approval')
      assert.deepEqual([isHeld ? startedAt : from, to], [startedAt, endedAt], `the times of the span of ${id}`)
      const replies = spans.replies.filter((reply) => reply.attributes['witan.call.id'] === id)
      assert.equal(replies.length, node.usage.modelCalls, `the replies of ${id}`)
    }
    for (const [index, path] of paths.entries()) {
      const own = [...tree.values()].filter(({ node }) => node.document === path && node.kind === 'agent')
      const sum = (what: (used: Used) => number) => own.reduce((all, { node }) => all + what(usedInTree(node)), 0)
      const usage = documents[index]?.totalUsage
      assert.deepEqual(
        [usage?.modelCalls, usage?.inputTokens, usage?.outputTokens],
        [sum((one) => one.modelCalls), sum((one) => one.input), sum((one) => one.output)],
        `the usage of ${path}`,
      )
    }
  })
  try {
    const expected = await holds(context, property, 120)
    assert.ok(compared > expected(600), `only ${compared} calls were compared`)
    assert.ok(traced > expected(300), `only ${traced} spans were compared`)
  } finally {
    await collector.close()
  }
})
