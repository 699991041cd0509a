/** The trace of a run that calls an agent on another server has a span of that call, with what was said, and without content as well. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call } from '@witan/core/testing'
import { createCollector } from '../acceptance/support/collector.ts'
import { fakeClock } from '../support/clock.ts'
import { callerOf, playedRemote } from '../support/played-remote.ts'
import { createStage, until } from '../support/stage.ts'

for (const content of ['none', 'full'] as const)
  for (const blocking of ['always', 'never'] as const)
    test(`[C32] a call of another server, blocking ${blocking}, is in its trace with content ${content}`, async () => {
      const collector = await createCollector()
      const clock = fakeClock()
      const remote = playedRemote(() => ({ state: 'COMPLETED', parts: [{ text: 'In the cellar.' }] }))
      const stage = createStage({
        agents: [{ id: 'desk', remotes: [{ name: 'docs', address: '@docs@b.test', description: 'Knows.', blocking }] }],
        plays: {
          desk: (request, at) =>
            at === 0 && request.messages.length < 4 ? call('docs', { message: 'Where?' }) : 'done',
        },
        options: {
          ...{ clock, remotes: callerOf(remote, { clock, isIdempotent: true }) },
          telemetry: { otlp: { url: collector.url, content, protocol: 'http/json' } },
        },
      })
      await stage.ask('desk', 'go', { id: 'chats/1' })
      await until(async () => {
        const { status, runs } = await stage.runtime.getConversation('chats/1')
        return status === 'idle' && runs.length === (blocking === 'always' ? 1 : 2)
      })
      await stage.runtime.close()
      const spans = collector.spans()
      await collector.close()
      assert.deepEqual(stage.reports, [])
      const [span] = spans.filter(({ name }) => name === 'invoke_agent @docs@b.test')
      assert.deepEqual([span?.attributes['gen_ai.agent.name'], span?.status.code ?? 0], ['@docs@b.test', 0])
      const said = JSON.stringify(span?.attributes)
      assert.deepEqual(
        [said.includes('Where?'), said.includes('In the cellar.')],
        [content === 'full', content === 'full'],
      )
    })
