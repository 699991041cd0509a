/**
 * Runs test/browser in a real Chromium. As root on Debian it installs one when there is none, and in CI also when there is only one with
 * windows. Where it cannot get one it says so and exits 3, which means "did not run" and not "passed".
 */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'

/** Chromium without its windows: the same pages take a third of the CPU. */
const shell = '/usr/bin/chromium-headless-shell'
const known = [shell, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/snap/bin/chromium']

function findChromium(): string | undefined {
  return [process.env.WITAN_CHROMIUM ?? '', ...known].find((path) => path !== '' && existsSync(path))
}

/** Installs the shell; where there is no such package and no Chromium yet, Chromium. */
function installChromium(): void {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return
  console.log('browser tests: installing chromium with apt-get')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const quietly = (args: string[]) => spawnSync('apt-get', args, { stdio: 'ignore', env })
  quietly(['update', '-qq'])
  for (const name of ['chromium-headless-shell', 'chromium'])
    if (name !== 'chromium' || findChromium() === undefined)
      quietly(['install', '-y', '-qq', '--no-install-recommends', name, 'fonts-liberation'])
}

function main(): number {
  const files = globSync('test/browser/**/*.test.ts')
  if (files.length === 0) return couldNotRun('there is no file test/browser/**/*.test.ts')
  const isCheap = process.env.WITAN_CHROMIUM !== undefined || existsSync(shell)
  if (findChromium() === undefined || (process.env.CI !== undefined && !isCheap)) installChromium()
  const chromium = findChromium()
  if (chromium === undefined) return couldNotRun('no Chromium; install one or set WITAN_CHROMIUM to its path')
  const env = { ...process.env, WITAN_CHROMIUM: chromium }
  // One process and one browser for all. Two files at once made tests fail that look at what a page shows for a moment.
  const words = ['--test', '--test-isolation=none', '--test-force-exit', '--test-timeout=300000', ...files.sort()]
  return spawnSync(process.execPath, words, { stdio: 'inherit', env }).status ?? 1
}

function couldNotRun(reason: string): number {
  console.error(`browser tests: COULD NOT RUN: ${reason}`)
  return 3
}

process.exitCode = main()
