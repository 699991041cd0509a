/** The hotel: an agent that knows nothing of Witan. The official SDK of A2A serves it, and a room has its price. */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { AgentCard, Task } from '@a2a-js/sdk'
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  type RequestContext,
  ServerCallContext,
} from '@a2a-js/sdk/server'

const card = {
  name: 'Hotel',
  description: 'Keeps rooms in Vienna.',
  version: '1',
  supportedInterfaces: [
    { url: 'https://hotel.travel.test/', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' },
  ],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'room', name: 'Rooms', description: 'Keeps a room for a night.', tags: ['rooms'] }],
}

/** What a room costs, as a part that the person reads and no model. */
const price = {
  kind: 'payment_required',
  title: 'A fee keeps the room',
  message: 'Keeping the room costs 3.00 EUR, which the bill of the stay takes off.',
  data: { amount: '3.00', currency: 'EUR' },
}

/** One task for each room: it names the fee, and ends once that is accepted. */
function hotel(): AgentExecutor {
  const states = new Map<string, string>()
  return {
    async execute(context, bus) {
      const { taskId } = context
      const state = states.get(taskId)
      if (state !== undefined && isAccepted(context, state)) {
        states.delete(taskId)
        bus.publish(AgentEvent.task(roomOf(context)))
      } else {
        states.set(taskId, state ?? randomUUID())
        bus.publish(AgentEvent.task(priceOf(context, states.get(taskId) ?? '')))
      }
      bus.finished()
    },
    async cancelTask(taskId, bus) {
      states.delete(taskId)
      bus.publish(AgentEvent.task(Task.fromJSON({ id: taskId, status: { state: 'TASK_STATE_CANCELED' } })))
      bus.finished()
    },
  }
}

/** Whether a message accepts the price that was named with that state. */
function isAccepted({ userMessage }: RequestContext, state: string): boolean {
  return userMessage.metadata?.['mentionable']?.policy_resolution?.in_reply_to_state === state
}

function priceOf({ taskId, contextId }: RequestContext, state: string): Task {
  const parts = [{ data: { type: 'policy', policy: price, state } }]
  const message = { messageId: randomUUID(), taskId, contextId, role: 'ROLE_AGENT', parts }
  return Task.fromJSON({ id: taskId, contextId, status: { state: 'TASK_STATE_INPUT_REQUIRED', message } })
}

function roomOf({ taskId, contextId }: RequestContext): Task {
  const artifacts = [{ artifactId: 'answer', parts: [{ text: 'Room 12 is yours for Thursday night.' }] }]
  return Task.fromJSON({ id: taskId, contextId, status: { state: 'TASK_STATE_COMPLETED' }, artifacts })
}

/** Serves the agent and its card on a port of this machine. */
export async function startHotel(port: number): Promise<Server> {
  const handler = new JsonRpcTransportHandler(
    new DefaultRequestHandler(AgentCard.fromJSON(card), new InMemoryTaskStore(), hotel()),
  )
  const server = createServer((request, response) => {
    answer(handler, request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return server
}

async function answer(handler: JsonRpcTransportHandler, request: IncomingMessage, response: ServerResponse) {
  const json = { 'content-type': 'application/json' }
  if (request.method === 'GET') return response.writeHead(200, json).end(JSON.stringify(card))
  const context = new ServerCallContext({ requestedVersion: String(request.headers['a2a-version'] ?? '') })
  const result = await handler.handle(await text(request), context)
  if (!(Symbol.asyncIterator in result)) return response.writeHead(200, json).end(JSON.stringify(result))
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for await (const frame of result) response.write(`data: ${JSON.stringify(frame)}\n\n`)
  return response.end()
}
