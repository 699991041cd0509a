/** A model call that may have cost something and gave no reply: no sum has it, and every sum says so, also after a restart [E83]. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  createRuntime,
  memoryStore,
  type Model,
  ModelCallError,
  openaiCompatible,
  type Runtime,
  type RuntimeOptions,
  type Store,
} from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import type { RunResult } from '@witan/protocol'
import { assertUsage } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { chunk, createFakeProvider, eventStream, type FakeAnswer, jsonAnswer } from '../support/fake-provider.ts'
import { outliving } from '../support/reopen.ts'
import { agent, allEvents, createStage, settle, until } from '../support/stage.ts'

const used = { prompt_tokens: 10, completion_tokens: 2 }
const fine = eventStream([chunk({ content: 'Fine.' }), chunk({}, 'stop', used)])
const refused = (status: number): FakeAnswer => jsonAnswer({ error: { message: 'No.' } }, { status })
/** A stream that ends after these pieces, in no proper way. */
const broken = (deltas: readonly object[], end: FakeAnswer['end']): FakeAnswer => ({
  headers: { 'content-type': 'text/event-stream' },
  chunks: deltas.map((delta) => `data: ${JSON.stringify(chunk(delta))}\n\n`),
  ...(end === undefined ? {} : { end }),
})

/** What every reader says: the run's result, its tree, its document, and how many notices stand in the log. */
async function told(runtime: Runtime, run: string): Promise<readonly unknown[]> {
  const { result, tree } = await runtime.getRun(run)
  const events = await allEvents(runtime, 'chats/1')
  assertUsage(result as RunResult, events)
  const document = await runtime.getDocument('chats/1')
  const notices = events.filter(({ content }) => content['code'] === 'USAGE_INCOMPLETE')
  return [result?.usage.complete, tree.usage.complete, document.totalUsage.complete, notices.length]
}

const complete = [true, true, true, 0]
const incomplete = [false, false, false, 1]

/** One run on a model, told by this runtime and again by one that has only the log. */
async function tell(model: Model, options: RuntimeOptions = {}): Promise<readonly unknown[]> {
  const store = memoryStore()
  const open = () =>
    createRuntime({
      store: outliving(store),
      models: { 'play/model': model, ...options.models },
      agents: options.agents ?? [agent('root')],
      retry: { tries: 2, baseMs: 1 },
      report: () => {},
    })
  const runtime = open()
  const { runId } = await runtime.conversation('root', { id: 'chats/1' }).run('hello')
  const now = await told(runtime, runId)
  await runtime.close()
  const later = open()
  assert.deepEqual(await told(later, runId), now, 'after a restart')
  const { usage } = await later.conversation('root', { id: 'chats/1' }).run('and now?')
  assert.equal(usage.complete, true, 'the next run is another sum')
  await later.close()
  return now
}

describe('[E83] over a connection of our own', () => {
  const ask = async (first: readonly FakeAnswer[], options: { readonly timeoutMs?: number } = {}) => {
    const provider = await createFakeProvider([...first, fine])
    const said = await tell(openaiCompatible({ baseUrl: provider.baseUrl, model: 'm', ...options }))
    await provider.close()
    return said
  }

  for (const status of [400, 401, 402, 403, 404, 409, 422, 429, 500, 503, 529])
    test(`a call that is answered ${status} costs nothing`, async () => {
      assert.deepEqual(await ask([refused(status), refused(status)]), complete)
    })

  for (const status of [408, 502, 504, 524])
    test(`behind an answer ${status} the model may have worked all the same`, async () => {
      assert.deepEqual(await ask([refused(status)]), incomplete)
    })

  const breaks: readonly (readonly [string, FakeAnswer])[] = [
    ['in its words', broken([{ content: 'Hal' }], 'break')],
    ['before them', broken([{ role: 'assistant' }], 'break')],
    ['in a call', broken([{ tool_calls: [{ index: 0, id: 'c', function: { name: 'f' } }] }], 'break')],
    ['without naming an end', broken([{ content: 'Hal' }], 'proper')],
    ['with an error in it', { ...broken([{ content: 'Hal' }], 'proper'), ...errorAfter('Hal') }],
    ['in silence', broken([{ role: 'assistant' }], 'hang')],
    ['in silence, in its words', broken([{ content: 'Hal' }], 'hang')],
  ]
  for (const [how, answer] of breaks)
    test(`a stream that ends ${how} is lost`, async () => {
      assert.deepEqual(await ask([answer, fine], { timeoutMs: 1000 }), incomplete)
    })

  test('a refusal within a reply that has not begun costs nothing', async () => {
    const refusal = jsonAnswer({ error: { message: 'Slow down.', code: 429 } })
    assert.deepEqual(await ask([refusal]), complete)
  })

  test('an address where nobody listens costs nothing', async () => {
    const provider = await createFakeProvider([fine])
    await provider.close()
    const gone = openaiCompatible({ baseUrl: provider.baseUrl, model: 'm' })
    const there = scriptedModel(() => 'ok')
    let asked = 0
    const stream: Model['stream'] = (...given) => {
      asked += 1
      return (asked <= 2 ? gone : there).stream(...given)
    }
    assert.deepEqual(await tell({ id: 'm', stream }), complete)
  })
})

