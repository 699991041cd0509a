/** A tool that starts a job elsewhere, polls it, and asks a person what the job wants to know: through a crash at every append, the job starts once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineTool, memoryStore, type Runtime, type Store } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { z } from 'zod'
import { assertEpochs, assertSound, storedEntries } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { type CrashMoment, crashingStore } from '../support/crashing-store.ts'
import { outliving } from '../support/reopen.ts'
import { agent, allEvents, cast, settle } from '../support/stage.ts'

/** Another server: it starts jobs, and each asks for a size before it can be done. It outlives every crash here. */
class Remote {
  readonly started: string[] = []
  readonly sizes = new Map<string, string>()
  polls = 0

  /** The same key starts one job, however often it comes. */
  start(key: string): string {
    if (!this.started.includes(key)) this.started.push(key)
    return key
  }

  poll(job: string): 'working' | 'asks for a size' | 'done' {
    this.polls += 1
    if (this.sizes.has(job)) return 'done'
    return this.polls % 2 === 1 ? 'working' : 'asks for a size'
  }
}

function open(store: Store, remote: Remote, clock: ReturnType<typeof fakeClock>) {
  const build = defineTool({
    name: 'build',
    description: 'Builds elsewhere.',
    parameters: z.object({}),
    async execute(_, { callId, ask, checkpoint }) {
      // The checkpoint says that this call knows how to go on: a crash after it does not make the outcome unknown.
      if (checkpoint.value === undefined) await checkpoint.save({ key: `job-${callId}` })
      const { key } = (checkpoint.value ?? { key: `job-${callId}` }) as { key: string }
      const job = remote.start(key)
      for (;;) {
        const state = remote.poll(job)
        if (state === 'done') return `${job} is ${remote.sizes.get(job)}`
        if (state === 'asks for a size') {
          const { size } = await ask([{ id: 'size', text: 'Which size?' }])
          remote.sizes.set(job, size?.text ?? '')
        }
        await settle(1)
      }
    },
  })
  const model = scriptedModel(cast({ root: (request) => toolResults(request)[0] ?? call('build') }))
  return createRuntime({
    store,
    clock,
    models: { 'play/model': model },
    agents: [agent('root', { tools: ['build'] })],
    tools: [build],
    retry: { tries: 1 },
  })
}

/** Starts, answers, waits for the end; each step again where a crash cut it off. */
async function play(runtime: Runtime): Promise<'end'> {
  for (;;) {
    const state = await runtime.getConversation('chats/1').catch(() => null)
    if (state === null) await runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
    else if (state.status === 'idle') return 'end'
    for (const { id } of state?.interruptions ?? [])
      await runtime.answerInterruption(id, { answer: { size: { text: 'large' } } }).catch(() => undefined)
    await settle(1)
  }
}

async function trial(at: number, moment: CrashMoment) {
  const clock = fakeClock()
  const remote = new Remote()
  const store = outliving(memoryStore({ now: clock.now }))
  const crashing = crashingStore(store, at, moment)
  const first = open(crashing.store, remote, clock)
  const outcome = await Promise.race([play(first), crashing.crashed.then(() => 'crash' as const)])
  if (outcome === 'crash') {
    clock.advance(60_000)
    const second = open(store, remote, clock)
    await play(second)
    await second.close()
  }
  const reader = open(store, remote, clock)
  const [run] = (await reader.getConversation('chats/1')).runs
  const { result } = await reader.getRun(run?.runId ?? '')
  const events = await allEvents(reader, 'chats/1')
  assertSound(events)
  assertEpochs(await storedEntries(store, 'chats/1'))
  await reader.close()
  return { outcome, appends: crashing.appends(), remote, result, events }
}

test('[D1] [E78] [F29] a tool with a checkpoint polls on after a crash at any append, and its job is started once', async (context) => {
  const { appends } = await trial(0, 'before')
  assert.ok(appends > 5, `${appends} appends`)
  let crashes = 0
  let unknown = 0
  for (let at = 1; at <= appends; at += 1) {
    for (const moment of ['before', 'after'] as const) {
      const { outcome, remote, result, events } = await trial(at, moment)
      if (outcome === 'crash') crashes += 1
      assert.equal(result?.status, 'completed', `append ${at}, ${moment}`)
      assert.ok(remote.started.length <= 1, `${remote.started.length} jobs at append ${at}, ${moment}`)
      const lost = events.some(({ type, content }) => type === 'error' && content['code'] === 'OUTCOME_UNKNOWN')
      if (lost) unknown += 1
      // Only a crash between the intent and the first checkpoint leaves an outcome unknown; then no job was started.
      if (lost) assert.equal(remote.started.length, 0)
      else assert.match(result?.text ?? '', /^job-\S+ is large$/)
    }
  }
  context.diagnostic(`${crashes} crashes, ${unknown} before the first checkpoint`)
  assert.ok(crashes >= appends, `${crashes} crashes`)
})
