/** The line above a run that says that a script answers: by what the model is, never by its name. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '@witan/client'
import { createRuntime, type Model } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { createApp, createAuth, createLog } from '@witan/server'
import { scriptNotice } from './welcome.ts'

test('agents whose model is a script are named, whatever the model is called', async () => {
  const script = scriptedModel(() => 'x', { id: 'openai/like-a-model' })
  const live: Model = { id: 'scripted/by-name-only', stream: script.stream }
  const runtime = createRuntime({
    models: { [script.id]: script, [live.id]: live },
    agents: [
      { id: 'front', model: live.id, instructions: 'x', subAgents: [{ agent: 'back' }] },
      { id: 'back', model: script.id, instructions: 'x' },
      { id: 'alone', model: live.id, instructions: 'x' },
    ],
  })
  const { signal } = new AbortController()
  const app = createApp({
    runtime,
    auth: createAuth('none', () => 80),
    hosts: { port: () => 80, allowed: [] },
    log: createLog('silent'),
    stop: { streams: signal, waits: signal },
    studio: new URL('about:blank'),
  })
  const client = createClient({
    url: 'http://localhost',
    fetch: async (url, init) => app.fetch(new Request(url, init)),
  })
  assert.match((await scriptNotice(client, 'front')) ?? '', /^back answer.*no language model is called/)
  assert.match((await scriptNotice(client, 'back')) ?? '', /^The agents answer/)
  assert.equal(await scriptNotice(client, 'alone'), null)
  client.close()
  await runtime.close()
})
