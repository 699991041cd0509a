/** A process dies at any append of a run with demands of an agent and of its tool: each is made once, and the tool acts once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool, type Store } from '@witan/core'
import { call, toolResults } from '@witan/core/testing'
import { z } from 'zod'
import { type CrashMoment, crashingStore } from '../support/crashing-store.ts'
import { createStage, type Play, type Stage } from '../support/stage.ts'
import { atEachAppend, type Place, places } from './support/places.ts'

const demands = [{ kind: 'consent_required', message: 'May we?', per: 'conversation' as const }]

/** Who works: the shop alone, or two agents at once that call it, and of which one asks what it demands of both. */
const below = (id: string) => ({ id, subAgents: [{ agent: 'shop', history: 'isolated' as const }] })
const shop = { id: 'shop', demands, tools: ['buy'] }
const stories = {
  alone: { agent: 'shop', agents: [shop], payments: 1 },
  'at once': {
    agent: 'root',
    agents: [
      { id: 'root', workflow: { kind: 'parallel' as const, agents: ['left', 'right'] } },
      ...['left', 'right'].map(below),
      shop,
    ],
    payments: 2,
  },
}

interface Death {
  readonly story: keyof typeof stories
  readonly at: number
  readonly moment: CrashMoment
}

async function tell(
  place: Place,
  { story, at, moment }: Death,
): Promise<{ text: string; fired: boolean; acts: number; asked: number }> {
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
  const asking: Play = (request) => toolResults(request)[0] ?? call('shop', { message: 'buy' })
  const begun = { agent: stories[story].agent, prompt: 'go', id: 'chats/1' }
  const staged = (store: Store) =>
    createStage({
      agents: stories[story].agents,
      plays: {
        shop: (request) => toolResults(request)[0] ?? call('buy'),
        ...Object.fromEntries(['left', 'right'].map((id) => [id, asking])),
      },
      options: { store, tools: [buy], ...place.timing },
    })
  const first = crashingStore(place.store, at, moment)
  const stage = staged(first.store)
  await Promise.race([stage.runtime.start(begun), first.crashed])
  let text = await lived(stage, place, first.isDead)
  const fired = text === null
  let last = stage
  if (fired) {
    // What was asked of the store last is done, or is not.
    await first.crashed
    place.clock?.advance(60_000)
    last = staged(place.store)
    const { items } = await last.runtime.listConversations()
    if (items.length === 0) await last.runtime.start(begun)
    text = await lived(last, place, () => false)
  }
  const asked = (await last.events('chats/1')).filter(({ type }) => type === 'policy_required').length
  await last.runtime.close()
  return { text: text ?? '', fired, acts, asked }
}

/** Meets what is demanded until the run has ended; null once the process is dead. */
async function lived({ runtime }: Stage, place: Place, isDead: () => boolean): Promise<string | null> {
  for (let round = 0; round < 1_000; round += 1) {
    if (isDead()) return null
    await place.pass(round)
    const text = await Promise.race([metIn(runtime), place.patience()])
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

const unknown = /whether its effect happened is unknown/

/** On PostgreSQL two calls that share a demand die with `WITAN_TESTS=all` alone: a trial takes a second there. */
const storiesOn = (name: string) =>
  (Object.keys(stories) as (keyof typeof stories)[]).filter(
    (story) => name !== 'PostgreSQL' || story === 'alone' || process.env['WITAN_TESTS'] === 'all',
  )

for (const [name, placeOf] of Object.entries(places))
  for (const story of storiesOn(name))
    for (const moment of ['before', 'after'] as const)
      test(`[D1] [C21] a process that dies ${moment} any append makes no demand twice, ${story}, ${name}`, async (context) => {
        const { payments } = stories[story]
        const fired = await atEachAppend(name, async (at) => {
          const place = await placeOf(context)
          const { text, acts, asked, fired } = await tell(place, { story, at, moment })
          await place.close()
          const isKnown = !unknown.test(text)
          if (isKnown) assert.equal(text.match(/bought for r-1/g)?.length, payments, `append ${at}: ${text}`)
          assert.ok(isKnown ? acts === payments : acts <= payments, `append ${at}: ${acts} acts`)
          assert.ok(isKnown ? asked === 1 + payments : asked <= 1 + payments, `append ${at}: ${asked} demands`)
          return fired
        })
        context.diagnostic(`${name}, ${story}: ${fired} faults fired, 0 violations`)
        assert.ok(fired > 6, `I17: only ${fired} faults fired`)
      })
