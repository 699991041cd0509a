/**
 * Runs the fault matrix and writes what it came to into `test/faults/report.json`, which the page on faults shows. `npm run torture` runs the
 * trials of every change; `-- --full` those of a release, which take about an hour; `-- F01 F06` only some rows, whose lines are then written anew.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Report, reportOf, runRow, type Turn, turns, width } from '../test/faults/rig/matrix.ts'
import { lineOf, type Profile, type ReportLine } from '../test/faults/rig/row.ts'
import { together } from '../test/faults/rig/score.ts'
import { simulate } from '../test/simulation/rig/rounds.ts'

const words = process.argv.slice(2)
const profile: Profile = words.includes('--full') ? 'full' : 'pr'
const wanted = words.filter((word) => !word.startsWith('--'))
const isWanted = (id: string): boolean => wanted.length === 0 || wanted.includes(id)
const file = fileURLToPath(new URL('../test/faults/report.json', import.meta.url))
const schedules = { pr: 2_000, full: 200_000 }

const lines: ReportLine[] = []

/** Of a run of some rows, the others as they were in the last report. */
function kept(): readonly ReportLine[] {
  if (wanted.length === 0) return []
  const isNew = (line: ReportLine): boolean => lines.some(({ id, store }) => id === line.id && store === line.store)
  return (JSON.parse(readFileSync(file, 'utf8')) as Report).rows.filter((line) => !isNew(line))
}

async function play({ row, store }: Turn): Promise<void> {
  const { result, line } = await runRow(row, store, profile)
  lines.push(line)
  console.log(`${lineOf(row, store, result)}, ${line.seconds} s`)
  for (const { invariant, what } of result.violations) console.log(`  ${invariant} ${what}`)
}

if (isWanted('SIM')) {
  const line = await simulate(schedules[profile])
  lines.push(line)
  console.log(`SIM M ${line.trials} schedules, ${line.faultsFired} faults fired, ${line.violations.length} violations`)
  for (const what of line.violations) console.log(`  ${what}`)
}
await together(
  turns.filter(({ row }) => isWanted(row.id)),
  width,
  play,
)
const violations = lines.reduce((sum, line) => sum + line.violations.length, 0)
console.log(
  `${lines.length} rows, ${lines.reduce((sum, { trials }) => sum + trials, 0)} trials, ${violations} violations`,
)
writeFileSync(file, `${JSON.stringify(reportOf(profile, [...kept(), ...lines]), null, 2)}\n`)
process.exit(violations === 0 ? 0 : 1)
