/**
 * How large each table of a PostgreSQL store is: `node --conditions=witan-source bench/store-share.ts [--conversations 200000]`. Each
 * conversation has ten entries and a run. Needs about 10 KB of disk for each.
 */
import { parseArgs } from 'node:util'
import { gridOf, short } from './grid.ts'
import { storeShares } from './store-shares.ts'

const { values } = parseArgs({ options: { conversations: { type: 'string', default: '200000' } } })
const shares = await storeShares(Number(values.conversations))
const all = Object.values(shares).reduce((sum, bytes) => sum + bytes, 0)
const rows = Object.entries(shares)
  .filter(([, bytes]) => bytes > all / 1_000)
  .map(([table, bytes]) => [table, short(bytes / 1e6), `${short((100 * bytes) / all)} %`])
console.log(gridOf([`${values.conversations} conversations`, 'MB', 'share'], rows))
