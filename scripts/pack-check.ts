/**
 * Packs every publishable package, installs the tarballs in an empty folder, and uses them as a stranger would. `--studio-is-built`
 * packs the Studio's assets as they are: a build empties their folder for a moment, which a test that runs beside it would see.
 */
import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const limits = { library: 15, everything: 60 } as const
const { NODE_OPTIONS: _sourceCondition, npm_config_node_options: _alsoSource, ...env } = process.env

/** Runs a program without the condition that leads to source, so that only what is published can answer. */
function run(folder: string, command: string, args: readonly string[]): string {
  return execFileSync(command, args, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

interface Manifest {
  readonly name: string
  readonly exports?: Readonly<Record<string, unknown>>
}

interface Packed {
  readonly tarball: string
  /** What a stranger imports: the package's name, and that of each further entry. */
  readonly entries: readonly string[]
}

/** Each package by its name. */
function pack(into: string): Map<string, Packed> {
  const packed = new Map<string, Packed>()
  const entriesOf = new Map<string, readonly string[]>()
  for (const path of globSync('packages/*/package.json', { cwd: root })) {
    const { name, exports = {} } = JSON.parse(readFileSync(join(root, path), 'utf8')) as Manifest
    entriesOf.set(
      name,
      Object.keys(exports).map((key) => name + key.slice(1)),
    )
  }
  const chosen = [...entriesOf.keys()].flatMap((name) => ['--workspace', name])
  const out = run(root, 'npm', ['pack', '--json', '--pack-destination', into, ...chosen])
  for (const { name, filename } of allPacked(JSON.parse(out))) {
    packed.set(name, { tarball: join(into, filename), entries: entriesOf.get(name) ?? [] })
    const kilobytes = Math.ceil(statSync(join(into, filename)).size / 1000)
    console.log(`packed ${name}: ${kilobytes} kB`)
  }
  return packed
}

/** npm prints a list, or from version 12 an object by name. */
function allPacked(printed: unknown): readonly { readonly name: string; readonly filename: string }[] {
  return Object.values(printed as Record<string, { readonly name: string; readonly filename: string }>)
}

/** Installs tarballs in a new folder and returns the folder. */
function install(into: string, tarballs: readonly (string | undefined)[]): string {
  const folder = mkdtempSync(join(into, 'install-'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const files = tarballs.filter((file) => file !== undefined)
  run(folder, 'npm', ['install', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error', ...files])
  return folder
}

function megabytes(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const bytes = entries
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(join(entry.parentPath, entry.name)).size)
  return bytes.reduce((sum, size) => sum + size, 0) / 1e6
}

function checkSize(what: keyof typeof limits, folder: string): boolean {
  const size = megabytes(join(folder, 'node_modules'))
  console.log(`${what}: ${size.toFixed(1)} MB of production dependencies (limit ${limits[what]} MB)`)
  return size < limits[what]
}

/** What a page that was added is found as: its reader is a process of its own, and its index a thread, and both lie in the packages. */
function readsPage(folder: string): string {
  writeFileSync(
    join(folder, 'witan.config.json'),
    '{ "store": { "url": "file:./w.db" }, "knowledge": [{ "id": "house" }] }',
  )
  writeFileSync(join(folder, 'roof.html'), '<p>The roof is red.</p>')
  const witan = (...words: readonly string[]) => run(folder, 'npx', ['--no-install', 'witan', 'knowledge', ...words])
  witan('add', 'house', 'roof.html')
  const found = witan('search', 'house', 'roof')
  if (!found.includes('The roof is red.')) throw new Error(`The page was not found: ${found}`)
  return 'added a page and found it'
}

function main(): boolean {
  const temporary = mkdtempSync(join(tmpdir(), 'witan-pack-'))
  try {
    if (!process.argv.includes('--studio-is-built')) run(root, 'npm', ['run', '--silent', 'prepare'])
    run(root, 'npm', ['run', '--silent', 'build:code', '--', '--noCheck']) // `npm run types` checks the types
    const packed = pack(temporary)
    const library = install(temporary, [packed.get('@witan/protocol')?.tarball, packed.get('@witan/core')?.tarball])
    const everything = install(
      temporary,
      [...packed.values()].map(({ tarball }) => tarball),
    )
    for (const name of [...packed.values()].flatMap(({ entries }) => entries)) {
      const count = run(everything, process.execPath, [
        '--input-type=module',
        '--eval',
        `console.log(Object.keys(await import('${name}')).length)`,
      ])
      console.log(`imported ${name}: ${count.trim()} values`)
    }
    console.log(`witan --version: ${run(everything, 'npx', ['--no-install', 'witan', '--version']).trim()}`)
    console.log(`witan knowledge: ${readsPage(everything)}`)
    return [checkSize('library', library), checkSize('everything', everything)].every(Boolean)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

process.exitCode = main() ? 0 : 1
