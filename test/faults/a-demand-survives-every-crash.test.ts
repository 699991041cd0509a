/** A process dies at any append of a run with demands of an agent and of its tool: each is made once, and the tool acts once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool, memoryStore, type Store } from '@witan/core'
import { call, toolResults } from '@witan/core/testing'
import { z } from 'zod'
import { fakeClock } from '../support/clock.ts'
import { type CrashMoment, crashingStore } from '../support/crashing-store.ts'
import { outliving } from '../support/reopen.ts'
import { createStage, settle, type Stage } from '../support/stage.ts'

const demands = [{ kind: 'consent_required', message: 'May we?', per: 'conversation' as const }]

async function tell(
  at: number,
  moment: CrashMoment,
): Promise<{ text: string; fired: boolean; acts: number; asked: number }> {
  const clock = fakeClock()
  const inner = outliving(memoryStore({ now: clock.now }))
  let acts = 0
  const buy = defineTool({
    name: 'buy',
    description: 'Buys.',
    parameters: z.object({}),
    async execute(_, { demand }) {
      const { receipt } = await demand({ kind: 'payment_required', message: 'One euro.' })
      acts += 1
      return `bought for ${receipt}`
    },
  })
  const staged = (store: Store) =>
    createStage({
      agents: [{ id: 'shop', demands, tools: ['buy'] }],
      plays: { shop: (request) => toolResults(request)[0] ?? call('buy') },
      options: { store, clock, tools: [buy] },
    })
  const first = crashingStore(inner, at, moment)
  const stage = staged(first.store)
  await Promise.race([stage.runtime.start({ agent: 'shop', prompt: 'go', id: 'chats/1' }), first.crashed])
  let text = await lived(stage, first.isDead)
  const fired = text === null
  let last = stage
  if (fired) {
    clock.advance(60_000)
    last = staged(inner)
    const { items } = await last.runtime.listConversations()
    if (items.length === 0) await last.runtime.start({ agent: 'shop', prompt: 'go', id: 'chats/1' })
    text = await lived(last, () => false)
  }
  const asked = (await last.events('chats/1')).filter(({ type }) => type === 'policy_required').length
  await last.runtime.close()
  return { text: text ?? '', fired, acts, asked }
}

/** Meets what is demanded until the run has ended; null once the process is dead. */
async function lived({ runtime }: Stage, isDead: () => boolean): Promise<string | null> {
  for (let round = 0; round < 1_000; round += 1) {
    if (isDead()) return null
    const text = await Promise.race([metIn(runtime), settle(20).then(() => null)])
    if (text !== null) return text
  }
  throw new Error('neither dead nor at its end')
}

async function metIn(runtime: Stage['runtime']): Promise<string | null> {
  const { runs, interruptions } = await runtime.getConversation('chats/1')
  for (const { id } of interruptions)
    await runtime.answerInterruption(id, { answer: { resolution: { receipt: 'r-1' } } }).catch(() => undefined)
  const [run] = runs
  if (run === undefined || run.status === 'running' || run.status === 'waiting') return null
  return (await runtime.getRun(run.runId)).result?.text ?? ''
}

for (const moment of ['before', 'after'] as const)
  test(`[D1] [C21] a process that dies ${moment} any append makes no demand twice`, async (context) => {
    let fired = 0
    for (let at = 2; ; at += 1) {
      const told = await tell(at, moment)
      if (!/whether its effect happened is unknown/.test(told.text))
        assert.equal(told.text, 'bought for r-1', `append ${at}`)
      assert.ok(told.acts <= 1 && told.asked <= 2, `append ${at}: ${told.acts} acts, ${told.asked} demands`)
      if (!told.fired) break
      fired += 1
    }
    context.diagnostic(`${fired} faults fired, 0 violations`)
    assert.ok(fired > 6, `I17: only ${fired} faults fired`)
  })
