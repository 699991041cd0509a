/** Two servers of ours and an agent of the official SDK in a row, in both bindings: it answers, asks, demands and is cancelled as one of ours is. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { call, lastUserMessage, type Rule, scriptedModel } from '@witan/core/testing'
import type { AgentInput, RunResult } from '@witan/protocol'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { createForwarder } from '../support/forwarder.ts'
import { bindings, type SdkServer, type SdkTurn, startSdkServer } from './support/sdk-server.ts'
import { until } from './support/stage.ts'

const price = { type: 'policy', policy: { kind: 'payment_required', message: 'One euro.' }, state: 'sealed' }

const docs: SdkTurn = ({ words, turn, userMessage }) => {
  if (words.includes('hang')) return null
  if (words.includes('fail')) return { state: 'FAILED', parts: [{ text: 'no such shelf' }] }
  if (turn === 0 && words.includes('ask')) return { state: 'INPUT_REQUIRED', parts: [{ text: 'Which shelf?' }] }
  if (turn === 0 && words.includes('pay')) return { state: 'INPUT_REQUIRED', parts: [{ data: price }] }
  const paid = userMessage.metadata?.['mentionable']?.policy_resolution?.in_reply_to_state === 'sealed'
  return { state: 'COMPLETED', parts: [{ text: paid ? 'Paid: shelf 7.' : `Found: ${words}.` }] }
}

/** Calls the next agent, and says what came of it. */
const relay: Rule = (request, turn) =>
  turn > 0 ? `[${String(request.messages.at(-1)?.content)}]` : call('next', { message: lastUserMessage(request) })

for (const binding of bindings)
  describe(`an agent of the official SDK over ${binding}, behind two servers of ours`, () => {
    const servers = new Map<string, WitanServer>()
    const doors = new Map<string, Awaited<ReturnType<typeof createForwarder>>>()
    let folder = ''
    let sdk: SdkServer

    async function open(domain: string, next: string): Promise<void> {
      const store = `file:${join(folder, `${domain}.db`)}`
      const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: store } })
      const agent = (id: string, address: string) =>
        ({
          ...{ id, address: id, model: 'play/relay', instructions: `You are ${id}.` },
          access: { call: ['@*', 'user:local'] },
          remotes: [{ name: 'next', address, description: 'Next.' }],
        }) as unknown as AgentInput
      const resolve = Object.fromEntries([...doors].map(([name, { url }]) => [name, url]))
      const server = await startServer({
        ...config,
        auth: { mode: 'none' },
        server: { ...config.server, port: 0, domain, publicUrl: `https://${domain}` },
        federation: { ...config.federation, resolve: { ...resolve, 'd.test': sdk.url } },
        agents: [agent('relay', next), agent('direct', '@docs@d.test')],
        models: { 'play/relay': scriptedModel(relay, { id: 'play/relay' }) },
      })
      servers.set(domain, server)
      doors.get(domain)?.lead(server.url)
    }

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'witan-sdk-'))
      sdk = await startSdkServer('d.test', binding, docs)
      for (const domain of ['a.test', 'b.test']) doors.set(domain, await createForwarder())
      await open('b.test', '@docs@d.test')
      await open('a.test', '@relay@b.test')
    })
    after(async () => {
      for (const door of doors.values()) await door.close()
      for (const server of servers.values()) await server.close()
      sdk?.close()
      await rm(folder, { recursive: true, force: true })
    })

    async function request<T>(path: string, body?: object): Promise<T> {
      const reply = await fetch(`${servers.get('a.test')?.url}/api/v1${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return (await reply.json()) as T
    }
    const ask = async (prompt: string, agent = 'relay') =>
      (await request<{ run: RunResult }>('/conversations', { agent, prompt })).run
    const ended = ({ runId }: Pick<RunResult, 'runId'>) =>
      until(
        () => request<{ status: string; result: RunResult }>(`/runs/${runId}`),
        ({ status }) => status !== 'running' && status !== 'waiting',
      )
    /** The tasks there since then. */
    const tasksAfter = (count: number) => new Set(sdk.seen.slice(count).map(({ taskId }) => taskId)).size

    test('[M04] [M08] it answers at the second hop, and is called once', async () => {
      const run = await ask('where')
      assert.equal(run.text, '[[Found: where.]]')
      assert.equal(sdk.seen.length, 1)
      const { agent_chain } = sdk.seen[0]?.userMessage.metadata?.['mentionable'] ?? {}
      assert.deepEqual(agent_chain, { hop: 2, max_hops: 4, is_final: false })
    })

    test('what failed there is read here', async () => {
      assert.match((await ask('fail')).text, /@docs@d\.test failed: no such shelf/)
    })

    test('[M21] [D1] it asks, the server in the middle starts again, and the answer gets to the same task', async () => {
      const count = sdk.seen.length
      const run = await ask('ask')
      assert.equal(run.status, 'waiting', JSON.stringify(run))
      const [open1] = run.interruptions
      assert.deepEqual([open1?.kind, open1?.path, open1?.agent], ['question', 'next', '@relay@b.test'])
      doors.get('b.test')?.lead(null)
      await servers.get('b.test')?.close()
      await open('b.test', '@docs@d.test')
      await request(`/interruptions/${open1?.id}/answer`, { answer: { input: { text: 'the blue one' } } })
      assert.equal((await ended(run)).result.text, '[[Found: the blue one.]]')
      assert.equal(tasksAfter(count), 1)
    })

    test('[M21] what it demands is resolved on the same task', async () => {
      const count = sdk.seen.length
      const run = await ask('pay', 'direct')
      const [open1] = run.interruptions
      assert.deepEqual([open1?.kind, open1?.agent], ['policy', '@docs@d.test'])
      await request(`/interruptions/${open1?.id}/answer`, { answer: { resolution: { receipt: 1 } } })
      assert.equal((await ended(run)).result.text, '[Paid: shelf 7.]')
      assert.equal(tasksAfter(count), 1)
    })

    test('[D10] a cancel here reaches it over both servers', async () => {
      const count = sdk.seen.length
      const { id } = await request<{ id: string }>('/conversations', { agent: 'relay' })
      const runs = `/conversations/${encodeURIComponent(id)}/runs`
      const { runId } = await request<{ runId: string }>(runs, { prompt: 'hang', wait: false })
      await until(
        async () => sdk.seen.length,
        (length) => length > count,
      )
      await request(`/runs/${runId}/cancel`, {})
      await until(
        async () => sdk.cancelled,
        (cancelled) => cancelled.includes(sdk.seen[count]?.taskId ?? ''),
      )
    })
  })
