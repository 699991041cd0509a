/** A server of another domain as a browser test needs one: an A2A agent that demands, asks and fails in words that would run, hide or flood, if a page let them. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Where its card stands. */
export const shopCard = 'https://shop.test/card.json'

/** Markup that says so where it runs, bidi, an escape code, no width; and then more than a page has room for, without a space. */
export const hostileText = [
  '<img src=x onerror="alert(1)"><script>alert(2)</script>[a](javascript:alert(3))',
  '\u202eexe\u2066\u200b\u001b[2J',
  'w'.repeat(16_000),
].join('')

type Part = { readonly text: string } | { readonly data: object }

const policy = (one: object, state = 's') => ({ data: { type: 'policy', policy: one, state } })
const question = {
  ...{ id: hostileText.slice(0, 900), text: hostileText, multiple: false, freeText: true, required: true },
  options: [{ id: 'a', label: hostileText }],
}

/** What it answers to these words. */
const answers: Readonly<Record<string, { readonly state: string; readonly parts: readonly Part[] }>> = {
  pay: {
    state: 'INPUT_REQUIRED',
    parts: [
      policy({
        ...{ kind: 'payment_required', title: 'Ten cents', message: 'The first page is free.\nThis one is not.' },
        ...{ url: 'https://pay.shop.test/bill?n=1', action_label: 'Pay the bill', code: 'BILL_1', data: { cents: 10 } },
      }),
      policy({ kind: 'consent_required', message: 'May I keep it?', url: 'https://elsewhere.test/' }, 't'),
    ],
  },
  demand: {
    state: 'INPUT_REQUIRED',
    parts: [
      policy({
        ...{ kind: hostileText, title: hostileText, message: hostileText, code: hostileText },
        ...{ url: 'javascript:alert(4)', [hostileText.slice(0, 200)]: 1 },
      }),
    ],
  },
  ask: { state: 'INPUT_REQUIRED', parts: [{ data: { type: 'question', id: 'q', questions: [question] } }] },
  act: {
    state: 'INPUT_REQUIRED',
    parts: [
      {
        data: {
          type: 'action',
          id: 'x',
          name: hostileText,
          path: hostileText,
          arguments: { [hostileText]: hostileText },
        },
      },
    ],
  },
  fail: { state: 'FAILED', parts: [{ text: hostileText }] },
  tell: { state: 'COMPLETED', parts: [{ text: hostileText }] },
}

/** The server, and what was sent to it. */
export interface HostileRemote {
  readonly url: string
  readonly sent: object[]
  close(): Promise<void>
}

/** Starts it on loopback. */
export async function startHostileRemote(): Promise<HostileRemote> {
  const sent: object[] = []
  const tasks = new Map<string, object>()
  const server = createServer(async (request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.method === 'GET') return void response.end(JSON.stringify(request.url === '/card.json' ? card : {}))
    const { id, method, params } = await bodyOf(request)
    const { message } = params
    if (message !== undefined) sent.push(message)
    const task = message === undefined ? tasks.get(params.id ?? '') : taskOf(message, tasks)
    const result = method.startsWith('Send') ? { task } : task
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const card = {
  ...{ name: 'Shop', description: 'Sells.', version: '1', skills: [] },
  supportedInterfaces: [{ url: 'https://shop.test/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: false },
  ...{ defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] },
}

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: { readonly id?: string; readonly message?: Message }
}
interface Message {
  readonly taskId?: string
  readonly parts: readonly { readonly text?: string }[]
}

/** A task ends with its second message. */
function taskOf({ taskId, parts }: Message, tasks: Map<string, object>): object {
  const id = taskId ?? `t${tasks.size}`
  const done = { state: 'COMPLETED', parts: [{ text: 'Here it is.' }] }
  const { state, parts: said } = taskId === undefined ? (answers[parts[0]?.text ?? ''] ?? done) : done
  const message = { messageId: `${id}.${state}`, role: 'ROLE_AGENT', parts: said }
  const isDone = state === 'COMPLETED'
  const status = { state: `TASK_STATE_${state}`, ...(isDone ? {} : { message }) }
  const task = {
    id,
    contextId: `c-${id}`,
    status,
    ...(isDone ? { artifacts: [{ artifactId: 'a', parts: said }] } : {}),
  }
  tasks.set(id, task)
  return task
}

async function bodyOf(request: IncomingMessage): Promise<Call> {
  let text = ''
  for await (const piece of request) text += String(piece)
  return JSON.parse(text) as Call
}
