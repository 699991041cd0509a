/** An agent that others call over A2A, and the official SDK as their client. The application answers without a socket. */
import { Role, type Task, TaskState } from '@a2a-js/sdk'
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client'
import { createRuntime, defineAgent } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { createApp, createAuth, createLog } from '@witan/server'

const question = { id: 'q1', text: 'Which page?', options: [], multiple: false, freeText: true, required: true }
const docs = defineAgent({
  id: 'docs',
  instructions: 'Answer from the manual.',
  questions: true,
  model: scriptedModel((request) =>
    toolResults(request).length === 0 ? call('ask_question', { questions: [question] }) : 'It is blue.',
  ),
  address: 'docs',
  access: { call: ['user:anna', '@*@b.example'] },
})
const domain = 'bots.example.com'
const runtime = createRuntime({ agents: [docs], domains: { [domain]: 'default' } })
const { key } = await runtime.keys.create({ id: 'user:anna', roles: ['run'] })
const stop = new AbortController()
const app = createApp({
  runtime,
  auth: createAuth('none', () => 80),
  hosts: { port: () => 80, allowed: [domain] },
  federation: {
    ...{ domain, domains: [domain], publicUrl: () => `https://${domain}` },
    ...{ maxHops: 4, maxOpenTasks: 64, defaultAgent: null, trust: [], resolve: {} },
  },
  log: createLog('silent'),
  stop: { streams: stop.signal, waits: stop.signal },
  studio: new URL('about:blank'),
})

const fetchImpl: typeof fetch = async (url, init) => {
  const request = new Request(url, init)
  request.headers.set('authorization', `Bearer ${key}`)
  return app.fetch(request)
}
const card = new DefaultAgentCardResolver().normalizeAgentCard({
  ...{ name: 'docs', description: 'The manual.', version: '1', capabilities: { streaming: true } },
  supportedInterfaces: [{ url: `https://${domain}/a2a/docs`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
})
const transports = [new JsonRpcTransportFactory({ fetchImpl })]
const client = await new ClientFactory({ transports }).createFromAgentCard(card)

async function say(messageId: string, value: string, taskId = ''): Promise<Task> {
  const part = { content: { $case: 'text' as const, value }, metadata: undefined, filename: '', mediaType: '' }
  const about = { contextId: '', taskId, metadata: undefined, extensions: [], referenceTaskIds: [] }
  const message = { messageId, role: Role.ROLE_USER, parts: [part], ...about }
  return (await client.sendMessage({ tenant: '', message, configuration: undefined, metadata: undefined })) as Task
}

const asked = await say('m1', 'What colour is it?')
console.log(TaskState[asked.status?.state ?? 0], asked.status?.message?.parts[0]?.content?.value)
const done = await say('m2', 'Page 7', asked.id)
console.log(TaskState[done.status?.state ?? 0], done.artifacts[0]?.parts[0]?.content?.value, done.id === asked.id)
stop.abort()
await runtime.close()
