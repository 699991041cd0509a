/** The Studio is files that the server serves at `/`, under a content security policy that allows only that server. */
import { createRuntime } from '@witan/core'
import { createApp, createAuth, createLog } from '@witan/server'
import { studioFolder } from '@witan/studio'

const runtime = createRuntime()
const stop = new AbortController()
const app = createApp({
  runtime,
  auth: createAuth('local', () => 80),
  hosts: { port: () => 80, allowed: [] },
  log: createLog('silent'),
  stop: { streams: stop.signal, waits: stop.signal },
  studio: studioFolder,
})
const get = async (path: string, headers: Record<string, string> = {}) =>
  app.fetch(new Request(`http://localhost${path}`, { headers: { host: 'localhost', ...headers } }))

const page = await get('/agents')
console.log(page.status, page.headers.get('content-type'))
console.log(page.headers.get('content-security-policy')?.split('; ')[0])
console.log('its data needs the token:', (await get('/api/v1/agents')).status)
console.log('another name for this machine:', (await get('/', { host: 'evil.test' })).status)
stop.abort()
await runtime.close()
