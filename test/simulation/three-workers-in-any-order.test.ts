/** Three workers on one store: whoever goes on when, crashes, stands still or comes back late, the log stays one story. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { type Apart, openApart } from '../support/apart.ts'
import { seedOfTheDay } from '../support/seeds.ts'
import { fixedSeed, type Regression, type ScheduleOptions, type Simulated } from './rig/rounds.ts'

const timeout = 1_200_000
const schedules = 2_000
const folder = join(import.meta.dirname, '../regressions')

interface Schedules extends Pick<ScheduleOptions, 'of'> {
  readonly seed: number
  readonly runs: number
}

/** Where the schedules are played. */
let apart: Apart

function runSchedules(seed: number, runs: number, options: ScheduleOptions): Promise<Simulated> {
  return apart.run(import.meta.resolve('./rig/rounds.ts'), 'runSchedules', seed, runs, options)
}

async function hold(context: TestContext, { seed, runs, of = 'all' }: Schedules) {
  const { schedules: played, tally, failure } = await runSchedules(seed, runs, { of })
  context.diagnostic(`seed ${seed}: ${played} schedules, ${JSON.stringify(tally)}`)
  assert.equal(failure, null)
  return tally
}

describe('three workers', () => {
  before(() => {
    apart = openApart()
  })
  after(() => apart.close())

  test('[I1] [I2] [I3] [I4] [I6] [I7] [I8] [I9] [I11] [I18] [D5] 2,000 schedules of a fixed seed', {
    timeout,
  }, async (context) => {
    const tally = await hold(context, { seed: fixedSeed, runs: schedules })
    // [I17] Every fault came about, and late writes were refused.
    for (const [name, times] of Object.entries(tally)) assert.ok(times > 50, `${name} only ${times} times`)
  })

  test('[I9] [D5] some schedules of a seed of the day', { timeout }, async (context) => {
    await hold(context, { seed: seedOfTheDay(), runs: schedules / 10 })
  })

  test('[I18] [F22] [E55] schedules of tasks that start tasks', { timeout }, async (context) => {
    await hold(context, { seed: fixedSeed, runs: schedules / 5, of: 'tasks' })
    await hold(context, { seed: seedOfTheDay(), runs: schedules / 20, of: 'tasks' })
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
