/** A virtual environment of Python with packages from PyPI, made once and kept in `node_modules/.cache`. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of the repository. */
export const root = join(import.meta.dirname, '..')

/** What an environment holds. A name without a version takes the latest. */
export interface VenvOptions {
  /** Its folder in the cache. */
  readonly name: string
  /** Installed with all that they depend on. */
  readonly packages?: readonly string[]
  /** Installed without what they depend on. */
  readonly bare?: readonly string[]
  readonly withinMs: number
}

/** An environment: its interpreter, and the folder of its packages. */
export interface Venv {
  readonly python: string
  readonly site: string
}

/** Makes the environment if it is not there, or not whole. An error says why it could not. */
export function venvOf({ name, packages = [], bare = [], withinMs }: VenvOptions): Venv | Error {
  const folder = join(root, 'node_modules/.cache', name)
  const python = join(folder, 'bin/python')
  // Written last: an installation that broke off is made again.
  const whole = join(folder, `whole-${[...packages, ...bare].join('-').replaceAll(/[^\w.-]/g, '_')}`)
  if (existsSync(whole)) {
    const site = siteFolder(python)
    if (site !== null) return { python, site }
  }
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const made = spawnSync('python3', ['-m', 'venv', folder], { encoding: 'utf8' })
  if (made.status !== 0) return new Error('Python 3 with the module venv is not here')
  for (const words of [packages, bare.length === 0 ? [] : ['--no-deps', ...bare]]) {
    const failed = words.length === 0 ? null : install(python, { words, withinMs })
    if (failed !== null) return failed
  }
  const site = siteFolder(python)
  if (site === null) return new Error('the virtual environment has no packages')
  writeFileSync(whole, '')
  return { python, site }
}

/** Compiles nothing beforehand: that takes longer than all else, and few of the files are ever imported. */
function install(
  python: string,
  { words, withinMs }: { readonly words: readonly string[]; readonly withinMs: number },
): Error | null {
  const how = ['-m', 'pip', 'install', '--quiet', '--no-compile', '--only-binary', ':all:']
  const installed = spawnSync(python, [...how, ...words], { encoding: 'utf8', timeout: withinMs })
  if (installed.status === 0) return null
  return new Error(`PyPI gave no packages: ${installed.stderr.trim().split('\n').at(-1) ?? ''}`)
}

function siteFolder(python: string): string | null {
  const code = 'import sysconfig; print(sysconfig.get_path("purelib"))'
  const { status, stdout } = spawnSync(python, ['-c', code], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : null
}
