/** Conditions of agents on other servers over the client: a run waits with them, its view shows them, and each is met or declined by its id. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, createConversationFold } from '@witan/client'
import { createRuntime } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { createApp, createAuth, createLog } from '@witan/server'
import { fakeClock } from '../support/clock.ts'
import { callerOf, playedRemote } from '../support/played-remote.ts'
import { until } from '../support/stage.ts'

const words = (name: string) => ({
  type: 'policy',
  policy: { kind: 'payment_required', message: `${name}?` },
  state: name,
})

test('[C21] [M21] a condition is shown with who set it, and met or declined; the run goes on', async () => {
  const played = playedRemote(({ turn, parts }) =>
    turn === 0
      ? {
          state: 'INPUT_REQUIRED',
          parts: [{ data: words(JSON.stringify(parts).includes('one') ? 'one' : 'two') }],
          usage: undefined,
        }
      : { state: 'COMPLETED', parts: [{ text: 'paid' }], usage: undefined },
  )
  const remotes = ['one', 'two'].map((name) => ({ name, address: `@${name}@b.test`, description: 'Sells.' }))
  const model = scriptedModel((request) => {
    if (request.messages.at(-1)?.role === 'tool') return toolResults(request).join(' + ')
    return { toolCalls: remotes.flatMap(({ name }) => call(name, { message: name }).toolCalls ?? []) }
  })
  const runtime = createRuntime({
    remotes: callerOf(played, { clock: fakeClock(), isIdempotent: true }),
    domains: { 'a.test': 'default' },
    models: { 'play/desk': model },
    agents: [{ id: 'desk', model: 'play/desk', instructions: 'Buy.', remotes }],
  })
  const stop = new AbortController()
  const app = createApp({
    runtime,
    auth: createAuth('none', () => 80),
    hosts: { port: () => 80, allowed: [] },
    log: createLog('silent'),
    stop: { streams: stop.signal, waits: stop.signal },
    studio: new URL('about:blank'),
  })
  const client = createClient({
    url: 'http://localhost',
    fetch: async (url, init) => app.fetch(new Request(url, init)),
  })
  const chat = client.conversation('desk', { id: 'chats/1' })
  const { view, take } = createConversationFold()
  const stream = chat.stream('go', { verbose: true })
  for await (const event of stream) take(event)
  const { status, interruptions } = await stream.result()
  assert.equal(status, 'waiting')
  const shown = interruptions.map((one) => (one.kind === 'policy' ? [one.issuer, one.path, one.policy['message']] : []))
  assert.deepEqual(shown, [
    ['@one@b.test', 'one', 'one?'],
    ['@two@b.test', 'two', 'two?'],
  ])
  const asked = [...view.calls.values()].flatMap((one) => one.asked)
  assert.deepEqual(
    asked.map(({ interruption, state }) => `${interruption.kind} ${state}`),
    ['policy open', 'policy open'],
  )
  const [first, second] = interruptions
  await client.interruptions.answer(first?.id ?? '', { answer: { resolution: { paid: true } } })
  await client.interruptions.answer(second?.id ?? '', { answer: { decision: 'declined' } })
  await until(async () => (await client.conversations.get('chats/1')).activeRunId === null)
  const { runs } = await client.conversations.get('chats/1')
  const { result } = await client.runs.get(runs[0]?.runId ?? '')
  assert.match(result?.text ?? '', /paid \+ .*condition was declined/)
  client.close()
  stop.abort()
  await runtime.close()
})
