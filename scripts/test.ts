/**
 * Runs the tests of one suite: `quick` unless an argument names `faults`, `simulation`, `leaks`, `holds` or `all`. Arguments that start with
 * `--` are passed on to node: `npm test -- --test-name-pattern=budget`.
 *
 * Most files share one process, which saves the start of one for each. Files that start servers or kill workers get one each.
 * `--test-force-exit` loses results under node's own process isolation, so a file on its own is started here. A file that reports no test fails.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { acceptanceProgram, variable } from '../test/acceptance/support/program.ts'

/** Files that run in one go, and whether each has a process of its own. */
interface Group {
  readonly isolation: 'none' | 'process'
  readonly files: readonly string[]
  readonly except?: readonly string[]
}

/** Groups of a lane run one after the other; lanes run beside each other. */
type Lane = readonly Group[]

/** Ends a test that hangs. A test that takes 4 s at rest has taken 60 s on a busy machine, and was right. */
const limitMs = 300_000

/** The compile cache is kept between runs: loading the source is most of the work of a short process. */
const compiled = fileURLToPath(new URL('../node_modules/.cache/witan-tests', import.meta.url))

const matrix = 'test/faults/every-row-of-the-matrix.test.ts'
/** Tests of several processes, with leases that must run out, and of a database that goes away. */
const severalProcesses = [
  'test/acceptance/{orderly-end,processes,rolling-restart}.test.ts',
  'packages/core/src/store/drivers/postgres/away.test.ts',
]

const quick: readonly Lane[] = [
  [{ isolation: 'none', files: ['test/{scenarios,properties,docs,support}/**/*.test.ts'] }],
  [{ isolation: 'process', files: ['test/acceptance/**/*.test.ts'], except: severalProcesses }],
  [
    { isolation: 'none', files: ['packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts'], except: severalProcesses },
    { isolation: 'process', files: ['examples/*/*.test.ts'] },
  ],
]
const faults: readonly Lane[] = [
  [{ isolation: 'process', files: [matrix] }],
  [{ isolation: 'process', files: ['test/faults/**/*.test.ts', ...severalProcesses], except: [matrix] }],
]
const simulation: readonly Lane[] = [[{ isolation: 'process', files: ['test/simulation/**/*.test.ts'] }]]
const leaks: readonly Lane[] = [[{ isolation: 'none', files: ['test/leaks/**/*.test.ts'] }]]
const holds: readonly Lane[] = [[{ isolation: 'process', files: ['test/holds/**/*.test.ts'] }]]

/** The longest lanes of a suite stand first. `holds` is no part of all: what it measures wants the machine for itself. */
const suites: Readonly<Record<string, readonly Lane[]>> = {
  quick,
  faults,
  simulation,
  leaks,
  holds,
  all: [...faults, ...quick, ...simulation, ...leaks],
}

/** So many lanes run at once: some wait more than they work. More would make the times wrong that the matrix measures. */
const width = 3

const untracked = ['--expose-internals', '--import', new URL('untracked-promises.ts', import.meta.url).href]

const passedOn = process.argv.slice(2).filter((word) => word.startsWith('--'))
const name = process.argv.slice(2).find((word) => !word.startsWith('--')) ?? 'quick'
const lanes = suites[name]
if (lanes === undefined) throw new Error(`"${name}" is no suite; there are ${Object.keys(suites).join(', ')}`)
const reporter = fileURLToPath(new URL('test-files.ts', import.meta.url))
const program = await acceptanceProgram()
const folder = mkdtempSync(join(tmpdir(), 'witan-tests-'))
/** Each failed test of all lanes, with its file. */
const failures: string[] = []

/** Runs the tests of a lane; what they print goes to `out`. */
async function run(lane: Lane, at: number): Promise<void> {
  const out = shown[at] as PassThrough
  for (const [index, { isolation, files, except = [] }] of lane.entries()) {
    const all = globSync(files, { exclude: except }).sort()
    for (const [part, found] of (isolation === 'none' ? [all] : all.map((file) => [file])).entries()) {
      const reported = join(folder, `${at}-${index}-${part}`)
      const how = [...untracked, '--test', '--test-isolation=none', `--test-timeout=${limitMs}`, '--test-force-exit']
      const reporters = ['spec', 'stdout', reporter, reported]
      const reports = reporters.map((word, at) => `--test-reporter${at % 2 === 0 ? '' : '-destination'}=${word}`)
      const node = spawn(process.execPath, [...how, ...reports, ...passedOn, ...found], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: {
          NODE_COMPILE_CACHE: compiled,
          ...(name === 'quick' ? {} : { WITAN_TESTS: 'all' }),
          ...process.env,
          [variable]: program,
          ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}),
        },
      })
      node.stdout.pipe(out, { end: false })
      const [code] = (await once(node, 'close')) as [number | null]
      if (code !== 0) process.exitCode = 1
      const lines = existsSync(reported) ? readFileSync(reported, 'utf8').split('\n') : []
      failures.push(...lines.filter((line) => line.startsWith('fail ')).map((line) => line.slice('fail '.length)))
      if (passedOn.length === 0) claimTests(found, { reported: lines, out })
    }
  }
  out.end()
}

/** A file that was loaded and reported no test has lost its tests. */
function claimTests(
  files: readonly string[],
  { reported, out }: { reported: readonly string[]; out: PassThrough },
): void {
  const withTests = new Set(reported)
  for (const file of files) {
    if (withTests.has(`test ${resolve(file)}`)) continue
    out.write(`✖ ${file} reported no test\n`)
    failures.push(`${file} reported no test`)
    process.exitCode = 1
  }
}

/** What a lane prints is shown once the lanes before it are done, so that no two are mixed. */
const shown = lanes.map(() => new PassThrough({ highWaterMark: Number.MAX_SAFE_INTEGER }))
const queue = lanes.entries()
const running = Array.from({ length: width }, async () => {
  for (const [at, lane] of queue) await run(lane, at)
})
for (const out of shown) for await (const text of out) process.stdout.write(text as Buffer)
await Promise.all(running)
if (failures.length > 0) console.log(['failed tests:', ...failures].join('\n  '))
rmSync(folder, { recursive: true })
