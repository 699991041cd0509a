/**
 * Runs the tests of one suite: `quick` unless an argument names `faults`, `simulation`, `leaks`, `holds` or `all`. Arguments that start with
 * `--` are passed on to node: `npm test -- --test-name-pattern=budget`.
 *
 * Most files share one process, which saves the start of one for each. A few that start servers share one, since the servers of all of them
 * are open at once; files that kill workers get one each.
 * `--test-force-exit` loses results under node's own process isolation, so each process is started here. A file that reports no test fails.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { acceptanceProgram, variable } from '../test/acceptance/support/program.ts'

/** Files that share a process. */
interface Group {
  readonly files: readonly string[]
  readonly except?: readonly string[]
  /** How many share one; all of them by default. */
  readonly most?: number
}

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

/** What `npm test` leaves out, so that it stays under three minutes: whole programs that are started many times, and what waits for long. They run in `all`. */
const besides = [
  'examples/*/{federation,guide,handbook,paid-search,process-discovery,support-desk}.test.ts',
  'examples/northwind/front-desk.test.ts',
  'packages/cli/src/{developing,doctor,hostile-text,program,serving}.test.ts',
  'packages/cli/src/commands/knowledge.test.ts',
  'packages/core/src/model/adapters/openai-compatible-limits.test.ts',
  'packages/core/src/store/drivers/postgres.test.ts',
  'packages/core/src/store/drivers/postgres/{deadline,history,hosts,looks,lost-commit,notifications,open,routed,run-cost,wall}.test.ts',
  'packages/core/src/tool/kinds/{postgres-source-session,sqlite-source-process}.test.ts',
  'packages/readers/src/readers.test.ts',
  'scripts/test-{a2a-kit,local-model}.test.ts',
  'test/acceptance/{a2a-closed,evidence-reads,keys,late-replies,people,remote-sdk,replay,restart,revoked-keys,roles,shared-budgets,task-ends,traces}.test.ts',
  'test/scenarios/a-{check-of-many-agents-holds-nobody-up,full-queue-holds-little}.test.ts',
  'test/scenarios/clients-that-read-nothing-hold-a-bounded-share.test.ts',
  'test/support/seeds.test.ts',
]

/** They share a PostgreSQL. */
const ofStores = 'packages/core/src/{store,testing,tool}/**/*.test.ts'

/** What takes longest stands first, so that no core waits for it at the end. */
const quickGroups: readonly Group[] = [
  { files: ['test/scenarios/**/*.test.ts'] },
  { files: [ofStores], except: severalProcesses },
  { files: ['packages/core/src/**/*.test.ts'], except: [ofStores] },
  { files: ['packages/cli/src/**/*.test.ts'] },
  { files: ['test/properties/**/*.test.ts'] },
  { files: ['packages/{server,client,protocol,studio,readers}/src/**/*.test.ts'] },
  { files: ['test/{docs,support}/**/*.test.ts', 'scripts/**/*.test.ts'] },
  { files: ['examples/*/*.test.ts'], most: 1 },
  { files: ['test/acceptance/**/*.test.ts'], except: severalProcesses, most: 6 },
]
const quick = quickGroups.map((group) => ({ ...group, except: [...(group.except ?? []), ...besides] }))
const faults: readonly Group[] = [
  { files: [matrix], most: 1 },
  { files: ['test/faults/**/*.test.ts', ...severalProcesses], except: [matrix], most: 1 },
]
const simulation: readonly Group[] = [{ files: ['test/simulation/**/*.test.ts'], most: 1 }]
const leaks: readonly Group[] = [{ files: ['test/leaks/**/*.test.ts'] }]
const holds: readonly Group[] = [{ files: ['test/holds/**/*.test.ts'], most: 1 }]

/** `holds` is no part of all: what it measures wants the machine for itself. */
const suites: Readonly<Record<string, readonly Group[]>> = {
  quick,
  faults,
  simulation,
  leaks,
  holds,
  all: [...faults.slice(0, 1), ...simulation, ...leaks, ...faults.slice(1), ...quick, { files: besides, most: 1 }],
}

const untracked = ['--expose-internals', '--import', new URL('untracked-promises.ts', import.meta.url).href]

