/**
 * What serial runs of three levels cost on PostgreSQL, in counts: `node --conditions=witan-source bench/run-cost.ts [--runs 200]`.
 * Statements, commits, round trips, bytes of the write-ahead log by table, and how many updates were HOT.
 */
import { parseArgs } from 'node:util'
import { gridOf, short } from './grid.ts'
import { type RunCost, runCost } from './run-costs.ts'

const { values } = parseArgs({ options: { runs: { type: 'string', default: '200' } } })

/** Costs of a run as rows of a table. */
function rowsOf({ statements, commits, roundTrips, texts, log, updates }: RunCost): readonly (readonly string[])[] {
  const counts = { statements, commits, 'round trips': roundTrips, 'bytes of entries as text': texts }
  const bytes = Object.entries(log).map(([table, size]) => [`bytes of log: ${table}`, short(size)])
  const hot = Object.entries(updates).map(([table, { all, hot: some }]) => [
    `updates of ${table}, HOT`,
    `${short(all)}, ${short(some)}`,
  ])
  return [...Object.entries(counts).map(([name, count]) => [name, short(count)]), ...bytes, ...hot]
}

console.log(gridOf(['for each run', ''], rowsOf(await runCost(Number(values.runs)))))
