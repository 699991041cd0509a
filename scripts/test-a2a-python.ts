/**
 * Runs test/a2a-python with the official Python SDK of A2A from PyPI, which is installed once into `node_modules/.cache`. Where it cannot be
 * installed the script says so and exits 3, which means "did not run" and not "passed".
 */
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { venvOf } from './venv.ts'

const packages = ['a2a-sdk[http-server,signing]==1.3.0']

function main(): number {
  const venv = venvOf({ name: 'witan-a2a', packages, withinMs: 180_000 })
  if (venv instanceof Error) {
    console.error(`A2A in Python: COULD NOT RUN: ${venv.message}`)
    return 3
  }
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const words = ['--conditions=witan-source', '--no-warnings', '--test', '--test-timeout=120000']
  const ended = spawnSync(process.execPath, [...words, ...globSync('test/a2a-python/*.test.ts')], {
    stdio: 'inherit',
    env: { ...env, WITAN_A2A_PYTHON: venv.python },
  })
  return ended.status ?? 1
}

process.exitCode = main()
