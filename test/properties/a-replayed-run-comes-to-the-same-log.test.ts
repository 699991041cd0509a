/** Tb29: any system's export, played again without its models, comes to the same log, also if its process died on the way. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { memoryStore, type Runtime, type Store } from '@witan/core'
import { readReplaySource, replay, type ReplayReport } from '@witan/core/export'
import type { Entry } from '@witan/protocol/entries'
import fc from 'fast-check'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import { crashingStore } from '../support/crashing-store.ts'
import {
  givenTo,
  note,
  randomPlay,
  type RandomSystem,
  randomSystem,
  toTheEnd,
  definedBy,
} from '../support/random-system.ts'
import { commands, send } from '../support/random-commands.ts'
import { playWithTasks, quiet, systemWithTasks } from '../support/random-tasks.ts'
import { outliving } from '../support/reopen.ts'
import { holds } from '../support/seeds.ts'
import { createStage, settle, type Stage } from '../support/stage.ts'

interface Staging {
  readonly clock?: FakeClock
  readonly rule?: typeof randomPlay
}

function staged(system: RandomSystem, store: Store, { clock = fakeClock(), rule = randomPlay }: Staging = {}): Stage {
  const play = rule(system.seed)
  const plays = Object.fromEntries(system.agents.map(({ id }) => [id, play]))
  const options = { tools: [note], ...definedBy(system), store, clock }
  return createStage({ agents: system.agents, plays, options })
}

const start = (system: RandomSystem) => ({ id: 'chats/1', parameters: givenTo(system) })

const placeOf = ({ job, appendNo }: Entry) => `${job} ${appendNo}`

/** What is said in an entry. A replay follows a log that says it in other words; the same version says it in the same ones. */
const wordsIn = ({ body }: Entry) => ('detail' in body ? body.detail : null)

/** The entries that a replay has stored. */
async function storedBy({ store, database, conversation }: Pick<ReplayReport, 'store' | 'database' | 'conversation'>) {
  return (await store.readSnapshot(database, conversation))?.entries ?? []
}

/** Replays the export of the conversation to the same entries, stored in the same order. */
async function comesAgain(runtime: Runtime): Promise<{ readonly hasCrash: boolean }> {
  const lines: string[] = []
  for await (const line of runtime.exportConversation('chats/1')) lines.push(line)
  const source = await readReplaySource(ReadableStream.from(lines))
  const { difference, entries, ...report } = await replay(source)
  if (difference !== null) assert.fail(`${keep(lines)} differs at seq ${difference.seq}`)
  assert.equal(entries, source.whole.entries.length)
  const again = await storedBy(report)
  for (const part of [placeOf, wordsIn]) assert.deepEqual(again.map(part), source.whole.entries.map(part))
  return { hasCrash: source.whole.entries.some(({ type, body }) => type === 'notice' && body.code === 'RUN_RECOVERED') }
}

/** Keeps a log that shows a difference: another run of the same seed has other logs, since ids and moments are chance. */
function keep(lines: readonly string[]): string {
  const file = join(tmpdir(), `witan-difference-${process.pid}.jsonl`)
  writeFileSync(file, `${lines.join('\n')}\n`)
  return file
}

test('[P16] [Tb29] a random system, exported and replayed, comes to the same log', async (context) => {
  const property = fc.asyncProperty(randomSystem, async (system) => {
    const stage = staged(system, memoryStore())
    await toTheEnd(stage.runtime, await stage.ask('a', 'go', start(system)))
    await toTheEnd(stage.runtime, await stage.run('chats/1', { prompt: 'and again' }))
    await comesAgain(stage.runtime)
    await stage.runtime.close()
  })
  await holds(context, property, 250)
})

/** Tells the story of a system whose process dies at one append after the other; 0 does not die. */
async function withDeaths(system: RandomSystem, deaths: readonly number[], rule = randomPlay): Promise<Runtime> {
  const clock = fakeClock()
  const inner = outliving(memoryStore({ now: clock.now }))
  for (const [life, at] of [...deaths, 0].entries()) {
    const { store, crashed, isDead } = crashingStore(inner, at, life % 2 === 0 ? 'after' : 'before')
    const stage = staged(system, store, { clock, rule })
    const { runtime } = stage
    if (life === 0) await Promise.race([runtime.start({ agent: 'a', prompt: 'go', ...start(system) }), crashed])
    else await Promise.race([runtime.ready, crashed])
    await settle(5)
    await whileTimePasses(clock, Promise.race([quiet(stage), crashed]))
    if (!isDead()) return runtime
    clock.advance(60_000)
  }
  throw new Error('the last process did not come to the end')
}

