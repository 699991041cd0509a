/** Prices of a connection, from the configuration to the usage of a run: what the provider counted is what it cost. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from './config.ts'
import { createLog } from './log.ts'
import { openRuntime, runtimeOptions } from './open-runtime.ts'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

const usage = {
  prompt_tokens: 1000,
  completion_tokens: 100,
  total_tokens: 1100,
  prompt_tokens_details: { cached_tokens: 400 },
}

test('[Rb56] the prices of a connection make the cost of a run, model by model', async () => {
  const provider = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const choices = [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }]
    response.end(JSON.stringify({ id: 'x', object: 'chat.completion', created: 1, model: 'm', choices, usage }))
  }).listen(0, '127.0.0.1')
  await once(provider, 'listening')
  const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`
  const folder = await mkdtemp(join(tmpdir(), 'witan-prices-'))
  const file = join(folder, 'witan.config.json')
  const agent = (id: string, model: string, limits = {}) => ({ id, model, instructions: 'Say ok.', limits })
  const prices = { dear: { inputPerMillion: 10, outputPerMillion: 30, cachedInputPerMillion: 1 } }
  const config = {
    store: { url: 'memory:' },
    connections: { local: { kind: 'openai-compatible', baseUrl, prices } },
    agents: [agent('dear', 'local/dear', { maxCostUsd: 1 }), agent('odd', 'local/odd', { maxCostUsd: 1 })],
  }
  await writeFile(file, JSON.stringify(config))
  const runtime = await openRuntime(await loadConfig({ file, env: {} }), createLog('error'))
  const ask = async (id: string) => (await runtime.conversation(id).run('hi')).usage.costUsd
  assert.equal(await ask('dear'), (600 * 10 + 400 * 1 + 100 * 30) / 1_000_000)
  assert.equal(await ask('odd'), null)
  assert.deepEqual((await runtime.agents.get('dear')).warnings, [])
  assert.deepEqual(
    (await runtime.agents.get('odd')).warnings.map(({ code }) => code),
    ['PRICE_UNKNOWN'],
  )
  await runtime.close()
  for (const [wrong, path] of [
    [{ dear: { inputPerMillion: 10 } }, 'connections.local.prices.dear.outputPerMillion'],
    [{ dear: { inputPerMillion: -1, outputPerMillion: 1 } }, 'connections.local.prices.dear.inputPerMillion'],
    [{ dear: { inputPerMilion: 1, outputPerMillion: 1 } }, 'connections.local.prices.dear'],
    [{ dear: { ...prices.dear, cacheWritePerMillion: '1' } }, 'connections.local.prices.dear.cacheWritePerMillion'],
    [{ dear: { ...prices.dear, longInput: { moreThan: 0, price: null } } }, 'connections.local.prices.dear.longInput'],
  ] as const) {
    const connections = { local: { kind: 'openai-compatible', baseUrl, prices: wrong } }
    await writeFile(file, JSON.stringify({ ...config, connections }))
    await assert.rejects(loadConfig({ file, env: {} }), (error: { path?: string }) => {
      assert.ok(error.path?.startsWith(path), `${error.path}`)
      return true
    })
  }
  await rm(folder, { recursive: true })
  provider.close()
})

test('[Rb56] the table of prices is replaced or switched off by the configuration', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'witan-prices-'))
  const file = join(folder, 'witan.config.json')
  const read = async (prices: unknown) => {
    await writeFile(file, JSON.stringify({ store: { url: 'memory:' }, prices }))
    return runtimeOptions(await loadConfig({ file, env: {} }), createLog('error')).prices
  }
  const models = { big: { inputPerMillion: 1, outputPerMillion: 2, longInput: { moreThan: 9, price: null } } }
  assert.deepEqual(await read({ openai: { date: '2026-11-01', models } }), { openai: { date: '2026-11-01', models } })
  assert.equal(await read(false), null)
  assert.equal(await read(undefined), undefined)
  for (const wrong of [true, 'prices.json', { openai: { date: 'now', models } }, { openai: { date: '2026-11-01' } }])
    await assert.rejects(read(wrong), (error: { path?: string }) => error.path?.startsWith('prices') === true)
  await rm(folder, { recursive: true })
})
