/** A virtual environment of Python with packages from PyPI, made once and kept in `node_modules/.cache`. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

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
  return environment(name, {
    holds: [...packages, ...bare],
    how: ['--without-pip'],
    fill(python) {
      const installers = installersOf(withinMs)
      if (installers instanceof Error) return installers
      for (const words of [packages, bare.length === 0 ? [] : ['--no-deps', ...bare]]) {
        const failed = words.length === 0 ? null : install(installers, { words, python, withinMs })
        if (failed !== null) return failed
      }
      return null
    },
  })
}

/** One environment has the installers of all others: giving one a pip of its own takes 6 s. */
function installersOf(withinMs: number): Venv | Error {
  const words = ['pip>=22.3', 'uv']
  return environment('witan-installers', { holds: words, how: [], fill: (python) => pip([python], words, withinMs) })
}

interface Made {
  /** What it holds: with other packages it is made anew. */
  readonly holds: readonly string[]
  /** Options of `venv`. */
  readonly how: readonly string[]
  fill(python: string): Error | null
}

function environment(name: string, { holds, how, fill }: Made): Venv | Error {
  const folder = join(root, 'node_modules/.cache', name)
  const python = join(folder, 'bin/python')
  // Written last: an installation that broke off is made again.
  const whole = join(folder, `whole-${holds.join('-').replaceAll(/[^\w.-]/g, '_')}`)
  if (existsSync(whole)) {
    const site = siteFolder(python)
    if (site !== null) return { python, site }
  }
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const { status } = spawnSync('python3', ['-m', 'venv', ...how, folder])
  if (status !== 0) return new Error('Python 3 with the module venv is not here')
  const failed = fill(python)
  if (failed !== null) return failed
  const site = siteFolder(python)
  if (site === null) return new Error('the virtual environment has no packages')
  writeFileSync(whole, '')
  return { python, site }
}

/** uv takes a twentieth of the time of pip. It does not read pip's settings: where they name the index of packages, pip does the work. */
function install(
  installers: Venv,
  {
    words,
    python,
    withinMs,
  }: { readonly words: readonly string[]; readonly python: string; readonly withinMs: number },
): Error | null {
  const how = ['pip', 'install', '--quiet', '--no-build', '--python', python, ...words]
  const { status } = spawnSync(join(dirname(installers.python), 'uv'), how, { stdio: 'ignore', timeout: withinMs })
  return status === 0 ? null : pip([installers.python, python], words, withinMs)
}

/** Compiles nothing beforehand: that takes longer than all else, and few of the files are ever imported. */
function pip([python, into]: readonly [python: string, into?: string], words: readonly string[], timeout: number) {
  const where = into === undefined ? [] : ['--python', into]
  const how = ['-m', 'pip', ...where, 'install', '--quiet', '--no-compile', '--only-binary', ':all:', ...words]
  const installed = spawnSync(python, how, { encoding: 'utf8', timeout })
  if (installed.status === 0) return null
  return new Error(`PyPI gave no packages: ${installed.stderr.trim().split('\n').at(-1) ?? ''}`)
}

function siteFolder(python: string): string | null {
  const code = 'import sysconfig; print(sysconfig.get_path("purelib"))'
  const { status, stdout } = spawnSync(python, ['-c', code], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : null
}
