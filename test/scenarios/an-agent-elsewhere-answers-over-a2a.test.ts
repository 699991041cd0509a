/** Calls of an agent on another server, which the official SDK plays: one task there for each call here. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { Role, type Message, type Part, TaskState } from '@a2a-js/sdk'
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  type RequestContext,
  ServerCallContext,
} from '@a2a-js/sdk/server'
import { createRemoteCaller } from '@witan/core/tooling'
import { call, lastUserMessage } from '@witan/core/testing'
import { createStage, until } from '../support/stage.ts'

/** What the agent elsewhere does with a message. */
type Script = (say: Saying, text: string) => Promise<void> | void
interface Saying {
  readonly context: RequestContext
  readonly bus: ExecutionEventBus
  text(text: string, append?: boolean): void
  status(state: TaskState, parts?: readonly Part[]): void
}

const textPart = (text: string): Part => ({
  content: { $case: 'text', value: text },
  metadata: undefined,
  filename: '',
  mediaType: '',
})

const scripts: Readonly<Record<string, Script>> = {
  answer: (say) => {
    say.text('It is ')
    say.text('in the cellar.', true)
    say.status(TaskState.TASK_STATE_COMPLETED)
  },
  fail: (say) => say.status(TaskState.TASK_STATE_FAILED, [textPart('no shelf')]),
  ask: (say, text) => {
    if (text === 'ask') return say.status(TaskState.TASK_STATE_INPUT_REQUIRED, [textPart('Which shelf?')])
    say.text(`Shelf: ${text}`)
    say.status(TaskState.TASK_STATE_COMPLETED)
  },
  hang: () => new Promise<void>(() => {}),
}

const seen: Message[] = []
const cancelled: string[] = []
let server: Server
let url = ''

function executor(): AgentExecutor {
  const open = new Map<string, string>()
  return {
    async execute(context, bus) {
      const { userMessage, taskId, contextId } = context as RequestContext & { readonly userMessage: Message }
      seen.push(userMessage)
      const text = userMessage.parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join()
      const name = open.get(taskId) ?? text
      open.set(taskId, name)
      const status = (state: TaskState, parts: readonly Part[] = []) => ({
        state,
        timestamp: new Date().toISOString(),
        message:
          parts.length === 0
            ? undefined
            : {
                messageId: crypto.randomUUID(),
                taskId,
                contextId,
                role: Role.ROLE_AGENT,
                parts: [...parts],
                metadata: undefined,
                extensions: [],
                referenceTaskIds: [],
              },
      })
      bus.publish(
        AgentEvent.task({
          id: taskId,
          contextId,
          status: status(TaskState.TASK_STATE_WORKING),
          artifacts: [],
          history: [],
          metadata: undefined,
        }),
      )
      const say: Saying = {
        context,
        bus,
        text: (words, append = false) =>
          bus.publish(
            AgentEvent.artifactUpdate({
              taskId,
              contextId,
              append,
              lastChunk: false,
              metadata: undefined,
              artifact: {
                artifactId: 'a',
                name: '',
                description: '',
                parts: [textPart(words)],
                metadata: undefined,
                extensions: [],
              },
            }),
          ),
        status: (state, parts) =>
          bus.publish(
            AgentEvent.statusUpdate({ taskId, contextId, status: status(state, parts), metadata: undefined }),
          ),
      }
      await scripts[name]?.(say, text)
      bus.finished()
    },
    async cancelTask(taskId, bus) {
      cancelled.push(taskId)
      bus.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId: '',
          status: { state: TaskState.TASK_STATE_CANCELED, timestamp: new Date().toISOString(), message: undefined },
          metadata: undefined,
        }),
      )
      bus.finished()
    },
  } as AgentExecutor
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString()
}