/** A job that may have ended its process waits for the next round of the worker. */
async function whileTimePasses(clock: FakeClock, done: Promise<void>): Promise<void> {
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

/** What is played: the systems, their models, and how many runs of them. */
interface Trial {
  readonly systems: fc.Arbitrary<RandomSystem>
  readonly rule: typeof randomPlay
  readonly runs: number
}

const plain = { systems: randomSystem, rule: randomPlay, runs: 100 }
const tasks = { systems: systemWithTasks, rule: playWithTasks, runs: 60 }

async function comeAgainAfterDeaths(context: TestContext, { systems, rule, runs }: Trial): Promise<void> {
  let crashes = 0
  const deaths = fc.tuple(fc.integer({ min: 2, max: 12 }), fc.integer({ min: 1, max: 6 }))
  const property = fc.asyncProperty(systems, deaths, async (system, at) => {
    const runtime = await withDeaths(system, at, rule)
    if ((await comesAgain(runtime)).hasCrash) crashes += 1
    await runtime.close()
  })
  const expected = await holds(context, property, runs)
  assert.ok(crashes > expected(runs / 7), `only ${crashes} logs have a crash`)
}

test('[Tb29] a run whose process died comes to the same log, with the same takeovers', (context) =>
  comeAgainAfterDeaths(context, plain))

test('[Tb29] a run with tasks whose process died comes to the same log, with the same takeovers', (context) =>
  comeAgainAfterDeaths(context, tasks))

/** Checks that systems come to the same log, whatever is sent to them while they work. */
async function comeAgainAfter(
  context: TestContext,
  list: typeof commands,
  { systems, rule, runs }: Trial,
): Promise<void> {
  const property = fc.asyncProperty(systems, list, async (system, commands) => {
    const stage = staged(system, memoryStore(), { rule })
    await stage.runtime.start({ agent: 'a', prompt: 'go', ...start(system) })
    const sent: Promise<void>[] = []
    for (const { kind, after } of commands) {
      await settle(after)
      sent.push(send(stage.runtime, kind).catch(() => {}))
    }
    await Promise.all(sent)
    await quiet(stage)
    await comesAgain(stage.runtime)
    await stage.runtime.close()
  })
  await holds(context, property, runs)
}

test('[Tb29] a random system with tasks comes to the same log', (context) =>
  comeAgainAfter(context, fc.constant([]), tasks))

test('[Tb29] commands at any moment come in an order that leads to the same log', (context) =>
  comeAgainAfter(context, commands, plain))

test('[Tb29] commands at any moment to a system with tasks come in an order that leads to the same log', (context) =>
  comeAgainAfter(context, commands, tasks))

/** Checks systems that are worked on by two processes, each of which gets commands. */
async function comeAgainFromTwo(context: TestContext, { systems, rule, runs }: Trial): Promise<void> {
  const property = fc.asyncProperty(systems, commands, async (system, commands) => {
    const clock = fakeClock()
    const inner = outliving(memoryStore({ now: clock.now }))
    const stage = staged(system, inner, { clock, rule })
    const other = staged(system, inner, { clock, rule })
    await stage.runtime.ready
    await other.runtime.ready
    await stage.runtime.start({ agent: 'a', prompt: 'go', ...start(system) })
    const sent: Promise<void>[] = []
    for (const [at, { kind, after }] of commands.entries()) {
      await settle(after)
      if (at % 3 === 2) clock.advance(5_000)
      sent.push(send(at % 2 === 0 ? other.runtime : stage.runtime, kind).catch(() => {}))
    }
    const done = Promise.all(sent).then(() => quiet(stage))
    await whileTimePasses(clock, done)
    await comesAgain(stage.runtime)
    await stage.runtime.close()
    await other.runtime.close()
  })
  await holds(context, property, runs)
}

test('[O3] [Tb29] two processes with commands come to the same log in one', (context) =>
  comeAgainFromTwo(context, plain))

test('[O3] [Tb29] two processes with tasks and commands come to the same log in one', (context) =>
  comeAgainFromTwo(context, tasks))
