/** A small hierarchy for a real server: a child that asks and fails, a worker in the background, and values hidden in each way. */
import { type AgentDefinition, defineAgent, defineTool } from '@witan/core'
import { call, lastUserMessage, scriptedModel } from '@witan/core/testing'
import { canary } from './canary.ts'
import { schemaOf } from './careless.ts'
import { shelf, shelfBase } from './shelf.ts'

/** Names by which whatever tells of an agent is told apart from what tells nothing. */
const marked = (name: string): string => `${name}-${canary(name).split('_')[2]}`
export const child: string = marked('child')
const worker: string = marked('worker')

const model = scriptedModel(
  (request, turn) => {
    const text = JSON.stringify(request.messages[0])
    if (text.includes('You work.')) return 'worked'
    if (lastUserMessage(request).startsWith('[from ')) return 'noted'
    if (text.includes('You ask.')) return turn === 0 ? { text: 'asking', toolCalls: asking } : { deltas: ['as', 'ked'] }
    const both = [
      { name: child, arguments: { message: 'go', byAuthor: 'evil' } },
      { name: worker, arguments: { message: 'go' } },
      { name: `${worker}_ask`, arguments: {} },
    ]
    return turn === 0 ? { toolCalls: both } : 'done'
  },
  { id: 'scripted/desk' },
)

/** The child breaks a tool, asks, and remembers. */
const asking = [call('break'), call('Ask'), call('remember', { key: 'tea', text: `${child} was told.` })].flatMap(
  ({ toolCalls = [] }) => toolCalls,
)

const broken = defineTool({
  name: 'break',
  description: 'Saves what it knows, and breaks.',
  parameters: schemaOf(),
  jsonSchema: { type: 'object', properties: {} },
  effect: 'none',
  execute: async (_args, { parameters, artifacts }) => {
    const values = `${String(parameters['byAuthor'])} and ${String(parameters['asSecret'])}`
    const name = `${child} of ${values}.txt`
    const text = `${child} tells ${values} and ${String(parameters['open'])}`
    await artifacts.save({ name, mediaType: 'text/plain', text })
    await artifacts.save({ name, mediaType: 'application/octet-stream', bytes: new TextEncoder().encode(text) })
    throw new Error(`no such user: ${String(parameters['byAuthor'])} of ${String(parameters['asSecret'])}`)
  },
})

const parameters: AgentDefinition['parameters'] = [
  { name: 'byAuthor', sendToModel: false, policy: 'forbidModelGeneration' },
  { name: 'byCaller' },
  { name: 'asSecret', sendToModel: false, secret: true },
  { name: 'open' },
]

export default {
  mcpServers: { 'desk-tools': { command: 'none' } },
  store: { url: 'memory:' },
  auth: { mode: 'none' },
  server: { port: 0 },
  telemetry: { metrics: true },
  protocols: [{ name: 'stock', purpose: `What ${child} has.`, messages: [{ name: 'ask', from: 'initiator' }] }],
  knowledge: [shelfBase(child)],
  agents: [
    defineAgent({
      id: 'root',
      model,
      instructions: 'You lead.',
      speaks: [{ protocol: 'stock', role: 'initiator', peers: [worker] }],
      subAgents: [
        { agent: child, description: 'Asks.' },
        { agent: worker, description: 'Works.', blocking: 'never' },
      ],
    }),
    defineAgent({
      id: child,
      model,
      instructions: 'You ask.',
      parameters,
      tools: [broken],
      actions: [{ name: 'Ask' }],
      memory: {},
      knowledgeBases: [{ id: shelf.id, filter: { author: 'byAuthor' }, retrieval: 'both' }],
    }),
    defineAgent({
      id: worker,
      model,
      instructions: 'You work.',
      parameters,
      speaks: [{ protocol: 'stock', role: 'responder' }],
      knowledgeBases: [{ id: shelf.id, retrieval: 'auto' }],
    }),
  ],
}
