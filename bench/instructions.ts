/**
 * Counts instructions a run, in another checkout and here: `npm run bench:instructions -- --base FOLDER [--only S1,S4]
 * [--stores memory,normal,postgres] [--warm 3000] [--runs 5000] [--seeds 7]`. It needs valgrind. A busy machine changes nothing in a count,
 * so it shows differences that no time would. One thread does everything: the runs, the compiler and the garbage collector. A store in
 * memory keeps all runs. What a PostgreSQL server does is not counted.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { aboutHere } from './about.ts'
import { callgrind, countedFlags, countedIn } from './callgrind.ts'
import { testServer } from '../test/postgres/support/server.ts'
import { gridOf } from './grid.ts'

const here = join(import.meta.dirname, '..')
const child = join(import.meta.dirname, 'instructions-child.ts')

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    only: { type: 'string', default: 'S1,S2,S3,S4,S5,S6' },
    stores: { type: 'string', default: 'memory,normal' },
    warm: { type: 'string', default: '3000' },
    runs: { type: 'string', default: '5000' },
    seeds: { type: 'string', default: '7' },
  },
})

const folder = mkdtempSync(join(tmpdir(), 'witan-count-'))

/** Thousands of instructions a run. */
function countOf(root: string, scenario: string, { store, seed }: { store: string; seed: string }): number {
  const out = join(folder, 'counts')
  const [valgrind = '', ...itsOwn] = callgrind(out)
  const node = [process.execPath, ...countedFlags(seed), '--no-warnings', '--conditions=witan-source']
  const told = [root, scenario, store, values.warm, values.runs]
  execFileSync(valgrind, [...itsOwn, ...node, child, ...told], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'], // valgrind's own words are shown where it fails
    env: { ...process.env, NODE_ENV: 'production', NODE_COMPILE_CACHE: join(folder, 'compiled') },
  })
  return countedIn(out) / Number(values.runs) / 1000
}

async function main(): Promise<void> {
  if (values.stores.split(',').includes('postgres')) process.env['WITAN_TEST_POSTGRES'] = await testServer()
  if (values.base === undefined) throw new Error('--base: say which checkout to compare with')
  const base = resolve(values.base)
  const rows: string[][] = []
  for (const store of values.stores.split(','))
    for (const scenario of values.only.split(','))
      for (const seed of values.seeds.split(',')) {
        const [before, now] = [base, here].map((root) => countOf(root, scenario, { store, seed })) as [number, number]
        rows.push([`${scenario} ${store}`, before.toFixed(1), now.toFixed(1), (now / before).toFixed(4)])
        process.stderr.write(`${rows.at(-1)?.join('  ')}\n`)
      }
  console.log(`${aboutHere().text}; thousands of instructions a run\n`)
  console.log(gridOf(['', 'base', 'here', 'ratio'], rows))
  rmSync(folder, { recursive: true, force: true })
}

await main()
process.exit()
