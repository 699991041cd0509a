/** A tool that takes too long is aborted, and its model reads so. A tool that ignores the abort is not waited for [D10]. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defineTool } from '@witan/core'
import { call } from '@witan/core/testing'
import { z } from 'zod'
import { allEvents, createStage, until } from '../support/stage.ts'

/** An agent with one tool that never returns when it is called first; it notes the signal of each call. */
function staged(timeoutMs: number, effect: 'none' | 'once') {
  const signals: AbortSignal[] = []
  const slow = defineTool({
    name: 'slow',
    description: 'Never returns.',
    parameters: z.object({}),
    effect,
    timeoutMs,
    execute(_, { signal }) {
      signals.push(signal)
      return signals.length > 1 ? 'called again' : new Promise(() => {})
    },
  })
  const stage = createStage({
    agents: [{ id: 'root', tools: ['slow'] }],
    options: { tools: [slow] },
    plays: { root: [call('slow', {}), 'It did not answer.'] },
  })
  return { ...stage, signals }
}

describe('[D10] a tool that never returns', () => {
  for (const effect of ['none', 'once'] as const)
    test(`is aborted when its time is up, and the run goes on (effect: ${effect})`, async () => {
      const { ask, requests, signals, runtime } = staged(20, effect)
      const result = await ask('root', 'Go.')
      assert.equal(result.text, 'It did not answer.')
      const read = '{"error":"`slow` took longer than 20 ms and was stopped."}'
      assert.equal(requests[1]?.messages.at(-1)?.content, read)
      assert.equal(signals[0]?.aborted, true)
      await runtime.close()
    })

  test('is aborted by a cancel, and the run ends without its result', async () => {
    const { runtime, signals } = staged(60_000, 'none')
    const { id, run } = await runtime.start({ agent: 'root', prompt: 'Go.' })
    await until(() => signals.length === 1)
    await runtime.cancelRun(run?.runId ?? '')
    assert.equal((await run?.result)?.status, 'cancelled')
    assert.equal(signals[0]?.aborted, true)
    const errors = (await allEvents(runtime, id)).filter(({ type, kind }) => type === 'error' && kind === 'tool')
    assert.deepEqual(
      errors.map(({ content }) => content['code']),
      ['RUN_CANCELLED'],
    )
    await runtime.close()
  })
})
