/**
 * A run that came with evidence may use the tools that are for whom it proved, from its beginning to the end of everything below it:
 * whoever works there, however long, in whichever process. Another run of the same caller must prove it anew.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool, memoryStore, type Principal } from '@witan/core'
import { call, lastUserMessage } from '@witan/core/testing'
import type { DatabaseId } from '@witan/protocol'
import type { ProvenEvidence } from '@witan/protocol/entries'
import { z } from 'zod'
import { fakeClock } from '../support/clock.ts'
import { outliving } from '../support/reopen.ts'
import { type AgentDraft, createGate, createStage, type Play, until } from '../support/stage.ts'

const start = Date.UTC(2026, 0, 1)
const anna = 'mailto:anna@a.test'
const proven = (onBehalfOf: readonly string[], digest = 'sha256:1'): ProvenEvidence => ({
  ...{ subject: '@a@a.test', issuer: 'https://a.test', onBehalfOf, digest, expiresAt: start + 300_000 },
})
const from = (...evidence: readonly ProvenEvidence[]): Principal => ({
  ...{ database: 'default' as DatabaseId, id: '@a@a.test', roles: ['run'], address: '@a@a.test' },
  ...(evidence.length === 0 ? {} : { incoming: { evidence } }),
})

/** Every agent may pay for Anna alone. */
const agentOf = (id: string, more: Partial<AgentDraft> = {}): AgentDraft => ({
  ...{ id, tools: ['pay'], access: { call: ['@a@a.test'], tools: { pay: [['@a@a.test', `for:${anna}`]] } } },
  ...more,
})

function staged(plays: Readonly<Record<string, Play>>, store = memoryStore(), clock = fakeClock(start)) {
  const paid: string[] = []
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({}),
    effect: 'none',
    execute: (_args, { agent }) => {
      paid.push(agent)
      return 'paid'
    },
  })
  const stage = createStage({
    agents: [
      agentOf('root', {
        ...{ questions: true, subAgents: [{ agent: 'child' }, { agent: 'late', blocking: 'never' }] },
        transfers: [{ agent: 'target' }],
      }),
      ...['child', 'late', 'target'].map((id) => agentOf(id)),
    ],
    plays,
    options: { tools: [pay], store, clock },
  })
  return { ...stage, paid, clock }
}

const pays: Play = (_, at) => (at === 0 ? call('pay') : 'done')
const others = { child: pays, late: pays, target: pays }
const refused = 'NOT_ALLOWED'

/** Which agents were told that they have no such tool. */
async function refusals({ events }: ReturnType<typeof staged>): Promise<readonly string[]> {
  return (await events('chats/1')).flatMap(({ type, author, content }) =>
    type === 'error' && (content as { code?: string }).code === refused ? [author] : [],
  )
}

const whole: Play = (request, at) => {
  const isFollowUp = lastUserMessage(request) !== 'go'
  if (at === 0) return call('pay')
  if (isFollowUp) return 'done'
  if (at === 1) return { toolCalls: ['child', 'late'].map((name) => ({ name, arguments: { message: 'go' } })) }
  return at === 2 ? call('transfer_to_agent', { agent_name: 'target' }) : 'done'
}

async function idle({ runtime }: ReturnType<typeof staged>): Promise<void> {
  await until(async () => (await runtime.getConversation('chats/1')).status === 'idle')
}

test('[M24] [C31] a sub-agent, a task, a hand-over and a follow-up may do what the evidence of their run proved', async () => {
  const stage = staged({ root: whole, ...others })
  const opened = await stage.runtime.as(from(proven([anna]))).start({ agent: 'root', id: 'chats/1', prompt: 'go' })
  await opened.run?.result
  await until(async () => (await stage.runtime.getConversation('chats/1')).runs.length === 2)
  await idle(stage)
  assert.deepEqual(stage.paid.toSorted(), ['child', 'late', 'root', 'root', 'target'])
  assert.deepEqual(await refusals(stage), [])
})

test('[M24] without that evidence, or with that of another, none of them may', async () => {
  for (const evidence of [[], [proven(['mailto:eve@a.test'])], [proven(['mailto:eve@a.test', anna])]]) {
    const stage = staged({ root: whole, ...others })
    const opened = await stage.runtime.as(from(...evidence)).start({ agent: 'root', id: 'chats/1', prompt: 'go' })
    await opened.run?.result
    await until(async () => (await stage.runtime.getConversation('chats/1')).runs.length === 2)
    await idle(stage)
    assert.deepEqual(stage.paid, [])
    assert.deepEqual((await refusals(stage)).toSorted(), ['child', 'late', 'root', 'root', 'target'])
    for (const { tools } of stage.requests) assert.ok(!tools.some(({ name }) => name === 'pay'))
  }
})

test('[M24] after an answer, after a restart, and after the evidence has expired', async () => {
  const clock = fakeClock(start)
  const store = outliving(memoryStore({ now: clock.now }))
  const question = call('ask_question', { questions: [{ id: 'a', text: 'Sure?', options: [], freeText: true }] })
  const plays = { ...others, root: ((_, at) => (at === 0 ? question : at === 1 ? call('pay') : 'done')) as Play }
  const first = staged(plays, store, clock)
  const caller = from(proven([anna]))
  const opened = await first.runtime.as(caller).start({ agent: 'root', id: 'chats/1', prompt: 'go' })
  assert.equal((await opened.run?.result)?.status, 'waiting')
  await first.runtime.close()
  clock.advance(3_600_000)
  const next = staged(plays, store, clock)
  await next.runtime.ready
  const [asked] = (await next.runtime.listInterruptions({ state: 'open' })).items
  // A person of this server answers: that changes nothing.
  await next.runtime.answerInterruption(asked?.id ?? '', { answer: { a: { text: 'yes' } } } as never)
  await idle(next)
  assert.deepEqual([next.paid, await refusals(next)], [['root'], []])
  // Another run proves nothing of the one before.
  await (await next.runtime.as(from()).run('chats/1', { prompt: 'again' })).result
  assert.deepEqual(next.paid, ['root'])
})

test('[M24] what joins a run changes none of its rights: neither a message with other evidence, nor what renews its own', async () => {
  const held = createGate()
  const stage = staged({
    ...others,
    root: async (_, at) => {
      if (at === 0) await held.opened
      return at < 2 ? call('pay') : 'done'
    },
  })
  const opened = await stage.runtime.as(from()).start({ agent: 'root', id: 'chats/1', prompt: 'go' })
  const richer = stage.runtime.as(from(proven([anna])))
  const joined = await richer.run('chats/1', { prompt: 'and this' })
  assert.equal(joined.runId, opened.run?.runId)
  await richer.ownRuns.renew('chats/1')
  held.open()
  await joined.result
  assert.deepEqual(stage.paid, [])
  await (await richer.run('chats/1', { prompt: 'by itself' })).result
  assert.deepEqual(stage.paid, ['root', 'root'])
})
