/** Two people of one database and one of another, each with a key: the same ids lead each into their own database. */
import { createRuntime, localPrincipal } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import type { DatabaseId } from '@witan/protocol'
import { createApp, createKeyAuth, createLog } from '@witan/server'

const agents = [{ id: 'desk', model: 'demo/any', instructions: 'Help.' }]
const runtime = createRuntime({ models: { 'demo/any': scriptedModel(() => 'Good morning.') }, agents })
const stop = new AbortController()
const auth = createKeyAuth({ lookup: runtime.keyLookup, port: () => 80, log: createLog('warn') })
const app = createApp({
  runtime,
  auth,
  hosts: { port: () => 80, allowed: [] },
  log: createLog('silent'),
  stop: { streams: stop.signal, waits: stop.signal },
  studio: new URL('about:blank'),
})
const send = async (key: string, path: string, body?: object) => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const init = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) }
  const reply = await app.fetch(new Request(`http://localhost/api/v1${path}`, init))
  const said = (await reply.json()) as Partial<Record<'database' | 'id' | 'code' | 'detail', string>>
  return { ...said, status: reply.status }
}
const keysOf = (database: string) => runtime.as({ ...localPrincipal, database: database as DatabaseId }).keys

const anna = await keysOf('shop').create({ id: 'user:anna', roles: ['run'], name: "Anna's phone" })
const bob = await keysOf('shop').create({ id: 'user:bob', roles: ['run'] })
const carl = await keysOf('lab').create({ id: 'user:carl', roles: ['run'] })
for (const { key } of [anna, carl]) {
  const { database, id } = await send(key, '/principal')
  const { status } = await send(key, '/conversations', { agent: 'desk', id: 'chats/1' })
  console.log(database, id, status)
}
const elsewhere = await send(bob.key, '/conversations/chats:1')
console.log(elsewhere.status, elsewhere.code)
const unknown = await send(`wtn_${'x'.repeat(43)}`, '/principal')
console.log(unknown.status, unknown.detail)
stop.abort()
await auth.close()
await runtime.close()
