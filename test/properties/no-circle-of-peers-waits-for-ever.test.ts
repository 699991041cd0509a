/** Peers that write to each other at every turn, in parallel and in circles: each run ends, and each line names its speaker. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Rule } from '@witan/core/testing'
import type { AnyEvent } from '@witan/protocol'
import fc from 'fast-check'
import { assertAlternates, assertSound } from '../support/claims.ts'
import { holds } from '../support/seeds.ts'
import { type AgentDraft, createStage } from '../support/stage.ts'
import { initiates, responds, talk } from '../support/talking.ts'

interface Circle {
  readonly seed: number
  readonly agents: readonly AgentDraft[]
}

const ids = ['a', 'b', 'c', 'd', 'e']

const circle: fc.Arbitrary<Circle> = fc
  .record({
    seed: fc.nat(),
    size: fc.integer({ min: 2, max: 5 }),
    left: fc.array(fc.tuple(fc.nat(4), fc.nat(4)), { maxLength: 6 }),
    delegate: fc.boolean(),
    maxDepth: fc.integer({ min: 2, max: 6 }),
    maxParallel: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ seed, size, left, delegate, maxDepth, maxParallel }) => {
    const own = ids.slice(0, size)
    const isLeft = (from: number, to: number) => left.some(([one, other]) => one === from && other === to)
    const agents = own.map((id, index): AgentDraft => {
      const peers = own.filter((_, to) => to !== index && !isLeft(index, to))
      return {
        id,
        limits: { maxDepth, maxParallel, maxModelCalls: 120, maxIterations: 4 },
        subAgents: delegate && index === 0 ? own.slice(1).map((agent) => ({ agent })) : [],
        speaks: [...(peers.length === 0 ? [] : [initiates(...peers)]), responds],
      }
    })
    return { seed, agents }
  })

/** Writes to up to three others at once, as long as it has not written three times in what it reads. */
function talkative(seed: number): Rule {
  return ({ messages, tools }) => {
    const dice = createHash('sha256')
      .update(`${seed} ${JSON.stringify(messages)}`)
      .digest()
    const written = messages.filter(({ role }) => role === 'assistant').length
    if (tools.length === 0 || written > 2 || (dice[0] ?? 0) % 5 === 0) return `word ${(dice[1] ?? 0) % 9}`
    const toolCalls = Array.from({ length: 1 + ((dice[2] ?? 0) % 3) }, (_, index) => {
      const name = tools[(dice[3 + index] ?? 0) % tools.length]?.name ?? ''
      const key = name.includes('_') ? 'text' : 'message'
      return { name, arguments: { [key]: `word ${(dice[6 + index] ?? 0) % 9}` } }
    })
    return { toolCalls }
  }
}

function isApart({ type, document }: AnyEvent): boolean {
  return type === 'start' && /\/@[a-e]~\d+$/.test(document)
}

test('[C35] [T16] [C6] no circle of peers waits for ever, and every line of another agent names its speaker', async (context) => {
  let apart = 0
  let waited = 0
  const property = fc.asyncProperty(circle, async ({ seed, agents }) => {
    const play = talkative(seed)
    const plays = Object.fromEntries(agents.map(({ id }) => [id, play]))
    const stage = createStage({ agents, plays, options: { protocols: [talk] } })
    const result = await stage.ask('a', 'Begin.', { id: 'chats/1' })
    const cap = result.status === 'failed' && result.error?.code === 'BUDGET_EXCEEDED'
    assert.ok(result.status === 'completed' || cap, JSON.stringify(result.error))
    const { events } = await stage.runtime.readEvents('chats/1', { verbose: true, limit: 10_000 })
    assertSound(events, agents[0]?.limits?.maxDepth ?? 8)
    for (const request of stage.requests) {
      assertAlternates(request)
      const spoken = request.messages
        .filter(({ role }) => role === 'user')
        .flatMap(({ content: text }) => text.split('\n\n'))
      for (const block of spoken)
        assert.match(block, /^(Begin\.|word \d|\[from @[a-e] to @[a-e]\] ((ask|tell) \{"text":"word \d"\}|.+))$/)
    }
    apart += events.filter(isApart).length
    const numbers = (await stage.runtime.getExchanges(result.runId)).flatMap(({ messages }) =>
      messages.map(({ number }) => number),
    )
    assert.deepEqual(
      numbers.toSorted((one, other) => one - other),
      numbers.map((_, index) => index + 1),
    )
    waited += events.filter(({ type, content: said }) => type === 'message' && said['isReply'] === true).length
    assert.deepEqual(stage.reports, [])
    await stage.runtime.close()
  })
  const expected = await holds(context, property, 300)
  context.diagnostic(`${waited} replies, ${apart} of them apart`)
  assert.ok(apart > expected(300) && waited > apart + expected(300), `${waited} replies, ${apart} of them apart`)
})