const passedOn = process.argv.slice(2).filter((word) => word.startsWith('--'))
const name = process.argv.slice(2).find((word) => !word.startsWith('--')) ?? 'quick'
const groups = suites[name]
/** So many processes run at once: some wait more than they work. More would make the times wrong that the matrix measures, which has several itself. */
const width = name === 'quick' ? 4 : 2
if (groups === undefined) throw new Error(`"${name}" is no suite; there are ${Object.keys(suites).join(', ')}`)
const reporter = fileURLToPath(new URL('test-files.ts', import.meta.url))
const program = await acceptanceProgram()
const folder = mkdtempSync(join(tmpdir(), 'witan-tests-'))
/** Each failed test, and each that did not run, with its file. */
const failures: string[] = []
const skipped: string[] = []
let passed = 0
/** How long each process took, in seconds, with what it took of the processors, and its files. */
const took: { readonly seconds: number; readonly cpu: number; readonly files: string }[] = []
const from = performance.now()

/** The files of each process. */
const processes = groups.flatMap(({ files, except = [], most }) => {
  const all = globSync(files, { exclude: except }).sort()
  const size = most ?? all.length
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size))
})

/** Runs files in a process. What it prints is shown once it has ended, so that no two are mixed; alone it is shown at once. */
async function run(files: readonly string[], at: number): Promise<void> {
  const reported = join(folder, String(at))
  const begun = performance.now()
  const how = [...untracked, '--test', '--test-isolation=none', `--test-timeout=${limitMs}`, '--test-force-exit']
  const reporters = ['spec', 'stdout', reporter, reported]
  const reports = reporters.map((word, at) => `--test-reporter${at % 2 === 0 ? '' : '-destination'}=${word}`)
  const node = spawn(process.execPath, [...how, ...reports, ...passedOn, ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      NODE_COMPILE_CACHE: compiled,
      ...(name === 'quick' ? {} : { WITAN_TESTS: 'all' }),
      ...(name === 'faults' ? { WITAN_DRILL: 'whole' } : {}),
      ...process.env,
      [variable]: program,
      ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}),
    },
  })
  const printed: Buffer[] = []
  if (processes.length === 1) node.stdout.pipe(process.stdout, { end: false })
  else node.stdout.on('data', (text: Buffer) => printed.push(text))
  const [code] = (await once(node, 'close')) as [number | null]
  process.stdout.write(Buffer.concat(printed))
  if (code !== 0) process.exitCode = 1
  const lines = existsSync(reported) ? readFileSync(reported, 'utf8').split('\n') : []
  const said = (word: string) =>
    lines.flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []))
  failures.push(...said('fail'))
  skipped.push(...said('skip'))
  passed += Number(said('passed')[0] ?? 0)
  const rest = files.length === 1 ? '' : ` and ${files.length - 1} more`
  const [seconds, cpu] = [Math.round((performance.now() - begun) / 1000), Number(said('cpu')[0] ?? 0)]
  took.push({ seconds, cpu, files: `${files[0]}${rest}` })
  if (code !== 0 && said('fail').length === 0) failures.push(`${files.join(' ')} ended with ${code}`)
  if (passedOn.length === 0) claimTests(files, new Set(said('test')))
}

/** A file that was loaded and reported no test has lost its tests. */
function claimTests(files: readonly string[], withTests: ReadonlySet<string>): void {
  for (const file of files) {
    if (withTests.has(resolve(file))) continue
    console.log(`✖ ${file} reported no test`)
    failures.push(`${file} reported no test`)
    process.exitCode = 1
  }
}

const queue = processes.entries() // one iterator for all: nothing runs twice
await Promise.all(
  Array.from({ length: width }, async () => {
    for (const [at, files] of queue) await run(files, at)
  }),
)
const seconds = Math.round((performance.now() - from) / 1000)
const longest = took.sort((one, other) => other.seconds - one.seconds).slice(0, 40)
if (took.length > 1)
  console.log(
    ['longest processes:', ...longest.map(({ seconds, cpu, files }) => `${seconds} s, ${cpu} s of CPU: ${files}`)].join(
      '\n  ',
    ),
  )
console.log(`${passed} passed, ${failures.length} failed, ${skipped.length} skipped in ${seconds} s`)
if (skipped.length > 0) console.log(['skipped tests:', ...skipped].join('\n  '))
if (failures.length > 0) console.log(['failed tests:', ...failures].join('\n  '))
rmSync(folder, { recursive: true })
