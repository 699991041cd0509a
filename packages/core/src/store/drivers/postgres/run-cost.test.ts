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
  assert.ok(texts <= 8_200, `${texts} bytes of entries`)
  assert.ok(all <= 16_500, `${all} bytes of the write-ahead log`)
  assert.ok(usage <= all / 10, `${usage} of ${all} bytes are usage`)
  assert.ok((log['jobs'] ?? 0) <= 2_300, `${log['jobs']} bytes of jobs`)
  const { all: changed = 0, hot = 0 } = updates['usage'] ?? {}
  assert.ok(changed <= 1 && hot >= changed / 2, `${changed} updates of sums, ${hot} of them HOT`)
})

test('jobs are at most a fifth of a store', async (context) => {
  const shares = await storeShares(4_000)
  const all = Object.values(shares).reduce((sum, bytes) => sum + bytes, 0)
  context.diagnostic(JSON.stringify(shares))
  assert.ok((shares['jobs'] ?? 0) <= all / 5, `jobs are ${shares['jobs']} of ${all} bytes`)
})
