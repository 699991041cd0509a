/**
 * A task hands over to an agent. The budget refuses that agent's first model call, so the task fails. Wherever the process dies, the next one
 * ends the task: the entries that close its calls are never stored without its end, because only the end shows that it failed.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '@witan/core'
import { fakeClock } from '../support/clock.ts'
import { type CrashMoment, crashingStore } from '../support/crashing-store.ts'
import { quiet } from '../support/random-tasks.ts'
import { outliving } from '../support/reopen.ts'
import { settle, type Stage } from '../support/stage.ts'
import { stageOfFailingTask } from './support/failing-task.ts'

/** Tells the story, in another process after a death at append `at`; 0 does not die. Gives the number of appends, and how the task ended. */
async function tell(at: number, moment: CrashMoment) {
  const clock = fakeClock()
  const inner = outliving(memoryStore({ now: clock.now }))
  let appends = 0
  for (const death of at === 0 ? [0] : [at, 0]) {
    const { store, crashed, isDead, ...crashing } = crashingStore(inner, death, moment)
    const stage = stageOfFailingTask(store, clock)
    if (death === at) await Promise.race([stage.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' }), crashed])
    else await stage.runtime.ready
    await Promise.race([atRest(stage, clock), crashed])
    appends = crashing.appends()
    if (isDead()) clock.advance(60_000)
    else return { appends, ended: await endOfTask(stage) }
  }
  throw new Error('the last process did not come to the end')
}

/** A job that may have ended its process waits for the next round of the worker. */
async function atRest(stage: Stage, clock: ReturnType<typeof fakeClock>): Promise<void> {
  await settle(5)
  let isOver = false
  const over = quiet(stage).finally(() => {
    isOver = true
  })
  while (!isOver) {
    await Promise.race([over, settle(50)])
    if (!isOver) clock.advance(5_000)
  }
  await over
}

async function endOfTask({ runtime, events }: Stage): Promise<readonly unknown[]> {
  const told = await events('chats/1')
  await runtime.close()
  return told.flatMap(({ type, content }) => (type === 'task' ? [content['status']] : [])).slice(-1)
}

test('[I9] a task that fails after a hand-over ends, wherever its process dies', async () => {
  const calm = await tell(0, 'before')
  assert.deepEqual(calm.ended, ['failed'])
  for (const moment of ['before', 'after'] as const)
    for (let at = 2; at <= calm.appends; at += 1)
      assert.deepEqual((await tell(at, moment)).ended, ['failed'], `append ${at}, ${moment}`)
})