function errorAfter(text: string): Pick<FakeAnswer, 'chunks'> {
  const error = { error: { message: 'Slow down.', code: 429 } }
  return { chunks: [chunk({ content: text }), error].map((one) => `data: ${JSON.stringify(one)}\n\n`) }
}

describe('[E83] over any model', () => {
  const failing = (error: Error, times = 1): Model => {
    let asked = 0
    const there = scriptedModel(() => 'ok')
    return {
      id: 'failing',
      stream: (...given) => {
        asked += 1
        const thrown = { next: () => Promise.reject(error) }
        return asked <= times ? { [Symbol.asyncIterator]: () => thrown } : there.stream(...given)
      },
    }
  }

  test('an error that says nothing may have cost', async () => {
    assert.deepEqual(await tell(failing(new Error('oops'))), incomplete)
  })

  test('a try that is lost is lost, though the next one succeeds', async () => {
    assert.deepEqual(await tell(failing(new ModelCallError('gone', { retryable: true }))), incomplete)
    assert.deepEqual(await tell(failing(new ModelCallError('busy', { retryable: true, status: 429 }))), complete)
  })

  test('a lost call is lost, though another model answers for it', async () => {
    const gone = failing(new ModelCallError('gone', { retryable: true }), 2)
    const agents = [agent('root', { fallbacks: ['play/other'] })]
    const said = await tell(gone, { agents, models: { 'play/other': scriptedModel(() => 'ok', { id: 'other' }) } })
    assert.deepEqual(said, incomplete)
  })

  test('a summary that broke off is lost, and the run goes on', async () => {
    let asked = 0
    const there = scriptedModel(() => 'ok')
    const model: Model = {
      id: 'm',
      stream(request, options) {
        asked += 1
        const isSummary = request.messages[1]?.content.startsWith('<conversation>') === true
        const gone = failing(new ModelCallError('gone', { retryable: false }))
        return (isSummary ? gone : there).stream(request, options)
      },
    }
    const trim = { kind: 'summarize', maxTokensBefore: 1, maxTokensAfter: 1 } as never
    const runtime = createRuntime({ models: { 'play/model': model }, agents: [agent('root', { history: { trim } })] })
    const chat = runtime.conversation('root', { id: 'chats/1' })
    const usages = []
    for (const prompt of ['one', 'two', 'three']) usages.push((await chat.run(prompt)).usage)
    await runtime.close()
    assert.ok(asked > 3, 'a summary was asked for')
    assert.deepEqual([usages[0]?.complete, usages.every(({ complete: one }) => one)], [true, false])
  })
})

/** A root whose child's model never answers, on a store that others can open. */
function hanging(store: Store, options: RuntimeOptions = {}) {
  return createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'clerk' }] }, { id: 'clerk' }],
    plays: { root: [call('clerk', { message: 'work' }), 'done'], clerk: [{ hang: true }] },
    options: { store, ...options },
  })
}

/** Whether the usage of the whole is complete, of the root and of the clerk: by the result, and by the tree. */
async function partsOf(runtime: Runtime, run: string): Promise<readonly unknown[]> {
  const { result, tree } = await runtime.getRun(run)
  assertUsage(result as RunResult, await allEvents(runtime, 'chats/1'))
  const { byAgent, complete: whole } = result?.usage ?? {}
  const told = [whole, byAgent?.['root']?.complete, byAgent?.['root/clerk']?.complete]
  return [told, [tree.usage.complete, tree.children[0]?.usage.complete, tree.children[0]?.children[0]?.usage.complete]]
}

