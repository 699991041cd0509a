/**
 * One process of a pair: builds a scenario from the checkout it is given, warms up, and tells the CPU µs per run of each round that it
 * is asked for. Warming up and rounds are measured in CPU time, so that a busy machine compiles as much of the code as an idle one.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [root = '', id = '', store = ''] = process.argv.slice(2)
/** Long enough to compile what will be: after a quarter of it, the compiler is still a tenth of what is measured. */
const warmUs = 10_000_000
const roundUs = 250_000
/** Runs between two looks at the clock of the process, which costs as much as a tenth of a short run. */
const chunk = 20

const at = (file: string) => join(root, 'bench', file)
const { cpuNow, runOnce } = (await import(at('measure.ts'))) as typeof import('./measure.ts')
const { scenarios } = (await import(at('scenario.ts'))) as typeof import('./scenario.ts')
const { storeNames, witan } = (await import(at('witan.ts'))) as typeof import('./witan.ts')

const scenario = scenarios.find((one) => one.id === id)
const name = storeNames.find((one) => one === store)
if (scenario === undefined || name === undefined) throw new Error(`there is no ${id} on ${store}`)
const folder = mkdtempSync(join(tmpdir(), 'witan-bench-'))
const subject = await witan(scenario, { store: name, folder, latency: { ms: 0 } })

/**
 * Runs until so much CPU time is spent: CPU µs per run. One runtime makes all runs of a process, as in a server that goes on: what a
 * new one every few hundred runs leaves behind costs the garbage collector more than the runs do.
 */
async function spend(us: number): Promise<number> {
  const from = cpuNow()
  let runs = 0
  while (cpuNow() - from < us) {
    for (let run = 0; run < chunk; run += 1) await runOnce(scenario as NonNullable<typeof scenario>, subject)
    runs += chunk
  }
  return (cpuNow() - from) / runs
}

await spend(warmUs)
process.on('message', (order) => {
  if (order === 'end') process.disconnect()
  else void spend(roundUs).then((cpu) => process.send?.(cpu))
})
process.send?.('ready')
await once(process, 'disconnect')
await subject.close()
rmSync(folder, { recursive: true, force: true })
