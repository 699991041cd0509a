/** The fault matrix: all rows, and what a run of them came to, for people and for machines. */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { killAnywhere } from '../rows/f01-kill-anywhere.ts'
import { effectAndRecord } from '../rows/f02-effect-and-record.ts'
import { frozenWorker } from '../rows/f03-frozen-worker.ts'
import { raceForAJob } from '../rows/f04-race-for-a-job.ts'
import { droppedConnections } from '../rows/f05-dropped-connections.ts'
import { lostCommits } from '../rows/f06-lost-commits.ts'
import { databaseRestarts } from '../rows/f07-database-restarts.ts'
import { halfOpenNetwork } from '../rows/f08-half-open-network.ts'
import { skewedClocks } from '../rows/f09-skewed-clocks.ts'
import { readerDisconnects } from '../rows/f10-reader-disconnects.ts'
import { restartWhileWaiting } from '../rows/f11-restart-while-waiting.ts'
import { orderlyStop } from '../rows/f13-orderly-stop.ts'
import { badModels } from '../rows/f14-bad-models.ts'
import { badTools, blockedLoop } from '../rows/f15-bad-tools.ts'
import { secondProcess } from '../rows/f17-second-process.ts'
import { cancelAnywhere } from '../rows/f18-cancel-anywhere.ts'
import { poison } from '../rows/f19-poison.ts'
import { stuckReader } from '../rows/f12-stuck-reader.ts'
import { fullDisk } from '../rows/f16-full-disk.ts'
import { defaultRecovery } from '../rows/recovery.ts'
import { twoDatabases } from '../rows/two-databases.ts'
import { type LaneName, openLane } from './lane.ts'
import { percentile, type Profile, type ReportLine, type Row, type RowResult } from './row.ts'

const reportFile = fileURLToPath(import.meta.resolve('../report.json'))
const lastReport = JSON.parse(readFileSync(reportFile, 'utf8')) as Pick<Report, 'rows'>

/** Every row, in the order of the plan. */
export const rows: readonly Row[] = [
  killAnywhere,
  effectAndRecord,
  frozenWorker,
  raceForAJob,
  droppedConnections,
  lostCommits,
  databaseRestarts,
  halfOpenNetwork,
  skewedClocks,
  readerDisconnects,
  restartWhileWaiting,
  stuckReader,
  orderlyStop,
  badModels,
  badTools,
  fullDisk,
  secondProcess,
  cancelAnywhere,
  poison,
  blockedLoop,
  defaultRecovery,
  twoDatabases,
]

/** A row on one of its stores. */
export interface Turn {
  readonly row: Row
  readonly store: LaneName
}

/** How many turns run at once: most of their time is waiting. */
export const width = 4

/** Every row on each of its stores. Those that took longest in the last report stand first, so that none of them is left over at the end. */
export const turns: readonly Turn[] = rows
  .flatMap((row) => row.stores.map((store) => ({ row, store })))
  .sort((one, other) => lastSeconds(other) - lastSeconds(one))

function lastSeconds({ row, store }: Turn): number {
  return lastReport.rows.find((line) => line.id === row.id && line.store === store)?.seconds ?? 0
}

/** The results of one run of the matrix. */
export interface Report {
  readonly profile: Profile
  readonly at: string
  readonly node: string
  readonly cores: number
  readonly rows: readonly ReportLine[]
}

/** Runs a row on a fresh place. */
export async function runRow(row: Row, store: LaneName, profile: Profile): Promise<Ran> {
  const from = Date.now()
  const lane = await openLane(store)
  try {
    const result = await row.run({ lane, profile })
    const [p50, p99] = [percentile(result.recoveriesMs, 0.5), percentile(result.recoveriesMs, 0.99)]
    const line = {
      id: row.id,
      title: row.title,
      store,
      trials: result.trials,
      faultsFired: result.fired,
      faultsIntended: result.intended,
      violations: result.violations.map(({ invariant, what }) => `${invariant} ${what}`),
      recoveryMs: p50 === null || p99 === null ? null : { p50, p99 },
      counts: { ...result.counts, ...result.peaks },
      seconds: Math.round((Date.now() - from) / 100) / 10,
    }
    return { result, line }
  } finally {
    await lane.close()
  }
}

/** What a row came to, for the tests and as a line of the report. */
export interface Ran {
  readonly result: RowResult
  readonly line: ReportLine
}

/** Runs the row of this id, for whoever has it run in another process. */
export function runNamed(id: string, store: LaneName, profile: Profile): Promise<Ran> {
  const row = rows.find((one) => one.id === id)
  if (row === undefined) throw new Error(`there is no row ${id}`)
  return runRow(row, store, profile)
}

/** A report of these lines, from this machine. */
export function reportOf(profile: Profile, lines: readonly ReportLine[]): Report {
  const order = (line: ReportLine): string => `${line.id} ${line.store}`
  const sorted = [...lines].sort((one, other) => order(one).localeCompare(order(other)))
  const at = new Date().toISOString()
  return { profile, at, node: process.version, cores: availableParallelism(), rows: sorted }
}
