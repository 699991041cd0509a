/**
 * A task fails, and the store refuses its end since something has arrived. Before the task can end again, its process is closed in order. The
 * entries that close its calls are not stored alone: the task ends as failed, here or in the next process.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore, type Store } from '@witan/core'
import { fakeClock } from '../support/clock.ts'
import { quiet } from '../support/random-tasks.ts'
import { outliving } from '../support/reopen.ts'
import { settle } from '../support/stage.ts'
import { stageOfFailingTask } from './support/failing-task.ts'

/** A store that refuses the first end of a failed job, and then holds what the job reads next until `goOn` is called. */
function refusingOneEnd(inner: Store) {
  const refused = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  let isRefused = false
  const append: Store['append'] = async (member) => {
    const isEnd = member.jobs?.some((change) => change.kind === 'rest' && change.status === 'failed') ?? false
    if (!isEnd || isRefused) return inner.append(member)
    isRefused = true
    return { ok: false, reason: 'moved', job: null }
  }
  const readEntries: Store['readEntries'] = async (...where) => {
    if (isRefused) {
      refused.resolve()
      await goOn.promise
    }
    return inner.readEntries(...where)
  }
  return { store: { ...inner, append, readEntries } satisfies Store, refused: refused.promise, goOn: goOn.resolve }
}

test('[I9] a failed task whose end is refused as its process closes ends as failed', async () => {
  const clock = fakeClock()
  const inner = outliving(memoryStore({ now: clock.now }))
  const { store, refused, goOn } = refusingOneEnd(inner)
  const first = stageOfFailingTask(store, clock)
  await first.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
  await refused
  const closed = first.runtime.close()
  await settle(5)
  goOn()
  await settle(5)
  clock.advance(10_000)
  await closed

  const second = stageOfFailingTask(inner, clock)
  await second.runtime.ready
  await settle(20)
  clock.advance(5_000)
  await quiet(second)
  const told = await second.events('chats/1')
  const ends = told.flatMap(({ type, content }) => (type === 'task' ? [content['status']] : []))
  assert.equal(ends.at(-1), 'failed')
  const detail = told.flatMap(({ type, content }) => (type === 'error' ? [String(content['detail'])] : [])).at(-1)
  assert.match(detail ?? '', /modelCalls/)
  await second.runtime.close()
})
