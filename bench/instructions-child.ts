/**
 * One process whose instructions are counted: `ROOT SCENARIO STORE WARM RUNS` makes runs of a scenario with the code of a checkout. It marks
 * where the counting begins and ends.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mark } from './callgrind.ts'

const [root = '', id = '', store = '', warm = '', runs = ''] = process.argv.slice(2)

const at = (file: string) => join(root, 'bench', file)
const { runOnce } = (await import(at('measure.ts'))) as typeof import('./measure.ts')
const { scenarios } = (await import(at('scenario.ts'))) as typeof import('./scenario.ts')
const { storeNames, witan, witanOn } = (await import(at('witan.ts'))) as typeof import('./witan.ts')

const scenario = scenarios.find((one) => one.id === id)
const name = storeNames.find((one) => one === store)
const { WITAN_TEST_POSTGRES: url } = process.env
if (scenario === undefined || (name === undefined && store !== 'postgres'))
  throw new Error(`there is no ${id} on ${store}`)
const folder = mkdtempSync(join(tmpdir(), 'witan-bench-'))
const latency = { ms: 0 }
const subject =
  name === undefined
    ? await witanOn(scenario, await onPostgres(), latency)
    : await witan(scenario, { store: name, folder, latency })
for (let run = 0; run < Number(warm); run += 1) await runOnce(scenario, subject)
mark()
for (let run = 0; run < Number(runs); run += 1) await runOnce(scenario, subject)
mark()
await subject.close()
rmSync(folder, { recursive: true, force: true })

/** A store in a schema of its own on the server that counting has started. */
async function onPostgres() {
  const { postgresStore } = (await import(join(root, 'packages/core/src/index.ts'))) as typeof import('@witan/core')
  return postgresStore({ url: url ?? '', schema: `count_${process.pid}` })
}
