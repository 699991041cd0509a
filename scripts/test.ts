/**
 * Runs every test but the browser's. Most files share one process, which saves the 0.15 s a process costs; those that
 * start servers or kill workers get one each. The fault matrix, which waits more than it works, and the simulation run beside all others.
 * Arguments are passed on to node: `npm test -- --test-name-pattern=budget`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'

/** Files that are run in one go, and whether each has a process of its own. */
interface Group {
  readonly isolation: 'none' | 'process'
  readonly files: readonly string[]
}

/** Ends what hangs. A test that takes 4 s by itself has taken 60 on a machine with much else to do, and was right all the same. */
const limitMs = 300_000

/** What V8 compiles is kept for all processes to come: loading the source is most of what a short one does. */
const compiled = fileURLToPath(new URL('../node_modules/.cache/witan-tests', import.meta.url))

const matrix = 'test/faults/every-row-of-the-matrix.test.ts'

/** Groups of a lane run one after the other; lanes run beside each other. */
const lanes: readonly (readonly Group[])[] = [
  [
    { isolation: 'none', files: ['packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts'] },
    { isolation: 'process', files: ['test/faults/**/*.test.ts', 'examples/*/*.test.ts'] },
  ],
  [
    { isolation: 'none', files: ['test/{conformance,scenarios,properties,leaks,docs}/**/*.test.ts'] },
    { isolation: 'process', files: ['test/acceptance/**/*.test.ts'] },
  ],
  [{ isolation: 'process', files: [matrix, 'test/simulation/**/*.test.ts'] }],
]

/** Runs the tests of a lane; what they print goes to `out`. */
async function run(groups: readonly Group[], out: NodeJS.WritableStream): Promise<void> {
  for (const { isolation, files } of groups) {
    const found = globSync(files).filter((file) => file !== matrix || files.includes(matrix))
    if (found.length === 0) continue
    const how = ['--test', `--test-isolation=${isolation}`, `--test-timeout=${limitMs}`, '--test-force-exit']
    const node = spawn(process.execPath, [...how, ...process.argv.slice(2), ...found.sort()], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { NODE_COMPILE_CACHE: compiled, ...process.env, ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}) },
    })
    node.stdout.pipe(out, { end: false })
    const [code] = (await once(node, 'close')) as [number | null]
    if (code !== 0) process.exitCode = 1
  }
}

/** What a lane prints is shown once the lanes before it are done, so that no two are mixed. */
const shown = lanes.map(() => new PassThrough({ highWaterMark: Number.MAX_SAFE_INTEGER }))
const running = lanes.map((groups, at) => run(groups, shown[at] as PassThrough).finally(() => shown[at]?.end()))
for (const out of shown) for await (const text of out) process.stdout.write(text as Buffer)
await Promise.all(running)
