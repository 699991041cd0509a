/**
 * Runs test/pgbouncer with the PgBouncer of this machine. As root on Debian it installs one when there is none. Where it cannot get one it
 * says so and exits 3, which means "did not run" and not "passed".
 */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'

const known = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer', '/opt/homebrew/bin/pgbouncer']

function findPgbouncer(): string | undefined {
  return [process.env.WITAN_PGBOUNCER ?? '', ...known].find((path) => path !== '' && existsSync(path))
}

function installPgbouncer(): void {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return
  console.log('PgBouncer: installing pgbouncer with apt-get')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const words of [
    ['update', '-qq'],
    ['install', '-y', '-qq', '--no-install-recommends', 'pgbouncer'],
  ])
    spawnSync('apt-get', words, { stdio: 'ignore', env })
}

function main(): number {
  if (findPgbouncer() === undefined) installPgbouncer()
  const pgbouncer = findPgbouncer()
  if (pgbouncer === undefined) {
    console.error('PgBouncer: COULD NOT RUN: there is no pgbouncer; install one or set WITAN_PGBOUNCER to its path')
    return 3
  }
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const words = ['--conditions=witan-source', '--no-warnings', '--test', '--test-isolation=none', '--test-force-exit']
  const files = globSync('test/pgbouncer/*.test.ts').sort()
  return (
    spawnSync(process.execPath, [...words, '--test-timeout=120000', ...files], {
      stdio: 'inherit',
      env: { ...env, WITAN_PGBOUNCER: pgbouncer },
    }).status ?? 1
  )
}

process.exitCode = main()
