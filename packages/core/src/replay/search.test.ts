/** Tb29: a replay that ended at a difference is played again under other plans. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Plan, usualPlan } from './plan.ts'
import { type Attempt, search } from './search.ts'

/** How far a replay gets under each plan, by the moves of the plan. A plan that is not listed has no others. */
type Landscape = Readonly<Record<string, { readonly entries: number; readonly others?: readonly number[] }>>

function playsOver(land: Landscape) {
  const played: string[] = []
  const play = (plan: Plan): Promise<Attempt & { readonly name: string }> => {
    const name = plan.moves.map(([from]) => from).join('.')
    played.push(name)
    const { entries, others = [] } = land[name] ?? { entries: 0 }
    const plans = others.map((from): Plan => ({ ...plan, moves: [...plan.moves, [from, 0, 1]] }))
    return Promise.resolve({ name, entries, isSame: entries === 9, others: plans.values() })
  }
  return { play, played }
}

async function searched(land: Landscape, most = 20) {
  const { play, played } = playsOver(land)
  const first = await play(usualPlan)
  const found = await search(first, { play, most })
  return { name: found.name, played: played.slice(1) }
}

test('[Tb29] the plan that gets further is extended first', async () => {
  const land = { '': { entries: 1, others: [1, 2, 3] }, '2': { entries: 4, others: [5] }, '2.5': { entries: 9 } }
  assert.deepEqual(await searched(land), { name: '2.5', played: ['1', '2', '2.5'] })
})

test('[Tb29] a plan that gets further and then no more is left for the others', async () => {
  const land = {
    '': { entries: 1, others: [1, 2] },
    '1': { entries: 5, others: [7, 8] },
    '1.7': { entries: 5 },
    '2': { entries: 3, others: [4] },
    '2.4': { entries: 9 },
  }
  assert.deepEqual(await searched(land), { name: '2.4', played: ['1', '1.7', '1.8', '2', '2.4'] })
})

test('[Tb29] a search that finds nothing tells how far the log was followed, after so many plays', async () => {
  const land = { '': { entries: 1, others: [1, 2, 3] }, '1': { entries: 2 }, '2': { entries: 6 } }
  assert.deepEqual(await searched(land), { name: '2', played: ['1', '2', '3'] })
  assert.deepEqual(await searched(land, 1), { name: '1', played: ['1'] })
})
