/** A whole server on a real socket: started from a configuration, found by its store, stopped in order. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { scriptedModel } from '@witan/core/testing'
import { isWitanError } from '@witan/protocol'
import { type Config, loadConfig } from './config.ts'
import { parseConfig } from './config-schema.ts'
import { startServer } from './serve.ts'
import { findServer } from './server-file.ts'
import { readFrames } from './testing/stage.ts'

const agents = [{ id: 'echo', model: 'play/model', instructions: 'x' }]

describe('a server', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'witan-server-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  async function configure(more: object): Promise<Config> {
    const loaded = await loadConfig({ cwd: folder, env: { WITAN_LOG_LEVEL: 'silent' } })
    const models = { 'play/model': scriptedModel(() => ({ deltas: ['he', 'llo'] })) }
    return { ...loaded, ...parseConfig({ server: { port: 0 }, store: { url: 'memory:' }, models, agents, ...more }) }
  }

  test('in memory, with a token: listens, answers, streams, and ends', async () => {
    const server = await startServer(await configure({}))
    const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
    const post = (path: string, body: object, more: object = {}) =>
      fetch(`${server.url}/api/v1${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { ...headers, ...more },
      })
    assert.equal((await fetch(`${server.url}/readyz`)).status, 200)
    assert.equal((await fetch(`${server.url}/api/v1/agents`)).status, 401)
    const page = await fetch(server.pageUrl, { redirect: 'manual' })
    assert.deepEqual([page.status, page.headers.get('location')], [303, '/'])
    const started = JSON.parse(await (await post('/conversations', { agent: 'echo' })).text())
    const path = `/conversations/${String(started.id).replace('/', ':')}`
    const frames = await readFrames(await post(`${path}/runs`, { prompt: 'hi' }, { accept: 'text/event-stream' }))
    assert.equal(JSON.parse(frames.at(-1)?.data ?? '').text, 'hello')
    const open = readFrames(await fetch(`${server.url}/api/v1${path}/events`, { headers }))
    await Promise.all([server.close(), server.close()])
    assert.ok((await open).length > 0, 'a stream is ended, not broken')
    await assert.rejects(fetch(`${server.url}/healthz`))
  })

  test('a public address and a taken port are refused, and nothing stays open', async () => {
    const isRefused = (word: string) => (error: unknown) =>
      isWitanError(error) && error.code === 'CONFIG_INVALID' && error.message.includes(word)
    for (const mode of ['none', 'local']) {
      const config = await configure({ server: { host: '0.0.0.0', port: 0 }, auth: { mode } })
      await assert.rejects(startServer(config), isRefused('0.0.0.0'))
    }
    await assert.rejects(startServer(await configure({ auth: { mode: 'keys' } })), isRefused('a store that lasts'))
    const first = await startServer(await configure({ auth: { mode: 'none' } }))
    await assert.rejects(
      startServer(await configure({ server: { port: first.port } })),
      isRefused(`Port ${first.port}`),
    )
    await first.close()
    await assert.rejects(startServer(await configure({ agents: [{ ...agents[0], model: 'none/x' }] })), /none\/x/)
  })

  test('with keys it may listen on a public address, says so if no name of it is listed, and leaves no token', async () => {
    const file = join(folder, 'keyed', 'witan.db')
    const config = await configure({ server: { host: '0.0.0.0', port: 0 }, auth: { mode: 'keys' } })
    const written: string[] = []
    const { write } = process.stderr
    process.stderr.write = ((text: string) => written.push(text) > 0) as typeof write
    const server = await startServer({ ...config, logLevel: 'warn', store: { url: `file:${file}` } }).finally(() => {
      process.stderr.write = write
    })
    try {
      assert.match(written.join(''), /no API key yet.*witan keys create.*\n.*server\.allowedHosts/)
      assert.deepEqual([server.token, server.pageUrl], [null, `${server.url}/`])
      await assert.rejects(stat(`${file}.token`))
      assert.deepEqual(await findServer(file), { url: `http://127.0.0.1:${server.port}`, token: null })
      const asked = await fetch(`${server.url}/api/v1/principal`)
      assert.deepEqual([asked.status, asked.headers.get('www-authenticate')], [401, 'Bearer realm="keys"'])
    } finally {
      await server.close()
    }
  })

  test('beside a file it says where it is, to this user only, and takes that back', async () => {
    const file = join(folder, 'data', 'witan.db')
    const config = await configure({})
    const server = await startServer({ ...config, store: { url: `file:${file}` } })
    for (const name of [`${file}.server.json`, `${file}.token`])
      assert.equal((await stat(name)).mode & 0o777, 0o600, name)
    assert.equal((await readFile(`${file}.token`, 'utf8')).trim(), server.token)
    assert.deepEqual(await findServer(file), { url: server.url, token: server.token })
    const second = startServer({ ...config, store: { url: `file:${file}` } })
    await assert.rejects(second, (error) => isWitanError(error) && error.code === 'STORE_LOCKED')
    assert.deepEqual(await findServer(file), { url: server.url, token: server.token }, 'the second one changed nothing')
    await server.close()
    assert.equal(await findServer(file), null)
    await assert.rejects(stat(`${file}.server.json`))
    await writeFile(`${file}.server.json`, JSON.stringify({ url: server.url, tokenFile: null }))
    assert.equal(await findServer(file), null, 'a stale one is harmless')
    const again = await startServer({ ...config, store: { url: `file:${file}` } })
    assert.equal((await findServer(file))?.url, again.url)
    await again.close()
  })
})
