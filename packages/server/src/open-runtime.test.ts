/** A runtime from a configuration whose store is a PostgreSQL server. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { freshSchema } from '../../../test/postgres/support/stores.ts'
import { loadConfig } from './config.ts'
import { openRuntime } from './open-runtime.ts'

const cwd = import.meta.dirname

test('a store on PostgreSQL is opened from the environment, in the schema of the configuration', async (context) => {
  const { url, schema } = await freshSchema(context)
  const config = await loadConfig({ cwd, env: { WITAN_STORE_URL: url } })
  const runtime = await openRuntime({ ...config, store: { ...config.store, schema, poolSize: 4 } }, () => {})
  try {
    assert.deepEqual((await runtime.agents.list()).items, [])
  } finally {
    await runtime.close()
  }
})

test('a server that cannot be reached is told of, and its password nowhere', async () => {
  const env = { WITAN_STORE_URL: 'postgres://me:opensesame-4711@127.0.0.1:1/app' }
  const config = await loadConfig({ cwd, env })
  const logged: unknown[] = []
  const opening = openRuntime(config, (...line) => logged.push(line))
  await assert.rejects(opening, (error: { code?: string }) => {
    assert.equal(error.code, 'STORE_UNREACHABLE')
    assert.equal(inspect([error, logged], { depth: 20, showHidden: true }).includes('opensesame'), false)
    return true
  })
})
