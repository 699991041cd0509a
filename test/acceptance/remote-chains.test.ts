/** Four servers in a row, each of whose agents calls the next: the chain ends at its cap, and goes on though a server in the middle starts again. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { call, type Rule, scriptedModel } from '@witan/core/testing'
import type { AgentInput, Interruption, RunResult } from '@witan/protocol'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { createForwarder } from '../support/forwarder.ts'
import { until } from './support/stage.ts'

const names = ['a', 'b', 'c', 'd'] as const
type Name = (typeof names)[number]
const doors = await Promise.all(names.map(() => createForwarder()))
const resolve = Object.fromEntries(names.map((name, at) => [`${name}.test`, doors[at]?.url ?? '']))
const systems: string[] = []
const servers = new Map<Name, WitanServer>()
let folder = ''

/** Calls the next server if it is offered; the last asks its question first where it is told to. */
const rule: Rule = (request, turn) => {
  systems.push(String(request.messages[0]?.content))
  const said = JSON.stringify(request.messages)
  const tool = request.tools.find(({ name }) => name === 'next')
  if (turn > 0) return `[${String(request.messages.at(-1)?.content)}]`
  // At the final hop it is offered nobody, and asks all the same.
  if (tool === undefined && said.includes('go on')) return call('next', { message: 'go on' })
  if (tool !== undefined) return call('next', { message: said.includes('please ask') ? 'please ask' : 'go on' })
  return call('ask_question', { questions: [{ id: 'q', text: 'Which?', options: [], freeText: true }] })
}

async function open(name: Name): Promise<void> {
  const at = names.indexOf(name)
  const store = { WITAN_STORE_URL: `file:${join(folder, `${name}.db`)}` }
  const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', ...store } })
  // The last one would call the first again.
  const following = names[at + 1] ?? 'a'
  const agent = {
    ...{ id: 'relay', model: 'play/relay', instructions: `You are ${name}.`, address: 'relay', questions: true },
    access: { call: ['@*', 'user:local'] },
    remotes: [{ name: 'next', address: `@relay@${following}.test`, description: 'Next.' }],
  } as unknown as AgentInput
  const domain = `${name}.test`
  const server = await startServer({
    ...config,
    auth: { mode: 'none' },
    server: { ...config.server, port: 0, domain, publicUrl: `https://${domain}` },
    federation: { ...config.federation, resolve, maxHops: name === 'a' ? 3 : 9 },
    agents: [agent],
    models: { 'play/relay': scriptedModel(rule, { id: 'play/relay' }) },
  })
  servers.set(name, server)
  doors[at]?.lead(server.url)
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'witan-chain-'))
  for (const name of names) await open(name)
})
after(async () => {
  for (const door of doors) await door.close()
  for (const server of servers.values()) await server.close()
  await rm(folder, { recursive: true, force: true })
})

async function request<T>(path: string, body?: object): Promise<T> {
  const reply = await fetch(`${servers.get('a')?.url}/api/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return (await reply.json()) as T
}

const conversations = async (name: Name) => {
  const reply = await fetch(`${servers.get(name)?.url}/api/v1/conversations`)
  return ((await reply.json()) as { items: unknown[] }).items.length
}

test('[M04] [M06] [M08] [M12] a chain over four servers with a cap of three ends at the fourth, whatever its model asks for', async () => {
  systems.length = 0
  const { run } = await request<{ run: RunResult }>('/conversations', { agent: 'relay', prompt: 'go' })
  assert.equal(run.status, 'completed', JSON.stringify(run))
  assert.equal(run.text, '[[[[{"error":"this is the final hop (3 of 3); answer with what you have."}]]]]')
  const hops = systems.flatMap((system) => /This is [^:,]*hop[^:,]*/.exec(system)?.[0] ?? [])
  const expected = ['This is hop 1 of at most 3', 'This is hop 2 of at most 3', 'This is the final hop (3 of 3)']
  assert.deepEqual([...new Set(hops)], expected)
  assert.deepEqual(await Promise.all(names.map(conversations)), [1, 1, 1, 1], 'each was called once')
})

test('[M21] [D1] the server in the middle starts again while the last one asks, and the answer gets there', async () => {
  const before = await Promise.all(names.map(conversations))
  const { run } = await request<{ run: RunResult }>('/conversations', { agent: 'relay', prompt: 'please ask' })
  assert.equal(run.status, 'waiting', JSON.stringify(run))
  const [open1] = run.interruptions as readonly Interruption[]
  assert.equal(open1?.kind, 'question')
  doors[1]?.lead(null)
  await servers.get('b')?.close()
  await open('b')
  await request(`/interruptions/${open1?.id}/answer`, { answer: { q: { text: 'the blue one' } } })
  const ended = await until(
    () => request<{ status: string; result: RunResult }>(`/runs/${run.runId}`),
    ({ status }) => status !== 'running' && status !== 'waiting',
  )
  assert.match(ended.result.text, /the blue one/)
  const now = await Promise.all(names.map(conversations))
  assert.deepEqual(
    now,
    before.map((count) => count + 1),
    'each was called once',
  )
})
