/** The HTTP application without a socket: an agent is saved and run, and a mistake is answered as a problem. */
import { createRuntime } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { createApp, createAuth, createLog } from '@witan/server'

const runtime = createRuntime({ models: { 'demo/any': scriptedModel(() => 'Good morning.') } })
const stop = new AbortController()
const app = createApp({
  runtime,
  auth: createAuth('none', () => 80),
  hosts: { port: () => 80, allowed: [] },
  log: createLog('silent'),
  stop: { streams: stop.signal, waits: stop.signal },
  studio: new URL('about:blank'),
})
const send = (method: string, path: string, body: unknown) =>
  app.fetch(
    new Request(`http://localhost/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  )

const saved = await send('PUT', '/agents/greeter', { id: 'greeter', model: 'demo/any', instructions: 'Greet.' })
console.log(saved.status, saved.headers.get('etag'))
const started = await send('POST', '/conversations', { agent: 'greeter', id: 'chats/1', prompt: 'Hello' })
const { id, run } = (await started.json()) as { id: string; run: { status: string; text: string } }
console.log(started.status, id, run.status, run.text)
const refused = await send('POST', '/conversations', { agent: 'greeter', parameters: { usr: 'x' } })
const { code, detail, path } = (await refused.json()) as { code: string; detail: string; path: string }
console.log(refused.status, code, path, '–', detail)
stop.abort()
await runtime.close()
