/**
 * Runs test/prometheus with the parser of Prometheus from PyPI, which is installed once into `node_modules/.cache`. Where it cannot be
 * installed the script says so and exits 3, which means "did not run" and not "passed".
 */
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { venvOf } from './venv.ts'

const packages = ['prometheus_client==0.26.0']

function main(): number {
  const venv = venvOf({ name: 'witan-prometheus', packages, withinMs: 120_000 })
  if (venv instanceof Error) {
    console.error(`Prometheus: COULD NOT RUN: ${venv.message}`)
    return 3
  }
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const words = ['--conditions=witan-source', '--no-warnings', '--test', '--test-timeout=120000']
  const ended = spawnSync(process.execPath, [...words, ...globSync('test/prometheus/*.test.ts')], {
    stdio: 'inherit',
    env: { ...env, WITAN_PROMETHEUS_PYTHON: venv.python },
  })
  return ended.status ?? 1
}

process.exitCode = main()
