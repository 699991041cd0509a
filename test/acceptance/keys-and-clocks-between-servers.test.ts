/** What may go wrong between two servers that mean well: a key changes while a call is open, a clock is an hour off, the other server is the own one. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { createRuntime, memoryStore, type Runtime } from '@witan/core'
import { call, lastUserMessage, type Rule, scriptedModel } from '@witan/core/testing'
import type { AgentInput, RunResult } from '@witan/protocol'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { createForwarder } from '../support/forwarder.ts'
import { until } from './support/stage.ts'

const door = await createForwarder()
const gate = Promise.withResolvers<void>()
const begun = Promise.withResolvers<void>()
const question = { id: 'q', text: 'Which shelf?', options: [], freeText: true }

const rules: Readonly<Record<string, Rule>> = {
  docs: async (request, turn) => {
    const said = lastUserMessage(request)
    if (said.endsWith('ask') && turn === 0) return call('ask_question', { questions: [question] })
    if (said.endsWith('wait')) {
      begun.resolve()
      await gate.promise
    }
    return turn === 0 ? 'In the cellar.' : `Noted ${String(request.messages.at(-1)?.content)}`
  },
  desk: (request, turn) =>
    turn === 0
      ? call('docs', { message: lastUserMessage(request) })
      : `Told: ${String(request.messages.at(-1)?.content)}`,
}
const models = Object.fromEntries(
  Object.entries(rules).map(([id, rule]) => [`play/${id}`, scriptedModel(rule, { id: `play/${id}` })]),
)
const desk = {
  id: 'desk',
  model: 'play/desk',
  instructions: 'Ask.',
  remotes: [{ name: 'docs', address: '@docs@b.test' }],
}
const docs = {
  id: 'docs',
  model: 'play/docs',
  instructions: 'Look.',
  address: 'docs',
  questions: true,
  access: { call: ['@*'] },
}

describe('two servers', () => {
  let b: WitanServer
  let resolve: Record<string, string>
  /** The caller: it publishes its keys, and its clock may be off. */
  let a: Runtime
  let offsetMs = 0
  const asked: string[] = []
  const keys = createServer((request, response) => {
    asked.push(request.url ?? '')
    void a.signingKeys.list().then((all) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ keys: all.map(({ publicJwk }) => publicJwk) }))
    })
  })

  function caller(): Runtime {
    const now = () => Date.now() + offsetMs
    const later = (ms: number, then: () => void) => {
      const timer = setTimeout(then, ms)
      return () => clearTimeout(timer)
    }
    return createRuntime({
      ...{ models, agents: [desk as AgentInput], domains: { 'a.test': 'default' }, federation: { resolve } },
      store: memoryStore({ now }),
      clock: { now, after: later },
      report: () => undefined,
    })
  }
  async function serve(domain: string, agents: readonly object[]): Promise<WitanServer> {
    const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
    return startServer({
      ...config,
      auth: { mode: 'none' },
      server: { ...config.server, port: 0, domain, publicUrl: `https://${domain}` },
      federation: { ...config.federation, resolve },
      agents: agents as AgentInput[],
      models,
    })
  }

  before(async () => {
    await new Promise<void>((done) => keys.listen(0, '127.0.0.1', done))
    resolve = { 'a.test': `http://127.0.0.1:${(keys.address() as AddressInfo).port}`, 'b.test': door.url }
    b = await serve('b.test', [docs])
    door.lead(b.url)
    a = caller()
  })
  after(async () => {
    await a?.close()
    await b?.close()
    await door.close()
    keys.close()
  })

  const begin = async (prompt: string) => {
    const { run } = await a.start({ agent: 'desk', prompt })
    assert.ok(run !== null)
    return run
  }
  /** Rotates the keys of the caller, and lets some time pass on its clock. */
  const rotate = async (seconds: number) => {
    await a.signingKeys.rotate()
    offsetMs += seconds * 1_000
  }

  for (const [after, seconds, looks] of [
    ['at once', 0, 0],
    ['when every process shows it', 11, 0],
    ['when everybody knows it', 31, 1],
  ] as const)
    test(`a key changes while a call waits for an answer, which is given ${after}, on the same task`, async () => {
      const run = await begin('please ask')
      const [open] = ((await run.result) as RunResult).interruptions
      assert.equal(open?.kind, 'question')
      await rotate(seconds)
      const before = asked.length
      await a.answerInterruption(open?.id ?? '', { answer: { q: { text: 'the second' } } })
      const ended = await until(
        () => a.getRun(run.runId),
        ({ status }) => status === 'completed' || status === 'failed',
      )
      assert.match(ended.result?.text ?? '', /Noted .*the second/)
      assert.equal(asked.length, before + looks, 'its keys are asked for when it signs with the new one')
    })

  test('keys change again and again while a stream is open, which then breaks: the task is read all the same', async () => {
    const run = await begin('please wait')
    await begun.promise
    // The second note of the call has the id of the task: until then it would send the very message again.
    const notes = () => a.readEvents(run.conversationId, { verbose: true })
    await until(
      notes,
      ({ events }) =>
        events.filter(({ type, document }) => type === 'checkpoint' && document.endsWith('/docs')).length > 1,
    )
    for (const seconds of [1, 1, 1]) await rotate(seconds)
    door.hold()
    await door.held()
    gate.resolve()
    door.release()
    assert.equal(((await run.result) as RunResult).text, 'Told: In the cellar.')
  })

  for (const [what, hours] of [
    ['ahead', 1],
    ['behind', -1],
  ] as const)
    test(`a clock that is an hour ${what} lets nobody in, and the caller reads why`, async () => {
      await a.close()
      offsetMs = hours * 3_600_000
      a = caller()
      const { status, text } = (await (await begin('go')).result) as RunResult
      assert.equal(status, 'completed')
      assert.match(text, /@docs@b\.test failed: it answered 401: .*(future|expired|time|keys?)/)
      await a.close()
      offsetMs = 0
      a = caller()
    })

  test('an agent of the own server is called over the wire as any other', async () => {
    const own = await createForwarder()
    resolve['own.test'] = own.url
    const there = { ...docs, id: 'helper' }
    const server = await serve('own.test', [
      { ...there, address: 'helper' },
      { ...desk, address: 'desk', remotes: [{ name: 'docs', address: '@helper@own.test' }] },
    ])
    own.lead(server.url)
    const reply = await fetch(`${server.url}/api/v1/conversations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ agent: 'desk', prompt: 'go' }),
    })
    const { run } = (await reply.json()) as { run: RunResult }
    assert.equal(run.text, 'Told: In the cellar.')
    await server.close()
    await own.close()
  })
})
