/** F04: eight claimers race for the same jobs; each epoch of a job has one owner. */
import type { Store } from '@witan/core'
import { check } from '../rig/checker.ts'
import { emptyEvidence } from '../rig/evidence.ts'
import { newHistory } from '../rig/history.ts'
import type { Row } from '../rig/row.ts'
import { newScore } from '../rig/score.ts'

const claimers = 8
const jobs = { pr: 200, full: 2_000 }

export const raceForAJob: Row = {
  id: 'F04',
  title: 'eight claimers race for one job',
  stores: ['memory', 'sqlite', 'postgres'],
  async run({ lane, profile }) {
    const score = newScore()
    // On PostgreSQL two processes' worth of connections; the others have one.
    const stores = [await lane.openStore()]
    if (lane.name === 'postgres') stores.push(await lane.openStore())
    for (let index = 0; index < jobs[profile]; index += 1) await queue(stores[0] as Store, `chats/${index}`)
    score.intend(jobs[profile])
    const owners = new Map<string, string[]>()
    await Promise.all(
      Array.from({ length: claimers }, async (_, claimer) => {
        const store = stores[claimer % stores.length] as Store
        for (;;) {
          const claimed = await store.claimJobs({ owner: `w${claimer}`, leaseMs: 60_000, limit: 3 })
          if (claimed.length === 0) return
          for (const { id, epoch } of claimed) {
            const key = `${id} ${epoch}`
            owners.set(key, [...(owners.get(key) ?? []), `w${claimer}`])
            score.fire()
          }
        }
      }),
    )
    for (const [key, by] of owners)
      await score.trial(key, async () => {
        if (by.length > 1) score.fail('I7', `${key} was claimed by ${by.join(' and ')}`)
      })
    for (const store of stores) await store.close()
    const faults = { intended: score.intended, fired: score.fired }
    const found = check({ ...emptyEvidence(newHistory()), faults })
    const { trials, intended, fired, mishaps } = score
    return { trials, intended, fired, violations: [...mishaps, ...found], recoveriesMs: [], counts: { claimers } }
  },
}

async function queue(store: Store, id: string): Promise<void> {
  const row = {
    database: 'default',
    id,
    agent: 'root',
    createdBy: 'rig',
    createdAt: 0,
    lastMessageAt: 0,
    lastSeq: 0,
    parameters: {},
    maxModelIterationsPerCall: null,
    expiresAt: null,
  }
  const create = {
    kind: 'create',
    id: `c_${id.slice(6)}`,
    job: 'task',
    owner: null,
    leaseMs: 1,
    at: 0,
    about: {},
  } as const
  await store.append({ database: 'default', conversation: id, create: row, entries: [], jobs: [create] })
}
