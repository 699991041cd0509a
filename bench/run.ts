/**
 * The benchmark: `npm run bench`, or `npm run bench -- --only S1,S4 --stores memory,normal --rounds 5 --json FILE --quick`.
 * It measures the source, which Node strips of its types and runs as it is; people compare the figures, nothing asserts them.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Effort } from './measure.ts'
import type { StoreName } from './witan.ts'

const root = join(import.meta.dirname, '..')
const thorough: Effort = { rounds: 7, roundMs: 500, warmMs: 1000, turns: 500 }
const quick: Effort = { rounds: 1, roundMs: 20, warmMs: 20, turns: 10 }

/** Set in the environment of the process that measures. */
const measuring = 'WITAN_BENCH_MEASURING'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    stores: { type: 'string' },
    rounds: { type: 'string' },
    json: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
})

/** The same program with the flags and the environment that measuring needs. */
function again(): number {
  const args = ['--no-warnings', '--conditions=witan-source', import.meta.filename, ...process.argv.slice(2)]
  const env = { ...process.env, NODE_ENV: 'production', [measuring]: '1' }
  return spawnSync(process.execPath, args, { stdio: 'inherit', env }).status ?? 1
}

async function main(): Promise<void> {
  const { ids, measure } = await import('./suite.ts')
  const { storeNames } = await import('./witan.ts')
  const only = values.only === undefined ? null : new Set(chosen('only', values.only, ids))
  const stores = values.stores === undefined ? storeNames : chosen<StoreName>('stores', values.stores, storeNames)
  const usual = values.quick ? quick : thorough
  const effort = values.rounds === undefined ? usual : { ...usual, rounds: positive('rounds', values.rounds) }
  const say = (progress: string) => void process.stderr.write(`${progress}\n`)
  const about = `Node ${process.version}, ${availableParallelism()} cores; ${new Date().toISOString().slice(0, 10)}`
  const lines = await measure({ only, stores, effort, say })
  const { tableOf } = await import('./table.ts')
  console.log(
    `${about}; CPU per run, all threads, instant model: median of ${effort.rounds} rounds (lowest..highest)\n`,
  )
  console.log(tableOf(lines, ['floor', ...stores]))
  const rest = only === null ? await aroundTheEngine(values.quick ? 1 : 7) : null
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ about, effort, lines, rest }, null, 2)}\n`)
}

/** What is paid once: the start of a process, and the space on disk. */
async function aroundTheEngine(processes: number) {
  const { startTime } = await import('./start-time.ts')
  const { weightOf } = await import('./size.ts')
  const built = existsSync(join(root, 'packages', 'core', 'dist', 'index.js'))
  const start = startTime(processes, built)
  const library = weightOf(join(root, 'packages', 'core'))
  const everything = weightOf(join(root, 'packages', 'cli'))
  const words = (weight: typeof library) => `${weight.megabytes.toFixed(1)} MB in ${weight.packages} packages`
  const range = `${start.min.toFixed(0)}..${start.max.toFixed(0)}`
  const code = built ? 'as built' : 'from source'
  console.log(`\nFrom the start of a process to a constructed agent, ${code}: ${start.median.toFixed(0)} ms (${range})`)
  console.log(`Production dependencies: of the library ${words(library)}; of everything ${words(everything)}`)
  return { start, built, library, everything }
}

function chosen<Name extends string>(option: string, list: string, known: readonly Name[]): Name[] {
  return list.split(',').map((name) => {
    const found = known.find((one) => one === name)
    if (found === undefined) throw new Error(`--${option}: \`${name}\` is none of ${known.join(', ')}`)
    return found
  })
}

function positive(option: string, text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count > 0) return count
  throw new Error(`--${option}: \`${text}\` is no count`)
}

if (process.env[measuring] === undefined) process.exitCode = again()
else await main()
