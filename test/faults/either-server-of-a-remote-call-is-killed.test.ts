/** Two real servers, one of which calls an agent of the other: either is killed at each step and started again; the run ends right, on one task. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createGate } from '../acceptance/support/model-server.ts'
import { agent, createStage, segment, type Stage, until } from '../acceptance/support/stage.ts'
import { createForwarder } from '../support/forwarder.ts'

type Forwarder = Awaited<ReturnType<typeof createForwarder>>
const free = { id: 'shelf', text: 'Which shelf?', options: [], multiple: false, freeText: true, required: true }
const ask = { calls: [{ name: 'ask_question', args: { questions: [free] } }] }

interface Side {
  readonly stage: Stage
  readonly door: Forwarder
}

let a: Side
let b: Side

async function open(domain: string, door: Forwarder, resolve: Readonly<Record<string, string>>): Promise<Side> {
  const server = { domain, publicUrl: `https://${domain}` }
  const stage = await createStage({ store: 'file', prepare: () => ({ server, federation: { resolve } }) })
  door.lead(stage.witan.url)
  return { stage, door }
}

before(async () => {
  const [first, second] = await Promise.all([createForwarder(), createForwarder()])
  const resolve = { 'a.test': first.url, 'b.test': second.url }
  ;[a, b] = await Promise.all([open('a.test', first, resolve), open('b.test', second, resolve)])
  await b.stage.save(agent('docs', { address: 'docs', questions: true, access: { call: ['@*@a.test'] } }))
  await a.stage.save(agent('desk', { remotes: [{ name: 'docs', address: '@docs@b.test', description: 'Knows.' }] }))
})
after(async () => {
  for (const side of [a, b]) {
    await side?.door.close()
    await side?.stage.close()
  }
})

async function restart({ stage, door }: Side): Promise<void> {
  door.lead(null)
  await stage.witan.kill()
  await stage.witan.start()
  door.lead(stage.witan.url)
}

const steps = ['the request is on its way', 'it streams', 'a question waits', 'the answer was sent'] as const

describe('a call between two servers', () => {
  for (const step of steps)
    for (const victim of ['caller', 'called'] as const)
      test(`[D1] [I9] kill -9 of the ${victim} while ${step}`, { timeout: 120_000 }, async () => {
        const killed = victim === 'caller' ? a : b
        const gates = { 'it streams': createGate(), 'the answer was sent': createGate() }
        b.stage.model.on('docs', ({ body }) => {
          const isAnswered = body.messages.some(({ role }) => role === 'tool')
          const which = isAnswered ? 'the answer was sent' : 'it streams'
          const hold = step === which ? { hold: gates[which] } : {}
          return isAnswered ? { text: 'Shelf 7.', ...hold } : { ...ask, ...hold }
        })
        a.stage.model.on('desk', ({ body }) => {
          const last = body.messages.at(-1)
          return last?.role === 'tool'
            ? { text: `Told: ${String(last.content)}` }
            : { calls: [{ name: 'docs', args: { message: step } }] }
        })
        const before = await tasks()
        const { id } = await a.stage.begin('desk')
        if (step === steps[0]) b.door.hold()
        await a.stage.runAnswer(id, { prompt: 'go', wait: false })
        if (step === steps[0]) {
          await b.door.held()
          await restart(killed)
          b.door.release()
        }
        if (step === 'it streams') await kill(killed, gates[step])
        const { interruptions } = await until(
          () => a.stage.conversation(id),
          (found) => found.interruptions.length === 1,
        )
        if (step === 'a question waits') await restart(killed)
        const answer = { answer: { shelf: { text: 'seven' } } }
        const path = `/api/v1/interruptions/${segment(interruptions[0]?.id ?? '')}/answer`
        const answered = await a.stage.witan.call('POST', path, { body: answer })
        assert.equal(answered.status, 200, answered.text)
        if (step === 'the answer was sent') await kill(killed, gates[step])
        const { runs } = await until(
          () => a.stage.conversation(id),
          (found) => found.runs[0]?.status !== 'running' && found.runs[0]?.status !== 'waiting',
        )
        const run = await a.stage.witan.call<{ result: { text: string } }>('GET', `/api/v1/runs/${runs[0]?.runId}`)
        assert.match(run.body.result.text, /Shelf 7\./)
        assert.equal((await tasks()) - before, 1, 'its task was made once')
      })
})

async function kill(side: Side, gate: ReturnType<typeof createGate>): Promise<void> {
  await gate.entered
  await restart(side)
  gate.open()
}

/** How many tasks there are on the called server. */
async function tasks(): Promise<number> {
  const { body } = await b.stage.witan.call<{ items: unknown[] }>('GET', '/api/v1/conversations?limit=100')
  return body.items.length
}
