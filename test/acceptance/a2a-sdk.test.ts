/** The official SDK of A2A as client, in both bindings: sent, streamed, asked and answered, listed, cancelled, refused. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { type AgentCard, Role, type SendMessageRequest, type Task, TaskState } from '@a2a-js/sdk'
import { type Client, ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client'
import { keyOf } from './support/a2a.ts'
import { createGate } from './support/model-server.ts'
import { agent, createStage, type Stage } from './support/stage.ts'

let stage: Stage
let key: string

before(async () => {
  stage = await createStage({ prepare: () => ({ server: { domain: 'bots.example' } }) })
  await stage.save(agent('docs', { address: 'docs', questions: true }))
  key = await keyOf(stage.witan, { id: 'user:anna', roles: ['run'] })
})
after(() => stage?.close())

function next(...replies: Parameters<Stage['model']['script']>[1][]): void {
  const from = stage.model.of('docs').length
  stage.model.on('docs', ({ nth }) => replies[nth - 1 - from] ?? { text: 'out of script' })
}

const bindings = [
  ['JSONRPC', '/a2a/docs'],
  ['HTTP+JSON', '/a2a/docs/v1'],
] as const

/** A client in one binding. The card is written by hand; that of the server has its own tests. */
async function clientOf([protocolBinding, path]: (typeof bindings)[number], token = key): Promise<Client> {
  const fetchImpl: typeof fetch = (url, init = {}) => {
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${token}`)
    return fetch(url, { ...init, headers })
  }
  const transports = [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })]
  const card = {
    ...{ name: 'docs', description: 'Docs.', version: '1', provider: undefined },
    supportedInterfaces: [{ url: stage.witan.url + path, protocolBinding, tenant: '', protocolVersion: '1.0' }],
    capabilities: { streaming: true, pushNotifications: false, extensions: [] },
    ...{ securitySchemes: {}, securityRequirements: [], skills: [], signatures: [] },
    ...{ defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] },
  } satisfies AgentCard
  return new ClientFactory({ transports, preferredTransports: [protocolBinding] }).createFromAgentCard(card)
}

function saying(
  text: string,
  more: Partial<{ contextId: string; taskId: string; returnImmediately: boolean }> = {},
): SendMessageRequest {
  const { contextId = '', taskId = '', returnImmediately = false } = more
  const part = { content: { $case: 'text' as const, value: text }, metadata: undefined, filename: '', mediaType: '' }
  const message = { messageId: randomUUID(), role: Role.ROLE_USER, parts: [part], contextId, taskId }
  return {
    tenant: '',
    message: { ...message, metadata: undefined, extensions: [], referenceTaskIds: [] },
    configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately },
    metadata: undefined,
  }
}

async function taskOf(client: Client, request: SendMessageRequest): Promise<Task> {
  const result = await client.sendMessage(request)
  assert.ok('artifacts' in result, 'a task')
  return result
}

const textOf = (task: Task) =>
  task.artifacts
    .flatMap(({ parts }) => parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')))
    .join('')

for (const binding of bindings) {
  describe(`the official SDK over ${binding[0]}`, () => {
    let client: Client
    before(async () => {
      client = await clientOf(binding)
    })

    test('a message, its task, and the next one in its context', async () => {
      next({ text: 'one' }, { text: 'two' })
      const first = await taskOf(client, saying('1'))
      assert.equal(first.status?.state, TaskState.TASK_STATE_COMPLETED)
      assert.equal(textOf(first), 'one')
      const second = await taskOf(client, saying('2', { contextId: first.contextId }))
      assert.equal(textOf(second), 'two')
      const read = await client.getTask({ tenant: '', id: first.id })
      assert.deepEqual(read, first)
      const listed = await client.listTasks({
        ...{ tenant: '', contextId: first.contextId, status: TaskState.TASK_STATE_UNSPECIFIED },
        ...{ pageSize: 1, pageToken: '', statusTimestampAfter: undefined, includeArtifacts: true },
      })
      assert.deepEqual(
        listed.tasks.map(({ id }) => id),
        [second.id],
      )
      assert.notEqual(listed.nextPageToken, '')
    })

    test('a stream: the task, its text, and its end', async () => {
      next({ text: 'one two three', pieces: 4 })
      const seen: string[] = []
      let text = ''
      for await (const { payload } of client.sendMessageStream(saying('go'))) {
        seen.push(payload?.$case ?? '')
        if (payload?.$case !== 'artifactUpdate') continue
        const { artifact, append } = payload.value
        const said =
          artifact?.parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('') ?? ''
        text = append ? text + said : said
      }
      assert.equal(seen[0], 'task')
      assert.equal(seen.at(-1), 'statusUpdate')
      assert.equal(text, 'one two three')
    })

    test('a question, and its answer on the same task', async () => {
      const question = { id: 'q', text: 'How many?', options: [], multiple: false, freeText: true, required: true }
      next({ calls: [{ name: 'ask_question', args: { questions: [question] } }] }, { text: 'Nine.' })
      const asked = await taskOf(client, saying('order'))
      assert.equal(asked.status?.state, TaskState.TASK_STATE_INPUT_REQUIRED)
      const done = await taskOf(client, saying('9', { taskId: asked.id, contextId: asked.contextId }))
      assert.deepEqual([done.id, textOf(done)], [asked.id, 'Nine.'])
    })

    test('a cancel, a later reader, and what is refused', async () => {
      const gate = createGate()
      next({ text: 'never', hold: gate })
      const task = await taskOf(client, saying('slow', { returnImmediately: true }))
      assert.equal(task.status?.state, TaskState.TASK_STATE_WORKING)
      await gate.entered
      const states: (TaskState | undefined)[] = []
      const first = Promise.withResolvers<void>()
      const reading = (async () => {
        for await (const { payload } of client.resubscribeTask({ tenant: '', id: task.id })) {
          if (payload?.$case === 'task' || payload?.$case === 'statusUpdate') states.push(payload.value.status?.state)
          first.resolve()
        }
      })()
      await Promise.race([first.promise, reading])
      const cancelled = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined })
      assert.equal(cancelled.status?.state, TaskState.TASK_STATE_CANCELED)
      gate.open()
      await reading
      assert.equal(states.at(-1), TaskState.TASK_STATE_CANCELED)
      await assert.rejects(client.cancelTask({ tenant: '', id: task.id, metadata: undefined }), /has ended/)
      await assert.rejects(client.getTask({ tenant: '', id: 'none' }), /no such task/)
      await assert.rejects((await clientOf(binding, 'wtn_none')).getTask({ tenant: '', id: task.id }))
    })
  })
}
