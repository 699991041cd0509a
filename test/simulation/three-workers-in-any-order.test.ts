/** Three workers on one store: whoever goes on when, crashes, stands still or comes back late, the log stays one story. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { type Apart, openApart } from '../support/apart.ts'
import { drawsOf, repeats, type Runs } from '../support/seeds.ts'
import { fixedSeed, type Regression, type ScheduleOptions, type Simulated } from './rig/rounds.ts'
import type { Tally } from './rig/scene.ts'

const timeout = 1_200_000
const folder = join(import.meta.dirname, '../regressions')

/** Where the schedules are played. */
let apart: Apart

function runSchedules(seed: number, runs: number, options: ScheduleOptions): Promise<Simulated> {
  return apart.run(import.meta.resolve('./rig/rounds.ts'), 'runSchedules', seed, runs, options)
}

/** Plays schedules of each seed; what they came to is the sum, which says nothing where a failure is repeated: null. */
async function hold(context: TestContext, runs: Runs, of: ScheduleOptions['of'] = 'all') {
  const sum: Tally = { crashes: 0, freezes: 0, thaws: 0, fenced: 0, recovered: 0 }
  for (const { seed, runs: schedules, path } of drawsOf(context, runs, fixedSeed)) {
    const at = path === undefined ? {} : { path }
    const { schedules: played, tally, failure } = await runSchedules(seed, schedules, { of, ...at })
    context.diagnostic(`seed ${seed}: ${played} schedules, ${JSON.stringify(tally)}`)
    for (const name of Object.keys(sum) as (keyof Tally)[]) sum[name] += tally[name]
    if (failure !== null) assert.fail(`${failure.what}\n\nRepeat it with:\n${repeats(context, failure)}`)
    if (path !== undefined) return null
  }
  return sum
}

describe('three workers', () => {
  before(() => {
    apart = openApart()
  })
  after(() => apart.close())

  test('[I1] [I2] [I3] [I4] [I6] [I7] [I8] [I9] [I11] [I18] [D5] schedules of a fixed seed, and of a seed of the day', {
    timeout,
  }, async (context) => {
    const tally = await hold(context, { all: 600, quick: 300, ofTheDay: 300 })
    // [I17] Every fault came about, and late writes were refused.
    for (const [name, times] of Object.entries(tally ?? {})) assert.ok(times > 50, `${name} only ${times} times`)
  })

  test('[I18] [F22] [E55] schedules of tasks that start tasks', { timeout }, async (context) => {
    await hold(context, { all: 200, quick: 100, ofTheDay: 100 }, 'tasks')
  })

  for (const name of readdirSync(folder)
    .filter((one) => one.endsWith('.json'))
    .sort()) {
    test(`[I16] a story that went wrong once: ${name}`, async () => {
      const { seed, path, of = 'all' } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Regression
      const { schedules: played, failure } = await runSchedules(seed, 1, { path, of })
      assert.equal(failure, null)
      assert.ok(played > 0)
    })
  }
})
