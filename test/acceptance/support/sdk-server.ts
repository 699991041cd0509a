/** An agent that knows nothing of Witan: the official SDK of A2A serves it, in the binding that its card names, at the address `@docs@<domain>`. */
import { randomUUID } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { AgentCard, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '@a2a-js/sdk'
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server'
import { jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express'

/** As much of Express as is used here. */
interface Express extends RequestListener {
  get(
    path: string,
    handle: (request: { readonly path: string }, response: { json(value: unknown): void }) => void,
  ): void
  use(path: string, handle: unknown): void
}
const express: () => Express = createRequire(import.meta.url)('express')

/** What the agent does with a message of a task; null: it works and never ends. */
export type SdkTurn = (said: RequestContext & { readonly words: string; readonly turn: number }) => {
  readonly state: 'COMPLETED' | 'FAILED' | 'INPUT_REQUIRED'
  readonly parts: readonly object[]
} | null

export interface SdkServer {
  readonly url: string
  /** The messages that it got, as their tasks and words. */
  readonly seen: readonly RequestContext[]
  readonly cancelled: readonly string[]
  close(): void
}

export const bindings = ['JSONRPC', 'HTTP+JSON'] as const

/** Serves it on a port of this machine. */
export async function startSdkServer(
  domain: string,
  binding: (typeof bindings)[number],
  turn: SdkTurn,
): Promise<SdkServer> {
  const site = `https://${domain}`
  const card = {
    name: 'Docs',
    description: 'Knows the documents.',
    version: '1',
    supportedInterfaces: [
      { url: `${site}/a2a${binding === 'JSONRPC' ? '' : '/v1'}`, protocolBinding: binding, protocolVersion: '1.0' },
    ],
    capabilities: { streaming: true },
    ...{ defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] },
    skills: [{ id: 'docs', name: 'Docs', description: 'Knows them.', tags: ['docs'] }],
  }
  const [seen, cancelled]: [RequestContext[], string[]] = [[], []]
  const requestHandler = new DefaultRequestHandler(
    AgentCard.fromJSON(card),
    new InMemoryTaskStore(),
    playing(turn, { seen, cancelled }),
  )
  const app = express()
  app.get('/.well-known/webfinger', (_, response) =>
    response.json({
      subject: `acct:docs@${domain}`,
      links: [{ rel: 'https://mentionable.dev/ns/rel/agent-card', href: `${site}/card` }],
    }),
  )
  app.get('/card', (_, response) =>
    response.json({ address: `@docs@${domain}`, name: 'Docs', a2a: { endpoint: `${site}/a2a` } }),
  )
  app.get('/a2a/.well-known/agent-card.json', (_, response) => response.json(card))
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication }
  app.use('/a2a/v1', restHandler(options))
  app.use('/a2a', jsonRpcHandler(options))
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    cancelled,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function playing(turn: SdkTurn, { seen, cancelled }: { seen: RequestContext[]; cancelled: string[] }): AgentExecutor {
  return {
    async execute(context, bus) {
      const { taskId, contextId, userMessage } = context
      seen.push(context)
      const words = userMessage.parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join()
      const turns = seen.filter((one) => one.taskId === taskId).length - 1
      const said = turn(Object.assign(context, { words, turn: turns }))
      const ids = { taskId, contextId }
      const working = { id: taskId, contextId, status: { state: 'TASK_STATE_WORKING' } }
      bus.publish(AgentEvent.task(Task.fromJSON(working)))
      if (said === null) return new Promise<void>(() => {})
      const { state, parts } = said
      const isOver = state === 'COMPLETED'
      if (isOver) {
        const artifact = { artifactId: 'answer', parts }
        bus.publish(AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON({ ...ids, artifact })))
      }
      const message = { messageId: randomUUID(), ...ids, role: 'ROLE_AGENT', parts }
      const status = { state: `TASK_STATE_${state}`, ...(isOver ? {} : { message }) }
      bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ ...ids, status })))
      bus.finished()
    },
    async cancelTask(taskId, bus) {
      cancelled.push(taskId)
      bus.publish(
        AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, status: { state: 'TASK_STATE_CANCELED' } })),
      )
      bus.finished()
    },
  }
}
