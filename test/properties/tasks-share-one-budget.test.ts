/** Tasks on one budget: whatever works in the background, in which order and over which crash, one message never costs more than its cap. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore, type Runtime, type Store } from '@witan/core'
import type { Rule, ScriptedCall } from '@witan/core/testing'
import fc from 'fast-check'
import { assertGapFree, assertTree } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { type CrashMoment, crashingStore } from '../support/crashing-store.ts'
import { outliving } from '../support/reopen.ts'
import { holds } from '../support/seeds.ts'
import { type AgentDraft, createStage, settle, type Stage } from '../support/stage.ts'

interface Forest {
  readonly size: number
  readonly blocking: readonly boolean[]
  readonly cap: number
  readonly rounds: number | null
  readonly waits: readonly number[]
  readonly failing: readonly boolean[]
  /** How many of the offered agents are asked at once, by the number of the model call. */
  readonly asks: readonly number[]
}

const forest: fc.Arbitrary<Forest> = fc.record({
  size: fc.integer({ min: 2, max: 4 }),
  blocking: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
  cap: fc.integer({ min: 2, max: 40 }),
  rounds: fc.option(fc.integer({ min: 1, max: 30 }), { freq: 3 }),
  waits: fc.array(fc.nat(6), { minLength: 8, maxLength: 8 }),
  failing: fc.array(
    fc.nat(4).map((die) => die === 0),
    { minLength: 8, maxLength: 8 },
  ),
  asks: fc.array(fc.nat(3), { minLength: 6, maxLength: 6 }),
})

const nameOf = (index: number): string => (index === 0 ? 'root' : `w${index}`)

/** Every agent lists every other but the root: cycles of tasks that start tasks. */
function agentsOf({ size, blocking, cap, rounds }: Forest): readonly AgentDraft[] {
  return Array.from({ length: size }, (_, at): AgentDraft => {
    const others = Array.from({ length: size }, (__, to) => to).filter((to) => to !== 0 && to !== at)
    const subAgents = others.map((to) => {
      const waits = blocking[(at * size + to) % blocking.length] === true
      return { agent: nameOf(to), blocking: waits ? ('always' as const) : ('never' as const) }
    })
    return {
      id: nameOf(at),
      subAgents,
      limits: { maxModelCalls: cap, maxModelIterationsPerCall: rounds, maxDepth: 6, maxIterations: 4 },
    }
  })
}

/** What was paid for, counted where no budget can reach it: in the model. */
interface Counts {
  made: number
  failed: number
}

const isHelper = /background|sub_agent/

function playOf({ waits, failing, asks }: Forest, counts: Counts): Rule {
  return async (request) => {
    const number = counts.made
    counts.made += 1
    await settle(waits[number % waits.length])
    const isRoot = /You are root/.test(request.messages[0]?.content ?? '')
    if (!isRoot && failing[number % failing.length]) {
      counts.failed += 1
      return new Error('down')
    }
    const offered = request.tools.filter(({ name }) => !isHelper.test(name))
    const wanted = request.toolChoice === 'none' ? 0 : (asks[number % asks.length] ?? 0)
    const toolCalls = offered.slice(0, wanted).map((tool, index): ScriptedCall => {
      return { name: tool.name, arguments: { message: `${number} ${index}` } }
    })
    return toolCalls.length === 0 ? `done ${number}` : { toolCalls }
  }
}

function stageOf(one: Forest, counts: Counts, options: Parameters<typeof createStage>[0]['options'] = {}): Stage {
  const agents = agentsOf(one)
  const play = playOf(one, counts)
  return createStage({ agents, plays: Object.fromEntries(agents.map(({ id }) => [id, play])), options })
}

/** Until no run and no task is live. */
async function quiet(runtime: Runtime, until: () => boolean = () => false): Promise<void> {
  for (let round = 0; round < 20_000; round += 1) {
    if (until()) return
    const { status, tasks } = await runtime.getConversation('chats/1')
    if (status === 'idle' && tasks.length === 0) return
    await settle(1)
  }
  throw new Error('I9: the tasks do not come to an end')
}

