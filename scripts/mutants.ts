/**
 * Breaks the code on purpose, one small way after the other, and expects the tests to notice: a suite is only believed if each of
 * these turns it red. Works on copies, two at a time; names or parts of names as arguments choose among them, and `--since COMMIT`
 * chooses those whose code has changed since then. A mutant whose tests are red without it proves nothing, and one whose text is not
 * there any more is to be written anew.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const left = new Set(['node_modules', '.git', 'dist', '.witan'])
const limitMs = 120_000

/** One way to be wrong. `from` stands exactly once in its file; `only` picks tests by their names. */
interface Mutant {
  readonly name: string
  readonly edits: readonly { readonly file: string; readonly from: string; readonly to: string }[]
  readonly tests: readonly string[]
  readonly only?: string
}

async function readMutants(wanted: readonly string[], since: string | undefined): Promise<readonly Mutant[]> {
  const folder = join(root, 'test/mutants')
  const files = (await readdir(folder)).filter((file) => file.endsWith('.json')).sort()
  const all: Mutant[] = []
  for (const file of files) all.push(...(JSON.parse(await readFile(join(folder, file), 'utf8')) as Mutant[]))
  const named = wanted.length === 0 ? all : all.filter(({ name }) => wanted.some((word) => name.includes(word)))
  if (since === undefined) return named
  const changed = new Set(changedSince(since))
  return named.filter(({ edits }) => edits.some(({ file }) => changed.has(file)))
}

function changedSince(commit: string): readonly string[] {
  return execFileSync('git', ['diff', '--name-only', commit], { cwd: root, encoding: 'utf8' }).split('\n')
}

/** A copy of the working tree whose packages are its own and whose dependencies are ours. */
async function copyTree(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'witan-mutants-'))
  await cp(root, copy, { recursive: true, filter: (path) => !left.has(basename(path)) })
  const modules = join(root, 'node_modules')
  await mkdir(join(copy, 'node_modules/@witan'), { recursive: true })
  for (const name of await readdir(modules)) {
    if (name !== '@witan') await symlink(join(modules, name), join(copy, 'node_modules', name))
  }
  for (const name of await readdir(join(copy, 'packages')))
    await symlink(join('../../packages', name), join(copy, 'node_modules/@witan', name))
  return copy
}

/** Whether the tests are green; one that does not end in time is not, nor are none. The first red file settles it. */
async function isGreen(copy: string, { tests, only }: Pick<Mutant, 'tests' | 'only'>): Promise<boolean> {
  let sum = 0
  for (const file of tests) {
    const passed = await passedIn(copy, file, only)
    if (passed === null) return false
    sum += passed
  }
  return sum > 0
}

/** How many tests of a file have passed; null if one has not. It runs in one process, which is all the isolation that it needs. The copy keeps what it has compiled. */
function passedIn(copy: string, file: string, only: string | undefined): Promise<number | null> {
  const which = only === undefined ? [] : [`--test-name-pattern=${only}`]
  const how = ['--test', '--test-isolation=none', '--test-force-exit', `--test-timeout=${limitMs}`]
  how.push('--test-reporter=tap')
  const env = { ...process.env, WITAN_TESTS: 'all', NODE_COMPILE_CACHE: join(copy, '.compiled') }
  return new Promise((resolve, reject) => {
    const args = ['--conditions=witan-source', ...how, ...which, file]
    const child = spawn(process.execPath, args, { cwd: copy, env, stdio: ['ignore', 'pipe', 'ignore'], detached: true })
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-2_000)
    })
    const timer = setTimeout(() => killAll(child), limitMs)
    child.once('error', reject)
    child.once('exit', () => killAll(child))
    child.once('close', (code) => {
      clearTimeout(timer)
      resolve(code === 0 ? Number(/^# pass (\d+)$/m.exec(said)?.[1] ?? 0) : null)
    })
  })
}

/** Kills a test process and what it started: a mutant may loop for ever in one of them. */
function killAll({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // All of them have ended.
  }
}

/** Makes the edits and gives what undoes them. Throws where one does not apply any more: a mutant that is not made kills nothing. */
async function mutate(copy: string, { name, edits }: Mutant): Promise<() => Promise<void>> {
  const before = new Map<string, string>()
  const after = new Map<string, string>()
  for (const { file, from, to } of edits) {
    const path = join(copy, file)
    const text = after.get(path) ?? (await readFile(path, 'utf8'))
    if (!before.has(path)) before.set(path, text)
    if (text.split(from).length !== 2) throw new Error(`${name}: its text does not stand once in ${file}`)
    after.set(
      path,
      text.replace(from, () => to),
    )
  }
  for (const [path, text] of after) await writeFile(path, text)
  return async () => {
    for (const [path, text] of before) await writeFile(path, text)
  }
}

type Verdict = 'killed' | 'SURVIVES' | 'UNMADE' | 'UNPROVEN'

/** Runs mutants one after the other on one copy; what the tests say without a mutant is asked once for each choice of them. */
async function judgeAll(queue: Mutant[], baselines: Map<string, Promise<boolean>>): Promise<Verdict[]> {
  const copy = await copyTree()
  const verdicts: Verdict[] = []
  try {
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const key = JSON.stringify([mutant.tests, mutant.only])
      const baseline = baselines.get(key) ?? isGreen(copy, mutant)
      baselines.set(key, baseline)
      const verdict = (await baseline) ? await judge(copy, mutant) : 'UNPROVEN'
      verdicts.push(verdict)
      console.log(`${verdict.padEnd(8)}  ${mutant.name}`)
    }
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
  return verdicts
}

async function judge(copy: string, mutant: Mutant): Promise<Verdict> {
  try {
    const undo = await mutate(copy, mutant)
    const survives = await isGreen(copy, mutant)
    await undo()
    return survives ? 'SURVIVES' : 'killed'
  } catch (error) {
    console.log(error instanceof Error ? error.message : String(error))
    return 'UNMADE'
  }
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { since: { type: 'string' } } })
const mutants = await readMutants(positionals, values.since)
const queue = [...mutants]
const baselines = new Map<string, Promise<boolean>>()
const copies = Math.min(2, availableParallelism(), queue.length)
const verdicts = (await Promise.all(Array.from({ length: copies }, () => judgeAll(queue, baselines)))).flat()
const killed = verdicts.filter((verdict) => verdict === 'killed').length
console.log(`${killed}/${mutants.length} killed`)
process.exitCode = killed === mutants.length ? 0 : 1