describe('[E83] a call that nobody waits for any more', () => {
  const ended = (runtime: Runtime, run: string) =>
    until(async () => ((await runtime.getRun(run)).result?.status ?? 'waiting') !== 'waiting')

  test('is lost when its run is cancelled: below the agent that asked, and in the whole', async () => {
    const stage = hanging(memoryStore())
    const { run } = await stage.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
    await until(() => stage.seenBy('clerk').length === 1)
    await stage.runtime.cancelRun(run?.runId ?? '')
    await ended(stage.runtime, run?.runId ?? '')
    const [told] = await partsOf(stage.runtime, run?.runId ?? '')
    assert.deepEqual(told, [false, true, false])
    assert.equal((await stage.document('chats/1')).totalUsage.complete, true)
    assert.equal((await stage.document('chats/1/clerk')).totalUsage.complete, false)
    await stage.runtime.close()
  })

  test('is lost when the time of its run is over', async () => {
    const clock = fakeClock()
    const stage = createStage({
      agents: [{ id: 'root', limits: { maxSeconds: 5 } }],
      plays: { root: [{ hang: true }] },
      options: { clock },
    })
    const { run } = await stage.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
    await until(() => stage.requests.length === 1)
    clock.advance(5001)
    assert.equal((await run?.result)?.error?.code, 'BUDGET_EXCEEDED')
    assert.deepEqual(await told(stage.runtime, run?.runId ?? ''), incomplete)
    await stage.runtime.close()
  })

  test('is lost when its own time is over', async () => {
    const clock = fakeClock()
    const stage = createStage({
      agents: [{ id: 'root' }],
      plays: { root: [{ hang: true }] },
      options: { clock, retry: { totalMs: 5000 } },
    })
    const { run } = await stage.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
    await until(() => stage.requests.length === 1)
    clock.advance(5001)
    assert.equal((await run?.result)?.error?.code, 'MODEL_CALL_FAILED')
    assert.deepEqual(await told(stage.runtime, run?.runId ?? ''), incomplete)
    await stage.runtime.close()
  })

  test('costs nothing while it only waits to be tried again', async () => {
    const busy = new ModelCallError('busy', { retryable: true, status: 429, retryAfterMs: 30_000 })
    const stage = createStage({ agents: [{ id: 'root' }], plays: { root: () => busy }, options: { retry: {} } })
    const { run } = await stage.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
    await until(() => stage.requests.length === 1)
    await settle()
    await stage.runtime.cancelRun(run?.runId ?? '')
    assert.equal((await run?.result)?.status, 'cancelled')
    assert.deepEqual(await told(stage.runtime, run?.runId ?? ''), complete)
    await stage.runtime.close()
  })
})

describe('[E83] [D3] a process that ends in the middle of a call', () => {
  const answered = (store: Store) =>
    createStage({
      agents: [{ id: 'root', subAgents: [{ agent: 'clerk' }] }, { id: 'clerk' }],
      plays: { root: [call('clerk', { message: 'work' }), 'done'], clerk: ['worked'] },
      options: { store },
    })

  for (const how of ['killed', 'closed'] as const)
    test(`leaves the call as lost to the next one: ${how}`, async (context) => {
      let now = Date.UTC(2026, 0, 1)
      const store = memoryStore({ now: () => now })
      const first = hanging(memoryStore({ beside: store }))
      context.after(() => first.runtime.close())
      const { run } = await first.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
      void run?.result.catch(() => {})
      await until(() => first.seenBy('clerk').length === 1)
      if (how === 'closed') await first.runtime.close()
      now += 60_000
      const next = answered(memoryStore({ beside: store }))
      context.after(() => next.runtime.close())
      await next.runtime.ready
      await until(async () => (await next.runtime.getRun(run?.runId ?? '')).result?.status === 'completed')
      assert.deepEqual((await partsOf(next.runtime, run?.runId ?? ''))[0], [false, true, false])
      const events = await next.events('chats/1')
      assert.equal(events.filter(({ content }) => content['code'] === 'USAGE_INCOMPLETE').length, 1)
    })

  test('has nothing to say of calls that had ended', async (context) => {
    let now = Date.UTC(2026, 0, 1)
    const store = memoryStore({ now: () => now })
    const agents = [agent('root', { questions: true })]
    const open = () => {
      const model = scriptedModel((_, turn) =>
        turn === 0 ? call('ask_question', { questions: [{ id: 'q', text: 'Well?' }] }) : 'done',
      )
      const runtime = createRuntime({ store: memoryStore({ beside: store }), agents, models: { 'play/model': model } })
      context.after(() => runtime.close())
      return runtime
    }
    const first = open()
    const waiting = await first.conversation('root', { id: 'chats/1' }).run('go')
    await first.close()
    now += 60_000
    const second = open()
    const [open1] = waiting.interruptions
    await second.answerInterruption(open1?.id ?? '', { answer: { q: { text: 'Well.' } } })
    await until(async () => (await second.getRun(waiting.runId)).result?.status === 'completed')
    assert.deepEqual(await told(second, waiting.runId), complete)
  })
})
