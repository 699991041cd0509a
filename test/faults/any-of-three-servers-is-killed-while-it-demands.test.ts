/**
 * Three real servers in a row. Two of three siblings of a fan-out demand something, one of them on the third server. Any of the servers is killed
 * while the demands wait, and while what was met is at work: the run ends right, and each demand is made and met once.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createGate } from '../acceptance/support/model-server.ts'
import { agent, createStage, segment, type Stage, until } from '../acceptance/support/stage.ts'
import { createForwarder } from '../support/forwarder.ts'

const names = ['a', 'b', 'c'] as const
type Name = (typeof names)[number]

interface Side {
  readonly stage: Stage
  readonly door: Awaited<ReturnType<typeof createForwarder>>
}

const demands = [{ kind: 'consent_required', message: 'May we?' }]
const access = { call: ['@*'] }
const remote = (name: string, address: string) => ({ name, address, description: 'Knows.' })
const siblings = ['middle', 'strict', 'free']
/** Each server takes its time to start again: of a quick run only the one between is killed. */
const victims: readonly Name[] = process.env['WITAN_TESTS'] === 'all' ? names : ['b']
const steps = ['the demands wait', 'what was met is at work'] as const

describe('a fan-out with demands over three servers', () => {
  const sides = {} as Record<Name, Side>

  before(async () => {
    const doors = await Promise.all(names.map(() => createForwarder()))
    const resolve = Object.fromEntries(names.map((name, at) => [`${name}.test`, doors[at]?.url ?? '']))
    await Promise.all(
      names.map(async (name, at) => {
        const server = { domain: `${name}.test`, publicUrl: `https://${name}.test` }
        const stage = await createStage({ store: 'file', prepare: () => ({ server, federation: { resolve } }) })
        const door = doors[at] as Side['door']
        door.lead(stage.witan.url)
        sides[name] = { stage, door }
      }),
    )
    await sides.c.stage.save(agent('leaf', { address: 'leaf', access, demands }))
    await sides.b.stage.save(
      agent('middle', { address: 'middle', access, remotes: [remote('leaf', '@leaf@c.test')] }),
      agent('strict', { address: 'strict', access, demands }),
      agent('free', { address: 'free', access }),
    )
    await sides.a.stage.save(agent('desk', { remotes: siblings.map((name) => remote(name, `@${name}@b.test`)) }))
  })
  after(async () => {
    for (const { door, stage } of Object.values(sides)) {
      await door.close()
      await stage.close()
    }
  })

  async function restart({ stage, door }: Side): Promise<void> {
    door.lead(null)
    await stage.witan.kill()
    await stage.witan.start()
    door.lead(stage.witan.url)
  }

  /** How many runs there are on each server. */
  const counts = () =>
    Promise.all(
      names.map(async (name) => {
        const { body } = await sides[name].stage.witan.call<{ items: unknown[] }>(
          'GET',
          '/api/v1/conversations?limit=100',
        )
        return body.items.length
      }),
    )

  for (const step of steps)
    for (const victim of victims)
      test(`[D1] [M21] kill -9 of ${victim} while ${step}`, { timeout: 120_000 }, async () => {
        const gate = createGate()
        const isHeld = step === steps[1]
        const told = (body: { readonly messages: readonly { readonly role: string; readonly content?: unknown }[] }) =>
          body.messages.flatMap(({ role, content }) => (role === 'tool' ? [String(content)] : [])).join(' + ')
        const calls = (tools: readonly string[]) => ({
          calls: tools.map((name) => ({ name, args: { message: 'go' } })),
        })
        sides.a.stage.model.on('desk', ({ body }) => (told(body) === '' ? calls(siblings) : { text: told(body) }))
        sides.b.stage.model.on('middle', ({ body }) => (told(body) === '' ? calls(['leaf']) : { text: told(body) }))
        for (const name of ['strict', 'free']) sides.b.stage.model.on(name, () => ({ text: name }))
        sides.c.stage.model.on('leaf', () => ({ text: 'leaf', ...(isHeld ? { hold: gate } : {}) }))
        const before = await counts()
        const { id } = await sides.a.stage.begin('desk')
        await sides.a.stage.runAnswer(id, { prompt: 'go', wait: false })
        const { interruptions } = await until(
          () => sides.a.stage.conversation(id),
          (found) => found.interruptions.length === 2,
        )
        // What is at work when its server dies is told as a failure; here everything else has ended.
        await until(
          () => sides.a.stage.events(id),
          (events) => events.some(({ type, author }) => type === 'end' && author === '@free@b.test'),
        )
        if (!isHeld) await restart(sides[victim])
        for (const open of interruptions) {
          const path = `/api/v1/interruptions/${segment(open.id)}/answer`
          const answered = await sides.a.stage.witan.call('POST', path, { body: { answer: { resolution: {} } } })
          assert.equal(answered.status, 200, answered.text)
        }
        if (isHeld) {
          await gate.entered
          await restart(sides[victim])
          gate.open()
        }
        const { runs } = await until(
          () => sides.a.stage.conversation(id),
          (found) => found.runs[0]?.status !== 'running' && found.runs[0]?.status !== 'waiting',
        )
        const run = await sides.a.stage.witan.call<{ result: { text: string } }>(
          'GET',
          `/api/v1/runs/${runs[0]?.runId}`,
        )
        assert.equal(run.body.result.text, 'leaf + strict + free')
        const now = await counts()
        assert.deepEqual(
          now.map((count, at) => count - (before[at] ?? 0)),
          [1, 3, 1],
          'each task was made once',
        )
      })
})
