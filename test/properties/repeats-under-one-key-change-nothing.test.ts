/** Requests that are sent again under their key, at once, later or out of order, leave what the same requests leave when each is sent once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime } from '@witan/core'
import { lastUserMessage, scriptedModel } from '@witan/core/testing'
import { createApp, createAuth, createLog } from '@witan/server'
import fc from 'fast-check'
import { holds } from '../support/seeds.ts'
import { settle } from '../support/stage.ts'

const kinds = ['start', 'say', 'say, do not wait', 'agent', 'batch', 'stream'] as const
type Kind = (typeof kinds)[number]

/** What is sent: one command, some copies of it at once, or its key with another body. */
interface Send {
  readonly command: number
  readonly copies: number
  readonly otherBody: boolean
}

const plan = fc
  .tuple(
    fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 6 }),
    fc.array(fc.record({ command: fc.nat(5), copies: fc.integer({ min: 1, max: 3 }), otherBody: fc.boolean() }), {
      maxLength: 10,
    }),
  )
  .map(([commands, again]) => {
    // Everything is sent first in its order; what is sent again comes anywhere behind its first time.
    const sends: Send[] = []
    const late = again.filter(({ command }) => command < commands.length)
    for (const [command] of commands.entries()) {
      sends.push({ command, copies: 1 + ((late[command]?.copies ?? 1) % 3), otherBody: false })
      sends.push(...late.filter((one, index) => one.command <= command && index % commands.length === command))
    }
    return { commands, sends }
  })

interface Reply {
  readonly status: number
  readonly text: string
  readonly replayed: boolean
}

function bodyOf(kind: Kind, index: number): { readonly path: string; readonly body: Record<string, unknown> } {
  const agent = (id: string) => ({ id, model: 'play/model', instructions: 'Echo.' })
  const runs = '/api/v1/conversations/chats%2F1/runs'
  if (kind === 'start') return { path: '/api/v1/conversations', body: { agent: 'echo', prompt: `start ${index}` } }
  if (kind === 'agent') return { path: '/api/v1/agents', body: agent(`agent-${index}`) }
  if (kind === 'batch') return { path: '/api/v1/agents/batch', body: { agents: [agent(`batch-${index}`)] } }
  if (kind === 'say, do not wait') return { path: runs, body: { prompt: `say ${index}`, wait: false } }
  return { path: runs, body: { prompt: `say ${index}` } }
}

function createDoor() {
  const asked: string[] = []
  const model = scriptedModel(async (request) => {
    asked.push(lastUserMessage(request))
    await settle(1)
    return `echo ${lastUserMessage(request)}`
  })
  const agents = [{ id: 'echo', model: 'play/model', instructions: 'Echo.' }]
  const runtime = createRuntime({ models: { 'play/model': model }, agents })
  const stop = new AbortController().signal
  const app = createApp({
    runtime,
    auth: createAuth('none', () => 80),
    hosts: { port: () => 80, allowed: [] },
    log: createLog('error'),
    stop: { streams: stop, waits: stop },
    studio: new URL('about:blank'),
  })
  const send = async (kind: Kind, index: number, more: Record<string, unknown> = {}): Promise<Reply> => {
    const { path, body } = bodyOf(kind, index)
    const headers = {
      'content-type': 'application/json',
      'idempotency-key': `key ${index}`,
      ...(kind === 'stream' ? { accept: 'text/event-stream' } : {}),
    }
    const init = { method: 'POST', headers, body: JSON.stringify({ ...body, ...more }) }
    const reply = await app.fetch(new Request(`http://127.0.0.1${path}`, init))
    const text = await reply.text()
    return { status: reply.status, text, replayed: reply.headers.get('idempotency-replayed') === 'true' }
  }
  return { runtime, asked, send }
}

/** What is left: which agents in which revision, and who said what in which conversation. */
async function leftBy({ runtime, asked }: ReturnType<typeof createDoor>) {
  for (let live = true; live; await settle(1))
    live = (await runtime.listConversations({ limit: 200 })).items.some(({ status }) => status !== 'idle')
  const conversations: string[] = []
  for (const { id } of (await runtime.listConversations({ limit: 200 })).items) {
    const { messages } = await runtime.getDocument(id, { limit: 200 })
    conversations.push(JSON.stringify(messages.map(({ role, text }) => [role, text])))
  }
  const agents = (await runtime.agents.list({ limit: 200 })).items.map(({ id, revision }) => `${id} ${revision}`)
  return { agents, conversations: conversations.sort(), asked: [...asked].sort() }
}

test('[P20] any repeats under one key leave the state of each request sent once, and another body under it is refused', async (context) => {
  const seen = { replayed: 0, underWay: 0, reused: 0 }
  const property = fc.asyncProperty(plan, async ({ commands, sends }) => {
    const [plain, repeated] = [createDoor(), createDoor()]
    for (const door of [plain, repeated]) await door.runtime.start({ agent: 'echo', id: 'chats/1' })
    for (const [index, kind] of commands.entries()) {
      await plain.send(kind, index)
      await leftBy(plain)
    }
    const first = new Map<number, string>()
    for (const { command, copies, otherBody } of sends) {
      const kind = commands[command] as Kind
      if (otherBody) {
        const refused = await repeated.send(kind, command, { unheardOf: true })
        assert.equal(refused.status, 422)
        assert.match(refused.text, /IDEMPOTENCY_KEY_REUSED/)
        seen.reused += 1
        continue
      }
      const replies = await Promise.all(Array.from({ length: copies }, () => repeated.send(kind, command)))
      for (const { status, text, replayed } of replies) {
        if (status === 409) {
          assert.match(text, /IN_PROGRESS/)
          seen.underWay += 1
          continue
        }
        assert.ok(status >= 200 && status < 300, `${status} ${text}`)
        assert.equal(replayed, first.has(command), 'only the first is acted on')
        // A stream is remembered as its outcome.
        if (kind !== 'stream') assert.equal(first.get(command) ?? text, text)
        first.set(command, text)
        seen.replayed += replayed ? 1 : 0
      }
      await leftBy(repeated)
    }
    assert.deepEqual(await leftBy(repeated), await leftBy(plain))
    for (const { runtime } of [plain, repeated]) await runtime.close()
  })
  const expected = await holds(context, property, 150)
  for (const [what, count] of Object.entries(seen))
    assert.ok(count > expected(40), `${what} came up only ${count} times`)
})