function staged(isStreaming: boolean) {
  const services: Parameters<typeof createRemoteCaller>[0] = {
    find: async () => ({
      ok: true,
      endpoint: { url, binding: 'JSONRPC', tenant: null, isStreaming, isIdempotent: false },
      notice: null,
    }),
    sign: async () => ({ bearer: null, metadata: {}, extensions: [] }),
    sharesBudget: () => false,
    passesIssuers: () => false,
    newId: () => 'read',
    clock: {
      now: () => Date.now(),
      after: (ms, run) =>
        (
          (t) => () =>
            clearTimeout(t)
        )(setTimeout(run, ms)),
    },
    fetch: async (to, { method, headers, body, signal }) => {
      const reply = await fetch(to, { method, headers, signal, ...(body === undefined ? {} : { body }) })
      return {
        status: reply.status,
        header: (name) => reply.headers.get(name),
        body: (reply.body ?? []) as AsyncIterable<Uint8Array>,
      }
    },
  }
  return createStage({
    agents: [{ id: 'desk', remotes: [{ name: 'docs', address: '@docs@b.test', description: 'Knows.' }] }],
    plays: {
      desk: (request, turn) => {
        const said = lastUserMessage(request)
        return turn === 0 && said in scripts
          ? call('docs', { message: said })
          : `Told: ${JSON.stringify(request.messages.at(-1)?.content)}`
      },
    },
    options: { remotes: createRemoteCaller(services, (error) => assert.fail(String(error))) },
  })
}

describe('an agent of the official SDK', () => {
  before(async () => {
    const card = {
      name: 'docs',
      description: 'Knows.',
      version: '1',
      supportedInterfaces: [{ url: 'http://x', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
      provider: undefined,
      documentationUrl: undefined,
      capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
      securitySchemes: {},
      securityRequirements: [],
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
      signatures: [],
      iconUrl: undefined,
    }
    const handler = new JsonRpcTransportHandler(
      new DefaultRequestHandler(card as never, new InMemoryTaskStore(), executor()),
    )
    server = createServer((request: IncomingMessage, response: ServerResponse) => {
      void (async () => {
        const made = new ServerCallContext({ requestedVersion: '1.0' } as never)
        const result = await handler.handle(await bodyOf(request), made)
        if (Symbol.asyncIterator in result) {
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          for await (const one of result) response.write(`data: ${JSON.stringify(one)}\n\n`)
          response.end()
        } else {
          response.writeHead(200, { 'content-type': 'application/json' })
          response.end(JSON.stringify(result))
        }
      })().catch((error: unknown) => response.destroy(error as Error))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  })

  after(() => server.close())

  for (const isStreaming of [true, false]) {
    const how = isStreaming ? 'as a stream' : 'by asking again'
    test(`an answer comes ${how}, in one task`, async () => {
      const stage = staged(isStreaming)
      seen.length = 0
      const ended = await stage.ask('desk', 'answer', { id: 'chats/1' })
      // What the server keeps of a text in pieces has each piece as a part.
      assert.match(ended.text, isStreaming ? /It is in the cellar\./ : /It is \\nin the cellar\./)
      assert.equal(seen.length, 1)
      const events = await stage.events('chats/1')
      const start = events.find(({ author, type }) => author === '@docs@b.test' && type === 'start')
      assert.equal(seen[0]?.messageId, start?.callId)
    })

    test(`a failure is what the model reads, ${how}`, async () => {
      const ended = await staged(isStreaming).ask('desk', 'fail', { id: 'chats/1' })
      assert.match(ended.text, /@docs@b\.test failed: no shelf/)
    })

    test(`a question is answered on the same task, ${how}`, async () => {
      const stage = staged(isStreaming)
      seen.length = 0
      const asked = await stage.ask('desk', 'ask', { id: 'chats/1' })
      assert.equal(asked.status, 'waiting')
      const [open] = asked.interruptions
      assert.equal(open?.kind === 'question' ? open.questions[0]?.text : null, 'Which shelf?')
      await stage.runtime.answerInterruption(open?.id ?? '', { answer: { input: { text: 'the second' } } } as never)
      const ended = await (await stage.runtime.followRun(asked.runId)).result
      assert.match(ended.text, /Shelf: the second/)
      assert.equal(new Set(seen.map(({ taskId }) => taskId)).size, 1)
    })

    test(`[D10] a cancel stops the task there, ${how}`, async () => {
      const stage = staged(isStreaming)
      cancelled.length = 0
      seen.length = 0
      const opened = await stage.runtime.start({ agent: 'desk', prompt: 'hang', id: 'chats/1' })
      await new Promise((resolve) => setTimeout(resolve, 300))
      assert.equal(seen.length, 1)
      await stage.runtime.cancelRun(opened.run?.runId ?? '')
      await until(() => cancelled.length === 1, 20_000)
    })
  }
})
