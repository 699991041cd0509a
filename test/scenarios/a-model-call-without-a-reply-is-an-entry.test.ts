/** A model call that ends without a reply is an entry of its own, before what follows from it; no terse reader and no result shows it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore, ModelCallError, type ModelPart } from '@witan/core'
import { call } from '@witan/core/testing'
import type { AnyEvent } from '@witan/protocol'
import { fakeClock } from '../support/clock.ts'
import { createStage, type Stage, until } from '../support/stage.ts'

type Options = Parameters<typeof createStage>[0]

/** What a verbose reader gets of model calls without a reply, and the event behind each. */
async function readFailed(stage: Stage): Promise<readonly unknown[]> {
  const events = await stage.events('chats/1')
  const terse = await stage.runtime.readEvents('chats/1', { from: 0 })
  const isOne = ({ type, kind }: Pick<AnyEvent, 'type' | 'kind'>) => type === 'error' && kind === 'model'
  assert.ok(!terse.events.some(isOne), 'no terse reader gets it')
  return events.flatMap((event, at) => {
    if (!isOne(event)) return []
    const { code, model, spent } = event.content
    const next = events[at + 1]
    return [[event.author, code, model, spent, next?.content['code'] ?? next?.type]]
  })
}

const gone = new ModelCallError('no such model', { retryable: false, status: 404 })
const full = new ModelCallError('too long', { retryable: false, trouble: 'context' })
const one = [{ id: 'root' }]

interface Way {
  readonly what: string
  readonly how: Options
  /** What happens while the model hangs. */
  readonly meanwhile?: (stage: Stage, run: string) => unknown
  readonly status: string
  readonly failed: readonly unknown[]
}

const ways: readonly Way[] = [
  {
    what: 'it fails',
    how: { agents: one, plays: { root: () => gone } },
    status: 'failed',
    failed: [['root', 'MODEL_CALL_FAILED', 'scripted/model', true, 'MODEL_CALL_FAILED']],
  },
  {
    what: 'its request is too long',
    how: { agents: one, plays: { root: () => full } },
    status: 'failed',
    failed: [['root', 'MODEL_CONTEXT_EXCEEDED', 'scripted/model', true, 'MODEL_CONTEXT_EXCEEDED']],
  },
  {
    what: 'it fails below, and its caller goes on',
    how: {
      agents: [{ id: 'root', subAgents: [{ agent: 'clerk' }] }, { id: 'clerk' }],
      plays: { root: [call('clerk', { message: 'work' }), 'done'], clerk: () => gone },
    },
    status: 'completed',
    failed: [['clerk', 'MODEL_CALL_FAILED', 'scripted/model', true, 'MODEL_CALL_FAILED']],
  },
  {
    what: 'the budget refuses it',
    how: {
      agents: [{ id: 'root', limits: { maxModelCalls: 1 } }],
      plays: { root: [call('nothing', {}), 'done'] },
    },
    status: 'failed',
    failed: [['root', 'BUDGET_EXCEEDED', 'play/model', false, 'BUDGET_EXCEEDED']],
  },
  {
    what: 'its run is cancelled',
    how: { agents: one, plays: { root: [{ hang: true }] } },
    meanwhile: (stage, run) => stage.runtime.cancelRun(run),
    status: 'cancelled',
    failed: [['root', 'MODEL_CALL_LOST', 'scripted/model', true, 'USAGE_INCOMPLETE']],
  },
]

for (const { what, how, meanwhile, status, failed } of ways)
  test(`[E83] ${what}`, async () => {
    const stage = createStage(how)
    const { run } = await stage.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
    if (meanwhile !== undefined) {
      await until(() => stage.requests.length === 1)
      await meanwhile(stage, run?.runId ?? '')
    }
    assert.equal((await run?.result)?.status, status)
    assert.deepEqual(await readFailed(stage), failed)
    await stage.runtime.close()
  })

for (const [whose, options, limits] of [
  ['its own', { retry: { totalMs: 5_000 } }, {}],
  ['that of its run', {}, { maxSeconds: 5 }],
] as const)
  test(`[E83] the time is over: ${whose}`, async () => {
    const clock = fakeClock()
    const agents = [{ id: 'root', limits }]
    const stage = createStage({ agents, plays: { root: [{ hang: true }] }, options: { clock, ...options } })
    const { run } = await stage.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
    await until(() => stage.requests.length === 1)
    clock.advance(5_001)
    await run?.result
    const lost = ['root', 'MODEL_CALL_LOST', 'scripted/model', true, 'USAGE_INCOMPLETE']
    assert.deepEqual(await readFailed(stage), [lost])
    await stage.runtime.close()
  })

for (const how of ['killed', 'closed'] as const)
  test(`[D3] [D13] its process is ${how}: it counts as spent, also once the run has waited for a person`, async (context) => {
    let now = Date.UTC(2026, 0, 1)
    const store = memoryStore({ now: () => now })
    const open = (root: () => Promise<ModelPart> | object) => {
      const agents = [{ id: 'root', limits: { maxModelCalls: 3 }, questions: true }]
      const stage = createStage({
        agents,
        plays: { root },
        options: { store: memoryStore({ beside: store }) },
      } as Options)
      context.after(() => stage.runtime.close())
      return stage
    }
    const first = open(() => ({ hang: true }))
    const { run } = await first.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
    void run?.result.catch(() => {})
    await until(() => first.requests.length === 1)
    if (how === 'closed') await first.runtime.close()
    now += 60_000
    const ask = () => call('ask_question', { questions: [{ id: 'q', text: 'Well?' }] })
    const next = open(ask)
    await next.runtime.ready
    const answers = { answer: { q: { options: [], text: 'Yes.' } } }
    for (let asked = 0; asked < 2; asked += 1) {
      await until(async () => (await next.runtime.getConversation('chats/1')).interruptions.length > 0)
      const [open] = (await next.runtime.getConversation('chats/1')).interruptions
      await next.runtime.answerInterruption(open?.id ?? '', answers)
    }
    await until(async () => (await next.runtime.getRun(run?.runId ?? '')).result?.status === 'failed')
    const { result } = await next.runtime.getRun(run?.runId ?? '')
    assert.match(result?.error?.detail ?? '', /modelCalls 3 of 3 used \(root 2, failed 1\)/)
    assert.deepEqual(await readFailed(next), [
      ['root', 'MODEL_CALL_LOST', how === 'closed' ? 'scripted/model' : 'play/model', true, 'USAGE_INCOMPLETE'],
      ['root', 'BUDGET_EXCEEDED', 'play/model', false, 'BUDGET_EXCEEDED'],
    ])
  })

test('[E83] a reply says what came between its request and it, and so does a call without one', async () => {
  const gate = Promise.withResolvers<void>()
  const stage = createStage({
    agents: one,
    plays: {
      root: async () => {
        await gate.promise
        return gone
      },
    },
  })
  const { run } = await stage.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
  await until(() => stage.requests.length === 1)
  await stage.runtime.run('chats/1', { prompt: 'more', onActive: 'enqueue' })
  gate.resolve()
  await run?.result
  let behind: unknown = null
  for await (const line of stage.runtime.exportConversation('chats/1')) {
    const { entry } = JSON.parse(line) as { readonly entry?: { type: string; kind: string; body: { behind?: number } } }
    if (entry?.type === 'error' && entry.kind === 'model') behind ??= entry.body.behind
  }
  assert.equal(behind, 1)
  await stage.runtime.close()
})
