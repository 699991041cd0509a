/**
 * Runs test/browser in a real Chromium. As root on Debian it installs one when there is none; where it cannot get one
 * it says so and exits 3, which means "did not run" and not "passed".
 */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'

const known = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/snap/bin/chromium']

function findChromium(): string | undefined {
  return [process.env.WITAN_CHROMIUM ?? '', ...known].find((path) => path !== '' && existsSync(path))
}

function installChromium(): void {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return
  console.log('browser tests: installing chromium with apt-get')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const quietly = (args: string[]) => spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], env })
  quietly(['update', '-qq'])
  quietly(['install', '-y', '-qq', '--no-install-recommends', 'chromium', 'fonts-liberation'])
}

function main(): number {
  const files = globSync('test/browser/**/*.test.ts')
  if (files.length === 0) return couldNotRun('there is no file test/browser/**/*.test.ts')
  if (findChromium() === undefined) installChromium()
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
