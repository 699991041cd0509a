/** What a model was asked is computed from the log, whatever came meanwhile: commands, tasks, deaths of the process, another process. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { memoryStore, type ModelRequest, type Store } from '@witan/core'
import { systemText } from '@witan/core/testing'
import fc from 'fast-check'
import { assertAsked, modelCallsOf } from '../support/asked.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import { crashingStore } from '../support/crashing-store.ts'
import { commands, send } from '../support/random-commands.ts'
import { givenTo, note, randomPlay, type RandomSystem, randomSystem, definedBy } from '../support/random-system.ts'
import { playWithTasks, quiet, systemWithTasks } from '../support/random-tasks.ts'
import { outliving } from '../support/reopen.ts'
import { holds } from '../support/seeds.ts'
import { createStage, settle, type Stage } from '../support/stage.ts'

interface Trial {
  readonly systems: fc.Arbitrary<RandomSystem>
  readonly rule: typeof randomPlay
  readonly runs: number
}

const plain: Trial = { systems: randomSystem, rule: randomPlay, runs: 120 }
const tasks: Trial = { systems: systemWithTasks, rule: playWithTasks, runs: 120 }

function staged(
  system: RandomSystem,
  store: Store,
  of: { readonly clock: FakeClock; readonly rule: typeof randomPlay },
): Stage {
  const play = of.rule(system.seed)
  const plays = Object.fromEntries(system.agents.map(({ id }) => [id, play]))
  const options = { tools: [note], ...definedBy(system), store, clock: of.clock }
  return createStage({ agents: system.agents, plays, options })
}

const start = (system: RandomSystem) => ({ agent: 'a', prompt: 'go', id: 'chats/1', parameters: givenTo(system) })

/** Requests for progress have other words. */
const isAnswer = (request: ModelRequest) => /^You are [a-e]\./.test(systemText(request))

async function whileTimePasses(clock: FakeClock, done: Promise<unknown>): Promise<void> {
  let isOver = false
  const over = done.finally(() => {
    isOver = true
  })
  while (!isOver) {
    await Promise.race([over, settle(100)])
    if (!isOver) clock.advance(5_000)
  }
  await over
}

/** One or two processes, each with commands. */
async function afterCommands(context: TestContext, { systems, rule, runs }: Trial, processes: 1 | 2): Promise<void> {
  let compared = 0
  const property = fc.asyncProperty(systems, commands, async (system, list) => {
    const clock = fakeClock()
    const store = outliving(memoryStore({ now: clock.now }))
    const stages = Array.from({ length: processes }, () => staged(system, store, { clock, rule }))
    const [one, other = one] = stages as [Stage, Stage?]
    for (const { runtime } of stages) await runtime.ready
    await one.runtime.start(start(system))
    const sent: Promise<void>[] = []
    for (const [at, { kind, after }] of list.entries()) {
      await settle(after)
      if (processes === 2 && at % 3 === 2) clock.advance(5_000)
      sent.push(send((at % 2 === 0 ? other : one).runtime, kind).catch(() => {}))
    }
    const done = Promise.all(sent).then(() => quiet(one))
    if (processes === 1) await done
    else await whileTimePasses(clock, done)
    const calls = await modelCallsOf(one.runtime, 'chats/1')
    compared += assertAsked(
      calls,
      stages.flatMap(({ requests }) => requests),
      { isAnswer },
    ).calls
    assert.deepEqual(await modelCallsOf(other.runtime, 'chats/1'), calls)
    const { lastSeq } = await one.runtime.getConversation('chats/1')
    await one.runtime.forkConversation('chats/1', { seq: lastSeq, id: 'forks/1' })
    const copied: unknown = JSON.parse(JSON.stringify(calls).replaceAll('"chats/1', '"forks/1'))
    assert.deepEqual(await modelCallsOf(other.runtime, 'forks/1'), copied, 'a fork says the same of what it copied')
    for (const { runtime } of stages) await runtime.close()
  })
  const expected = await holds(context, property, { all: runs, quick: 20 })
  assert.ok(compared > expected(runs), `only ${compared} model calls were compared`)
  context.diagnostic(`${compared} model calls`)
}

test('commands at any moment change nothing of what is computed', (context) => afterCommands(context, plain, 1))
test('nor do tasks with commands', (context) => afterCommands(context, tasks, 1))
test('nor do two processes with commands', (context) => afterCommands(context, plain, 2))
test('nor do two processes with tasks and commands', (context) => afterCommands(context, tasks, 2))

/** A process that dies at one append after the other. */
async function afterDeaths(context: TestContext, { systems, rule, runs }: Trial): Promise<void> {
  let compared = 0
  const deaths = fc.tuple(fc.integer({ min: 2, max: 12 }), fc.integer({ min: 1, max: 6 }))
  const property = fc.asyncProperty(systems, deaths, async (system, at) => {
    const clock = fakeClock()
    const inner = outliving(memoryStore({ now: clock.now }))
    const got: ModelRequest[] = []
    for (const [life, dies] of [...at, 0].entries()) {
      const { store, crashed, isDead } = crashingStore(inner, dies, life % 2 === 0 ? 'after' : 'before')
      const stage = staged(system, store, { clock, rule })
      if (life === 0) await Promise.race([stage.runtime.start(start(system)), crashed])
      else await Promise.race([stage.runtime.ready, crashed])
      await settle(5)
      await whileTimePasses(clock, Promise.race([quiet(stage), crashed]))
      got.push(...stage.requests)
      if (isDead()) {
        clock.advance(60_000)
        continue
      }
      const calls = await modelCallsOf(stage.runtime, 'chats/1')
      compared += assertAsked(calls, got, { isAnswer, mayBeLost: true }).calls
      await stage.runtime.close()
      return
    }
  })
  const expected = await holds(context, property, { all: runs, quick: 20 })
  assert.ok(compared > expected(runs), `only ${compared} model calls were compared`)
  context.diagnostic(`${compared} model calls`)
}

test('nor does a process that dies', (context) => afterDeaths(context, plain))
test('nor does a process that dies with tasks', (context) => afterDeaths(context, tasks))
