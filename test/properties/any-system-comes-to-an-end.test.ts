/** Any graph of agents with any behaviour: it ends within the caps, its log is one tree, and no model ever reads a broken history. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyEvent } from '@witan/protocol'
import fc from 'fast-check'
import { assertAlternates, assertSound, assertUsage } from '../support/claims.ts'
import {
  depthOf,
  givenTo,
  note,
  randomPlay,
  type RandomSystem,
  randomSystem,
  toTheEnd,
  definedBy,
} from '../support/random-system.ts'
import { holds } from '../support/seeds.ts'
import { createStage, type Stage } from '../support/stage.ts'

function staged(system: RandomSystem): Stage {
  const play = randomPlay(system.seed)
  const plays = Object.fromEntries(system.agents.map(({ id }) => [id, play]))
  return createStage({ agents: system.agents, plays, options: { tools: [note], ...definedBy(system) } })
}

/** A message between peers, the reply to one, or a message that was answered apart. */
function kindOfMessage(content: AnyEvent['content'], document: string): string {
  if (content['isReply'] === true) return 'reply'
  return /@[^/]*~/.test(document) ? 'apart' : 'message'
}

const start = (system: RandomSystem) => ({ id: 'chats/1', parameters: givenTo(system) })

async function converse(system: RandomSystem) {
  const stage = staged(system)
  const results = [await toTheEnd(stage.runtime, await stage.ask('a', 'go', start(system)))]
  results.push(await toTheEnd(stage.runtime, await stage.run('chats/1', { prompt: 'and again' })))
  return { stage, results, events: await stage.events('chats/1') }
}

test('[P11] [P14] [P15] [P21] [I3] [I6] [I11] a random system ends within its caps, with one tree and whole histories', async (context) => {
  const statuses = new Map<string, number>()
  const seen = new Set<string>()
  let deepest = 0
  const property = fc.asyncProperty(randomSystem, async (system) => {
    const { stage, results, events } = await converse(system)
    assertSound(events, depthOf(system))
    for (const request of stage.requests) assertAlternates(request)
    for (const result of results) {
      assertUsage(result, events)
      assert.ok(result.usage.modelCalls <= (system.agents[0]?.limits?.maxModelCalls ?? 0), 'I10: too many model calls')
      statuses.set(result.status, 1 + (statuses.get(result.status) ?? 0))
    }
    for (const { type, content, document } of events) {
      if (type === 'message' && content['exchange'] !== undefined) seen.add(kindOfMessage(content, document))
      if (type === 'notice') seen.add(String(content['code']))
      if (type === 'transfer') seen.add(content['returned'] === true ? 'return' : 'hand-over')
      if (type === 'start' && content['step'] !== undefined) seen.add('step')
    }
    for (const { agentPath } of events) deepest = Math.max(deepest, agentPath.split('/').length)
    assert.deepEqual(stage.reports, [])
  })
  const expected = await holds(context, property, 800)
  assert.ok(
    (statuses.get('completed') ?? 0) > expected(100) && (statuses.get('failed') ?? 0) > expected(50),
    'too few kinds of ends',
  )
  assert.ok(deepest > expected(4), 'no deep tree came up')
  const wanted = [
    'hand-over',
    'return',
    'step',
    'message',
    'reply',
    'apart',
    'PROTOCOL_VIOLATION',
    'PROTOCOL_UNFINISHED',
  ]
  // Some are rare: a few draws need not have them.
  for (const kind of wanted) assert.ok(seen.has(kind) || expected(2) < 1, `${kind} never came up`)
})

test('[P15] [F34] what a terse reader gets is a filter of the full log, in its order', async (context) => {
  const property = fc.asyncProperty(randomSystem, async (system) => {
    const { stage, events } = await converse(system)
    const terse = await stage.events('chats/1', { verbose: false })
    const asked = (event: AnyEvent) => event.type.endsWith('_required') || event.type === 'resolved'
    const hasControl = ({ invocationId, rootCallId, kind, type }: AnyEvent) =>
      invocationId === rootCallId && kind !== 'tool' && type !== 'checkpoint' && type !== 'artifact'
    const isNoReply = ({ kind, type }: AnyEvent) => kind === 'model' && type === 'error'
    const all = events.filter((event) => !isNoReply(event))
    assert.deepEqual(
      terse,
      all.filter((event) => event.callId === event.rootCallId || hasControl(event) || asked(event)),
    )
  })
  await holds(context, property, 300)
})

test('[P17] from any seq k a reader gets exactly what follows, however it is split', async (context) => {
  const split = fc.record({
    verbose: fc.boolean(),
    limit: fc.integer({ min: 1, max: 7 }),
    k: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  const property = fc.asyncProperty(randomSystem, split, async (system, { verbose, limit, k }) => {
    const { stage, events } = await converse(system)
    const call = k < 0.3 ? {} : { call: events[Math.floor(k * events.length)]?.callId ?? '' }
    const all = await stage.events('chats/1', { verbose, ...call })
    const from = Math.floor(k * events.length)
    const wanted = all.filter(({ seq }) => (seq ?? 0) > from)
    const read: AnyEvent[] = []
    for (let at = from, more = true; more; ) {
      const page = await stage.runtime.readEvents('chats/1', { from: at, verbose, limit, ...call })
      read.push(...page.events)
      assert.ok(page.lastSeq >= at, 'the cursor goes back')
      at = page.lastSeq
      more = page.more
    }
    assert.deepEqual(read, wanted)
    const followed: AnyEvent[] = []
    const stop = new AbortController()
    if (wanted.length > 0) {
      for await (const event of stage.runtime.followEvents('chats/1', {
        from,
        verbose,
        ...call,
        signal: stop.signal,
      })) {
        followed.push(event)
        if (followed.length === wanted.length) break
      }
    }
    assert.deepEqual(followed, wanted)
  })
  await holds(context, property, 300)
})