async function modelEnds({ events }: Stage): Promise<number> {
  const all = await events('chats/1')
  assertGapFree(all)
  assertTree(all, 6)
  return all.filter(({ type, kind }) => type === 'end' && kind === 'model').length
}

test('[I10] [D13] [E55] one message and all that came of it, follow-ups too, never costs more than its cap', async (context) => {
  let tasks = 0
  let atCap = 0
  const property = fc.asyncProperty(forest, async (one) => {
    const counts: Counts = { made: 0, failed: 0 }
    const stage = stageOf(one, counts)
    for (const times of [1, 2]) {
      if (times === 1) await stage.ask('root', 'go', { id: 'chats/1' })
      else await stage.run('chats/1', { prompt: 'and again' })
      await quiet(stage.runtime)
      const paid = counts.made - counts.failed
      assert.ok(paid <= times * one.cap, `${paid} model calls of ${times} times ${one.cap}`)
      atCap += paid === times * one.cap ? 1 : 0
    }
    // What was given up in a task that failed is paid, and nobody was told.
    assert.ok((await modelEnds(stage)) <= counts.made - counts.failed)
    tasks += (await stage.runtime.tasks.list({ limit: 200 })).items.length
    assert.deepEqual(stage.reports, [])
    await stage.runtime.close()
  })
  const expected = await holds(context, property, 250)
  assert.ok(tasks > expected(500), `only ${tasks} tasks came up`)
  assert.ok(atCap > expected(10), `only ${atCap} times the cap was reached`)
})

const crash = fc.record({
  at: fc.integer({ min: 2, max: 40 }),
  moment: fc.constantFrom<CrashMoment>('before', 'after'),
})

/** Dies at an append and goes on in another process. Whether it died before it was over. */
async function overACrash(one: Forest, { at, moment }: { at: number; moment: CrashMoment }): Promise<boolean> {
  const clock = fakeClock()
  const store: Store = outliving(memoryStore({ now: clock.now }))
  const dying = crashingStore(store, at, moment)
  const first = stageOf(one, { made: 0, failed: 0 }, { clock, store: dying.store })
  void first.ask('root', 'go', { id: 'chats/1' }).catch(() => {})
  const exists = async () => (await store.getConversation('default', 'chats/1')) !== null
  for (let round = 0; round < 500 && !dying.isDead() && !(await exists()); round += 1) await settle(1)
  if (!dying.isDead()) await Promise.race([dying.crashed, quiet(first.runtime, dying.isDead)])
  clock.advance(20_000)
  const second = stageOf(one, { made: 0, failed: 0 }, { clock, store })
  await second.runtime.ready
  if (!(await exists())) return dying.isDead()
  await quiet(second.runtime)
  const stored = await modelEnds(second)
  assert.ok(stored <= one.cap, `${stored} stored model calls of ${one.cap}`)
  for (const { status } of (await second.runtime.tasks.list({ limit: 200 })).items)
    assert.ok(['completed', 'failed', 'cancelled'].includes(status), status)
  assert.deepEqual(second.reports, [])
  await second.runtime.close()
  return dying.isDead()
}

test('[I9] [I10] [E51] a crash at any append gives no task more than it had, and all comes to its end', async (context) => {
  let fired = 0
  const property = fc.asyncProperty(forest, crash, async (one, at) => {
    if (await overACrash(one, at)) fired += 1
  })
  const expected = await holds(context, property, 300)
  assert.ok(fired > expected(80), `only ${fired} crashes`)
})

test('[I9] a job that is woken while its own claim is taken up goes on', async () => {
  const t = true
  const f = false
  const one = {
    size: 3,
    blocking: [f, f, f, f, f, f, t, t, f, f, f, f],
    cap: 30,
    rounds: null,
    waits: [0, 2, 4, 4, 0, 4, 2, 2],
    failing: [t, t, t, t, f, f, f, f],
    asks: [2, 2, 2, 1, 0, 1],
  }
  for (let at = 20; at < 50; at += 1) await overACrash(one, { at, moment: 'before' })
})
