/**
 * F13: servers are stopped in order under load and replaced one after the other, as a deployment does, by a newer program, which brings
 * the schema with it, and back by the older one: nothing counts as a crash, and whoever cannot live with the schema says so.
 */
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { type LaterSchema, schemaVersions } from '@witan/core/testing'
import { type Arena, openArena } from '../rig/arena.ts'
import type { Lane } from '../rig/lane.ts'
import { comesAbout } from '../rig/patience.ts'
import { isServed, probe } from '../rig/probe.ts'
import type { Row } from '../rig/row.ts'
import { mainStory, slowStory, tell } from '../rig/stories.ts'
import { createSupervisor } from '../rig/supervisor.ts'

/** How often all servers are replaced. */
const rolls = { pr: { sqlite: 3, postgres: 2, memory: 0 }, full: { sqlite: 30, postgres: 15, memory: 0 } }
const workers = { sqlite: 1, postgres: 3, memory: 1 } as const
/** In which a server must stop; how late the machine was is added. */
const withinMs = 10_000
const restMs = 400
/** Long enough that no lease lapses by itself on a machine that has other things to do. */
const leaseMs = 5_000

export const orderlyStop: Row = {
  id: 'F13',
  title: 'SIGTERM under load, one server after the other, older and newer ones beside each other',
  stores: ['sqlite', 'postgres'],
  async run({ lane, profile }) {
    const arena = await openArena(lane, { leaseMs, servers: workers[lane.name] })
    const { crew, score } = arena
    const stories = [mainStory, slowStory]
    const calm = [await tell(arena, mainStory), await tell(arena, slowStory)]
    const going = { on: true }
    const telling = Promise.all(
      [0, 1, 0, 1].map(async (which) => {
        const story = stories[which] ?? mainStory
        while (going.on) {
          score.count('stories meanwhile')
          await score.trial('a story', async () => score.twin('a story', await tell(arena, story), calm[which] ?? ''))
        }
      }),
    )
    for (let roll = 0; roll < rolls[profile][lane.name]; roll += 1) {
      const migrations = migrationsOf(lane, roll)
      crew.equip(migrations === 0 ? {} : later({ migrations }))
      await score.trial('a deployment', () => deploy(arena))
    }
    going.on = false
    await telling
    const migrations = Math.max(
      ...Array.from({ length: rolls[profile][lane.name] }, (_, roll) => migrationsOf(lane, roll)),
    )
    await score.trial('an older program', () => refuseOlder(arena, migrations))
    const wrong = crew.deaths.filter(({ how }) => how !== 0)
    if (wrong.length > 0) score.fail('I9', `${wrong.length} servers ended with ${wrong[0]?.how}, not in order`)
    const result = await arena.finish()
    const crashes = result.recoveriesMs.length
    if (crashes === 0) return result
    const what = `${crashes} orderly stops count as crashes`
    return { ...result, violations: [...result.violations, { invariant: 'I9', what }] }
  },
}

/** How many migrations a deployment is newer than the source. On SQLite always one more; elsewhere every second one goes back. */
function migrationsOf({ name }: Pick<Lane, 'name'>, roll: number): number {
  if (name === 'sqlite') return roll + 1
  return roll % 2 === 0 ? roll / 2 + 1 : 0
}

/** What a server that is so much newer has in its environment. */
function later(schema: LaterSchema): Readonly<Record<string, string>> {
  return { TORTURE_SCHEMA: JSON.stringify(schema) }
}

/** Replaces every server; after each, all that are there must serve, whichever program they are. */
async function deploy({ crew, noise, score, lane }: Arena): Promise<void> {
  const servers = workers[lane.name]
  for (let stopped = 0; stopped < servers; stopped += 1) {
    await delay(restMs)
    score.intend()
    const took = await (await crew.first()).stop()
    score.fire()
    score.most('slowest stop ms', took)
    if (took > withinMs + noise.sum()) score.fail('I9', `a server took ${took} ms to stop`)
    if (!(await comesAbout(() => crew.servers.length >= servers))) throw new Error('nobody took its place')
    for (const { url } of crew.servers) {
      const told = await probe(url, '/api/v1/conversations?limit=1')
      if (!isServed(told)) score.fail('I9', `in a deployment a request was told ${told.status} ${told.code}`)
    }
  }
}

/**
 * With a schema that only newer programs can live with, which on PostgreSQL the newest of them says, an older one must say so and end.
 * `added` is how many migrations the deployments have added.
 */
async function refuseOlder({ crew, lane, ledger, score }: Arena, added: number): Promise<void> {
  crew.retire()
  await Promise.all(crew.servers.map((server) => server.stop()))
  const alone = await createSupervisor({ storeUrl: lane.storeUrl, ledgerUrl: ledger.url, leaseMs }, 0)
  const known = schemaVersions()[lane.name === 'sqlite' ? 'sqlite' : 'postgres']
  const found = await versionOf(lane)
  if (found !== known + added) score.fail('I17', `the schema has version ${found}, and not ${known + added}`)
  if (lane.name === 'postgres') await (await alone.start({ env: later({ migrations: added, contracts: true }) })).stop()
  score.intend()
  const older = await alone.start()
  const isRefused = (): boolean => older.said.some((said) => said.includes('SCHEMA_TOO_NEW'))
  for (let round = 0; round < 100 && older.isGone && !isRefused(); round += 1) await delay(10)
  if (older.url === '' && (await older.gone) !== 0 && isRefused()) score.fire()
  else score.fail('I9', `an older program was not refused: ${older.said.join(' ').slice(0, 300)}`)
  await alone.close()
  await letOlderRead(lane, known)
}

async function versionOf(lane: Lane): Promise<number> {
  if (lane.name === 'sqlite')
    return inFile(lane, (db) => Number(db.prepare('pragma user_version').get()?.['user_version']))
  const rows = (await lane.execute('select version from witan.schema_version')) as readonly {
    readonly version: number
  }[]
  return rows[0]?.version ?? 0
}

/** The checker is such an older program, too. What was added does not keep it from reading, once nothing says that it must not. */
async function letOlderRead(lane: Lane, known: number): Promise<void> {
  if (lane.name === 'sqlite') inFile(lane, (db) => db.exec(`pragma user_version = ${known}`))
  else await lane.execute(`update witan.schema_version set works_from = ${known}`)
}

function inFile<Result>({ storeUrl }: Lane, work: (db: DatabaseSync) => Result): Result {
  const db = new DatabaseSync(storeUrl.slice('file:'.length))
  try {
    return work(db)
  } finally {
    db.close()
  }
}
