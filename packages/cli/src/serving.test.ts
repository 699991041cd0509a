/** `witan dev` and `witan serve` as programs, started from source without any flag of Node. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { witan } from './testing/witan.ts'

const program = fileURLToPath(new URL('../bin/witan.js', import.meta.url))
/** A start takes a second where nothing else is to do, and many times that on a machine that is busy. */
const withinMs = 100_000

interface Running {
  readonly child: ChildProcess
  /** Waits until what was written since the last match fits, and gives the first group of the match. */
  until(pattern: RegExp): Promise<string>
  stop(): Promise<number | null>
}

function start(folder: string, ...words: string[]): Running {
  const { NODE_OPTIONS: _options, ...env } = process.env
  const child = spawn(process.execPath, [program, ...words], {
    cwd: folder,
    env: { ...env, WITAN_PORT: '0', WITAN_LOG_LEVEL: 'error', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let written = ''
  let wake = () => {}
  const take = (data: Buffer) => {
    written += String(data)
    wake()
  }
  child.stdout.on('data', take)
  child.stderr.on('data', take)
  const until = async (pattern: RegExp): Promise<string> => {
    const timer = setTimeout(() => child.kill('SIGKILL'), withinMs)
    try {
      for (;;) {
        const found = pattern.exec(written)
        if (found) {
          written = written.slice(found.index + found[0].length)
          return found[1] ?? ''
        }
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`ended without ${pattern}:\n${written}`)
        const changed = Promise.withResolvers<void>()
        wake = changed.resolve
        await Promise.race([changed.promise, once(child, 'exit')])
      }
    } finally {
      clearTimeout(timer)
    }
  }
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    const gone = once(child, 'exit')
    child.kill('SIGTERM')
    await gone
    return child.exitCode
  }
  return { child, until, stop }
}

describe('a program that serves', () => {
  let folder: string
  const running: Running[] = []
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'witan-dev-'))
    const config =
      "import { agent } from './agent.ts'\nexport default { store: { url: 'memory:' }, auth: { mode: 'none' }, connections: { play: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' } }, agents: [agent] }\n"
    await writeFile(join(folder, 'witan.config.ts'), config)
    await describeAgent('One.')
  })
  after(async () => {
    await Promise.all(running.map((one) => one.stop()))
    await rm(folder, { recursive: true })
  })

  function describeAgent(description: string): Promise<void> {
    return writeAgent(`{ id: 'desk', model: 'play/m', instructions: 'Help.', description: '${description}' }`)
  }

  /** Puts the whole file in its place at once: nobody reads half of it. */
  async function writeAgent(text: string): Promise<void> {
    await writeFile(join(folder, 'next.ts'), `export const agent = ${text}\n`)
    await rename(join(folder, 'next.ts'), join(folder, 'agent.ts'))
  }

  async function description(url: string): Promise<string> {
    const reply = await fetch(`${url}/agents/desk`)
    return ((await reply.json()) as { description: string }).description
  }

  test('serve says in one line of JSON that it is ready, and stops in order', async () => {
    const server = start(folder, 'serve')
    running.push(server)
    const line = await server.until(/^(\{.*\})\n/m)
    const { type, url } = JSON.parse(line) as { type: string; url: string }
    assert.equal(type, 'ready')
    assert.equal((await fetch(`${url}/readyz`)).status, 200)
    assert.equal(await server.stop(), 0)
  })

  test('dev takes up a change in a file that the configuration imports, and keeps its port', async () => {
    const server = start(folder, 'dev')
    running.push(server)
    const url = await server.until(/API +(http\S+)\n/)
    assert.equal(await description(url), 'One.')
    await describeAgent('Two.')
    await server.until(/(changed: taken up)/)
    assert.equal(await description(url), 'Two.')
    await writeAgent('{')
    await server.until(/CONFIG_INVALID.*(agent\.ts).*\n.*\n.*before it goes on/)
    assert.equal(await description(url), 'Two.')
    await describeAgent('Three.')
    await server.until(/↻ (The configuration changed: taken up)/)
    assert.equal(await description(url), 'Three.')
    assert.equal(await server.stop(), 0)
  })

  test('a command finds the server that holds the store, with its token, and says so where it may not have it', async () => {
    const inside = await mkdtemp(join(folder, 'store-'))
    const config = {
      store: { url: 'file:./data/witan.db' },
      agents: [{ id: 'clerk', model: 'play/m', instructions: 'Help.' }],
    }
    const connections = { play: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' } }
    await writeFile(join(inside, 'witan.config.json'), JSON.stringify({ ...config, connections }))
    const server = start(inside, 'serve')
    running.push(server)
    const { url } = JSON.parse(await server.until(/^(\{.*\})\n/m)) as { url: string }
    assert.equal((await fetch(`${url}/api/v1/agents`)).status, 401)
    assert.match((await witan(['agents', 'list'], { folder: inside })).out, /clerk +play\/m/)
    const refused = await witan(['agents', 'list', '--url', url])
    assert.deepEqual([refused.code, refused.err.startsWith('UNAUTHENTICATED')], [2, true])
    const second = start(inside, 'serve')
    running.push(second)
    await second.until(/(STORE_LOCKED)/)
    await once(second.child, 'close')
    assert.equal(second.child.exitCode, 78)
    assert.equal(await server.stop(), 0)
    assert.match((await witan(['agents', 'list'], { folder: inside })).out, /clerk +play\/m/)
  })
})
