/** F16: the disk is full for a while: requests are refused by name, nothing acknowledged is lost, and all goes on once there is room. */
import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Arena, openArena } from '../rig/arena.ts'
import type { Lane } from '../rig/lane.ts'
import { heard } from '../rig/patience.ts'
import { probe } from '../rig/probe.ts'
import type { Profile, Row, RowResult } from '../rig/row.ts'
import type { Score } from '../rig/score.ts'
import { sumOf } from '../rig/side-by-side.ts'
import { mountSmallDisk } from '../rig/small-disk.ts'
import { mainStory, tell } from '../rig/stories.ts'
import type { Server } from '../rig/supervisor.ts'

const trials = { pr: 4, full: 40 }
const fullMs = 500
/** Longer than the disk is ever full: a lease that lapses so counts as a try of its run. Who can write nothing cannot give it back, either. */
const leaseMs = 6_000

/** How the disk of a store is filled, so that nothing more is written, and emptied again. */
interface Disk {
  fill(trial: number): Promise<void>
  empty(): Promise<void>
}

export const fullDisk: Row = {
  id: 'F16',
  title: 'a full disk',
  stores: ['sqlite', 'postgres'],
  async run({ lane, profile }) {
    if (lane.name === 'postgres') return fillAgain(lane, { profile, diskOf: () => databaseDisk(lane) })
    const limited = await fillAgain(lane, { profile, diskOf: limitedDisk })
    const small = await mountSmallDisk(lane)
    if (small === null) return { ...limited, counts: { ...limited.counts, 'no tmpfs may be mounted here': 1 } }
    try {
      // Half of the trials leave a page or two, so that a transaction breaks in the middle.
      const disk: Disk = { fill: (trial) => small.fill(trial % 2 === 0 ? 0 : littleRoom), empty: () => small.empty() }
      const full = await fillAgain(small.lane, { profile, diskOf: () => disk })
      return sumOf(limited, {
        ...full,
        counts: { ...full.counts, 'refusals of a full tmpfs': full.counts['refusals'] ?? 0 },
      })
    } finally {
      await small.close()
    }
  },
}

/** Tells a story for each trial, in the middle of which the disk is full. */
async function fillAgain(
  lane: Lane,
  { profile, diskOf }: { readonly profile: Profile; readonly diskOf: (arena: Arena) => Disk | Promise<Disk> },
): Promise<RowResult> {
  const arena = await openArena(lane, { leaseMs })
  const { client, crew, history, score } = arena
  const calm = await tell(arena, mainStory)
  const disk = await diskOf(arena)
  for (let trial = 0; trial < trials[profile]; trial += 1) {
    await score.trial(`a full disk, ${trial + 1}`, async () => {
      const told = tell(arena, mainStory)
      await heard(history, 1 + 8 * (trial % 4), told)
      score.intend()
      await disk.fill(trial)
      const asked = await Promise.all(crew.servers.map((server) => untilRefused(server, score)))
      await Promise.all(crew.servers.map((server) => untilReady(server, { is: false, score })))
      await delay(fullMs)
      await disk.empty()
      await Promise.all(crew.servers.map((server) => untilReady(server, { is: true, score })))
      score.twin('a full disk', await told, calm)
      for (const id of asked.flatMap(({ accepted }) => accepted))
        if ((await client.look(id)).id !== id) score.fail('I1', `${id} was accepted and is lost`)
      score.count(
        'refusals',
        asked.reduce((sum, { refusals }) => sum + refusals, 0),
      )
      if (asked.every(({ refusals }) => refusals > 0)) score.fire()
    })
  }
  if (crew.deaths.length > 0) score.fail('I9', `${crew.deaths.length} servers did not stay up`)
  return arena.finish()
}

interface Asked {
  readonly refusals: number
  /** What was accepted all the same, as long as there was room. */
  readonly accepted: readonly string[]
}

/** Room for some requests is used up in the end: a log of SQLite that begins again at its start may have some megabytes. */
const mostRequests = 5_000

/** Asks for fresh conversations until a server refuses one, as it must, in the words of the table. */
async function untilRefused({ url }: Server, score: Score): Promise<Asked> {
  const accepted: string[] = []
  while (accepted.length < mostRequests) {
    const id = `chats/full-${crypto.randomUUID()}`
    const { status, code } = await probe(url, '/api/v1/conversations', { agent: 'root', id })
    if (status === 503 && code === 'STORE_UNAVAILABLE') return { refusals: 1, accepted }
    if (status === 201) accepted.push(id)
    else {
      score.fail('I1', `with a full disk a request was told ${status} ${code}`)
      break
    }
  }
  return { refusals: 0, accepted }
}

/** The outcome of a trial of the store counts for a second; more than that no answer lags behind. */
const readinessMs = 5_000

/** Asks whether a server takes work, until the answer is right. */
async function untilReady(
  { url }: Server,
  { is, score }: { readonly is: boolean; readonly score: Score },
): Promise<void> {
  const wanted = is ? 200 : 503
  for (const from = performance.now(); performance.now() - from < readinessMs; await delay(50)) {
    const { status } = await probe(url, '/readyz')
    if (status === wanted) return score.count(`/readyz gave ${wanted}`)
  }
  score.fail('I9', `/readyz never gave ${wanted} with a disk that is ${is ? 'not full any more' : 'full'}`)
}

const run = promisify(execFile)
/** One that holds a page or two more, so that a transaction breaks in the middle. */
const littleRoom = 6_000

/** SQLite: the kernel lets no file of the server grow beyond what it has, or lets it write nothing at all. */
function limitedDisk({ crew, lane }: Arena): Disk {
  const limit = async (size: string): Promise<void> => {
    await run('prlimit', [`--pid=${(await crew.first()).pid}`, `--fsize=${size}:`])
  }
  return {
    async fill(trial) {
      const { size } = await stat(`${lane.storeUrl.slice('file:'.length)}-wal`)
      await limit(trial % 2 === 0 ? '0' : String(size + littleRoom))
    },
    empty: () => limit('unlimited'),
  }
}

const tables = "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'witan'"

/** PostgreSQL: whatever writes fails as it does where a table cannot be extended. */
async function databaseDisk(lane: Lane): Promise<Disk> {
  await lane.execute(`create table public.disk (is_full boolean); insert into public.disk values (false);
    create function public.write() returns trigger language plpgsql security definer as $$ begin
      if (select is_full from public.disk) then
        raise exception 'could not extend file "base/1": No space left on device' using errcode = '53100';
      end if;
      return null;
    end $$`)
  for (const { name } of (await lane.execute(tables)) as readonly { readonly name: string }[])
    await lane.execute(
      `create trigger disk before insert or update or delete on ${name} execute function public.write()`,
    )
  return {
    fill: async () => void (await lane.execute('update public.disk set is_full = true')),
    empty: async () => void (await lane.execute('update public.disk set is_full = false')),
  }
}
