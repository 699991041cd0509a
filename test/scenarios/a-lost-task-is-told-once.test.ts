/** Tasks whose owner is lost: whoever reads along is told each status once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import { agent, allEvents, cast, playerOf, until } from '../support/stage.ts'

test('a task that is taken over is not told as running a second time', async (context) => {
  let now = Date.UTC(2026, 0, 1)
  const store = memoryStore({ now: () => now })
  const agents = [agent('root', { subAgents: [{ agent: 'clerk', blocking: 'never' }] }), agent('clerk')]
  const open = async (isLost: boolean) => {
    const plays = cast({ root: isLost ? [call('clerk', { message: 'work' }), 'done'] : ['heard'], clerk: ['worked'] })
    const model = scriptedModel((request, turn) =>
      isLost && playerOf(request) === 'clerk' ? new Promise<never>(() => {}) : plays(request, turn),
    )
    const runtime = createRuntime({
      store: memoryStore({ beside: store }),
      agents,
      models: { 'play/model': model },
      retry: { tries: 1 },
    })
    context.after(() => runtime.close())
    await runtime.ready
    return { runtime, requests: model.requests }
  }
  const first = await open(true)
  const { run } = await first.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
  assert.equal((await run?.result)?.status, 'completed')
  await until(() => first.requests.some((request) => playerOf(request) === 'clerk'))
  now += 60_000
  const { runtime } = await open(false)
  await until(async () => (await runtime.getConversation('chats/1')).tasks.length === 0)
  const events = await allEvents(runtime, 'chats/1')
  assert.equal(events.filter(({ content }) => content['code'] === 'RUN_RECOVERED').length, 1)
  const told = events.flatMap(({ type, content }) => (type === 'task' ? [content['status']] : []))
  assert.deepEqual(told, ['queued', 'running', 'completed'])
})
