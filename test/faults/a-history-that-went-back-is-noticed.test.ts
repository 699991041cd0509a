/** What is stored goes back while processes run that know more: they drop it, and nothing is stuck. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, postgresStore, type Runtime } from '@witan/core'
import { call, type Rule, scriptedModel, turns } from '@witan/core/testing'
import { isWitanError } from '@witan/protocol'
import { waysBack } from '../postgres/support/going-back.ts'
import { closers, type Later } from '../support/closers.ts'
import { actionsIn, agent, cast } from '../support/stage.ts'

const timeout = 60_000

interface Process {
  readonly runtime: Runtime
  readonly reports: readonly string[]
  /** What people said in the last request to its clerk. */
  heard(): readonly string[]
  say(id: string, prompt: string): Promise<string>
}

const agents = [
  agent('clerk'),
  agent('asker', { actions: [{ name: 'Ask' }] }),
  agent('boss', { subAgents: [{ agent: 'asker', blocking: 'never' }] }),
]

const bossRule: Rule = ({ messages }) =>
  messages.some(({ role }) => role === 'assistant') ? 'Noted.' : call('asker', { message: 'Go.' })

async function startProcess(later: Later, url: string): Promise<Process> {
  const reports: string[] = []
  const heard: { last: readonly string[] } = { last: [] }
  const clerk: Rule = ({ messages }) => {
    heard.last = messages.flatMap((one) => (one.role === 'user' ? [textOf(one.content)] : []))
    return `Answer ${heard.last.length}.`
  }
  const model = scriptedModel(cast({ clerk, asker: turns(call('Ask', {}), 'Asked.'), boss: bossRule }))
  const store = postgresStore({ url, timeouts: { replyMs: 2_000, connectMs: 2_000 } })
  const runtime = createRuntime({
    ...{ store, agents, models: { 'play/model': model }, leaseMs: 2_000 },
    report: (error) => reports.push(error instanceof Error ? error.message : String(error)),
  })
  later(() => runtime.close().catch(() => {}))
  await runtime.ready
  return {
    runtime,
    reports,
    heard: () => heard.last,
    say: async (id, prompt) => (await (await runtime.run(id, { prompt })).result).text,
  }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** Follows a conversation: what people said in it, and the error with which the stream ends. */
function read(runtime: Runtime, id: string) {
  const left = new AbortController()
  const texts: string[] = []
  const follow = async () => {
    for await (const { type, content } of runtime.followEvents(id, { signal: left.signal }))
      if (type === 'message') texts.push(content.text)
  }
  const over = follow().then(
    () => null,
    (error: unknown) => error,
  )
  return { texts, over, leave: () => left.abort() }
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content)
}

for (const [what, way] of Object.entries(waysBack)) {
  test(`${what}: processes that knew more ask their model with what is stored`, { timeout }, async (context) => {
    const later = closers(context)
    const server = await way(later)
    const [one, other] = [await startProcess(later, server.url), await startProcess(later, server.url)]
    await one.runtime.start({ agent: 'clerk', id: 'chats/1', prompt: 'ONE' })
    await other.say('chats/1', 'TWO')
    await one.say('chats/1', 'THREE')
    await (await one.runtime.start({ agent: 'clerk', id: 'chats/2', prompt: 'KEPT' })).run?.result
    const { lastSeq } = await one.runtime.readEvents('chats/1')
    const readers = [one, other].map(({ runtime }) => read(runtime, 'chats/1'))
    const kept = [one, other].map(({ runtime }) => read(runtime, 'chats/2'))
    await server.mark()
    await one.say('chats/1', 'LOST')
    await other.say('chats/1', 'LOST TOO')
    for (const { texts } of readers) await until(() => texts.includes('LOST TOO'))
    await server.goBack()
    const fresh = await startProcess(later, server.url)
    for (const prompt of ['FOUR', 'FIVE', 'SIX']) await fresh.say('chats/1', prompt)
    await one.say('chats/1', 'SEVEN')
    const known = ['ONE', 'TWO', 'THREE', 'FOUR', 'FIVE', 'SIX', 'SEVEN']
    assert.deepEqual(one.heard(), known)
    await other.say('chats/1', 'EIGHT')
    assert.deepEqual(other.heard(), [...known, 'EIGHT'])
    const { messages } = await one.runtime.getDocument('chats/1')
    const said = messages.flatMap(({ role, text }) => (role === 'user' ? [text] : []))
    assert.deepEqual(said, [...known, 'EIGHT'])
    for (const { over } of readers) {
      const error = await over
      assert.ok(isWitanError(error))
      assert.deepEqual([error.code, error.details], ['EVENT_ID_AHEAD', { from: lastSeq }])
    }
    await one.say('chats/2', 'MORE')
    for (const { texts, leave } of kept) {
      await until(() => texts.includes('MORE'))
      leave()
    }
    for (const { reports } of [one, other]) {
      const noticed = reports.filter((report) => report.includes('went back'))
      assert.equal(noticed.length, 1, `one line for each process: ${reports.join('\n')}`)
    }
  })

  test(`${what}: answers that were lost are given again, and nothing is stuck`, { timeout }, async (context) => {
    const later = closers(context)
    const server = await way(later)
    const [one, other] = [await startProcess(later, server.url), await startProcess(later, server.url)]
    const runs = ['chats/r0', 'chats/r1', 'chats/r2', 'chats/r3']
    const tasks = ['chats/t0', 'chats/t1', 'chats/t2', 'chats/t3']
    for (const id of runs) await (await one.runtime.start({ agent: 'asker', id, prompt: 'Go.' })).run?.result
    for (const id of tasks) await (await one.runtime.start({ agent: 'boss', id, prompt: 'Go.' })).run?.result
    const openIn = async ({ runtime }: Process, id: string) =>
      actionsIn((await runtime.listInterruptions({ state: 'open', limit: 50 })).items).filter(
        ({ conversationId }) => conversationId === id,
      )
    const open = new Map<string, string>()
    for (const id of [...runs, ...tasks])
      for (let found = ''; found === ''; open.set(id, found)) found = (await openIn(one, id))[0]?.id ?? ''
    await server.mark()
    const answer = async ({ runtime }: Process, id: string) => {
      const response = { id: open.get(id) as string, response: 'yes' }
      await (await runtime.run(id, { actionResponses: [response] })).result
    }
    const processOf = (at: number) => (at % 2 === 0 ? one : other)
    const all = [...runs, ...tasks]
    for (const [at, id] of all.entries()) await answer(processOf(at), id)
    await one.runtime.start({ agent: 'clerk', id: 'chats/lost', prompt: 'LOST' })
    await server.goBack()
    // Half of them through the process that took the lost answer, half through the other one.
    for (const [at, id] of all.entries()) await answer(at < 2 || at > 5 ? processOf(at) : processOf(at + 1), id)
    for (const id of all)
      for (;;) {
        const { activeRunId, tasks: live } = await one.runtime.getConversation(id)
        if (activeRunId === null && live.length === 0) break
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    const ended = await one.runtime.tasks.list({ limit: 50 })
    assert.deepEqual(
      ended.items.map(({ status }) => status),
      tasks.map(() => 'completed'),
    )
    await one.runtime.start({ agent: 'clerk', id: 'chats/lost', prompt: 'AGAIN' })
    assert.deepEqual(one.heard(), ['AGAIN'])
  })
}
