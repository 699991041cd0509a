/** The client against a server in this process; with a URL and a token it is the same code against any. */
import { createClient, createConversationFold } from '@witan/client'
import { createRuntime, defineAgent } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { createApp, createAuth, createLog } from '@witan/server'

const profile = defineAgent({
  id: 'profile',
  instructions: 'Change names.',
  model: scriptedModel((request) => toolResults(request)[0] ?? call('ChangeName', { name: 'Ann' })),
  actions: [{ name: 'ChangeName', parametersSchema: { type: 'object', properties: { name: { type: 'string' } } } }],
})
const runtime = createRuntime({ agents: [profile] })
const stop = new AbortController()
const app = createApp({
  runtime,
  auth: createAuth('none', () => 80),
  hosts: { port: () => 80, allowed: [] },
  log: createLog('silent'),
  stop: { streams: stop.signal, waits: stop.signal },
  studio: new URL('about:blank'),
})

const client = createClient({ url: 'http://localhost', fetch: async (url, init) => app.fetch(new Request(url, init)) })
const chat = client.conversation('profile', { id: 'chats/1' })
chat.handle<{ name: string }, string>('ChangeName', ({ name }) => `You are ${name} now.`)
const { view, take } = createConversationFold()
const stream = chat.stream('Call me Ann.', { verbose: true })
for await (const event of stream) take(event)
for (const { kind, name, state, children } of view.calls.values()) console.log(kind, name, state, children.length)
console.log((await stream.result()).text)
console.log((await client.documents.get(chat.id)).messages.length, 'messages')
client.close()
stop.abort()
await runtime.close()
