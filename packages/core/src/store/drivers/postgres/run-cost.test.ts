/** What a run costs on PostgreSQL, in counts that do not depend on the machine, and how large its tables get. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCost } from '../../../../../../bench/run-costs.ts'
import { storeShares } from '../../../../../../bench/store-shares.ts'

test('a run of three levels makes few statements, round trips and commits, and writes little beside its log', async (context) => {
  const { statements, roundTrips, commits, texts, log, updates } = await runCost(60)
  const all = log['all'] ?? assert.fail()
  const usage = (log['usage'] ?? 0) + (log['usage_waiting'] ?? 0)
  context.diagnostic(JSON.stringify({ statements, roundTrips, commits, texts, log, updates }))
  assert.ok(statements <= 22, `${statements} statements`)
  assert.ok(roundTrips <= 8, `${roundTrips} round trips`)
  assert.ok(commits <= 3, `${commits} commits`)
  assert.ok(texts <= 4_500, `${texts} bytes of entries`)
  assert.ok(all <= 12_000, `${all} bytes of the write-ahead log`)
  // How often waiting usage is added up follows the clock: on a busy machine it happens more often in a run.
  assert.ok(usage <= all / 8, `${usage} of ${all} bytes are usage`)
  const ofJobs = ['jobs', 'live_jobs', 'ended_runs'].reduce((sum, table) => sum + (log[table] ?? 0), 0)
  assert.ok(ofJobs <= 1_800, `${ofJobs} bytes of jobs`)
  const { all: updated = 0, hot: inPlace = 0 } = updates['jobs'] ?? {}
  assert.ok(updated > 0 && inPlace >= updated * 0.9, `${updated} updates of jobs, ${inPlace} of them HOT`)
  const { all: changed = 0, hot = 0 } = updates['usage'] ?? {}
  assert.ok(changed <= 1 && hot >= changed / 2, `${changed} updates of sums, ${hot} of them HOT`)
})

test('jobs are at most a fifth of a store', async (context) => {
  const shares = await storeShares(4_000, 200)
  const all = Object.values(shares).reduce((sum, bytes) => sum + bytes, 0)
  context.diagnostic(JSON.stringify(shares))
  const jobs = ['jobs', 'live_jobs', 'ended_runs'].reduce((sum, table) => sum + (shares[table] ?? 0), 0)
  assert.ok(jobs <= all / 5, `jobs are ${jobs} of ${all} bytes`)
})
