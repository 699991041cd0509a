/** `witan dev` and `witan serve` as programs, started from source without any flag of Node. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { testServer } from '../../../test/postgres/support/server.ts'
import { type Running, start, startWith } from './testing/program.ts'
import { witan } from './testing/witan.ts'

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

  for (const [command, line] of Object.entries({ serve: '"ready"', dev: 'Ctrl+C stops', work: 'witan works on' }))
    test(`a signal that comes with the first line of ${command} ends it in order`, async () => {
      // A process without a handler is ended by the signal before kill returns.
      const stopping = `const write = process.stdout.write
process.stdout.write = function (text, ...more) {
  const is = write.call(this, text, ...more)
  if (String(text).includes('${line}')) process.kill(process.pid, 'SIGTERM')
  return is
}`
      const store = command === 'work' ? { WITAN_STORE_URL: await testServer() } : {}
      const options = `--import=data:text/javascript,${encodeURIComponent(stopping)}`
      const program = startWith({ ...store, WITAN_PORT: '0', NODE_OPTIONS: options }, folder, command)
      running.push(program)
      await once(program.child, 'close')
      assert.deepEqual([program.child.exitCode, program.child.signalCode], [0, null])
    })

  for (const command of ['serve', 'dev'])
    test(`a second ${command} on a taken port says who listens there and what to do`, async () => {
      const server = start(folder, 'serve')
      running.push(server)
      const { url } = JSON.parse(await server.until(/^(\{.*\})\n/m)) as { url: string }
      const { port } = new URL(url)
      const second = start(folder, command, '--port', port)
      running.push(second)
      const said = await second.until(/(Port \d+ of 127\.0\.0\.1 is in use\. .*\n→ .*)\n/)
      assert.ok(said.startsWith(`Port ${port} `), said)
      assert.match(said, new RegExp(`A Witan server listens at ${url} already\\.\n→ Open ${url}, .*--port 0`))
      await once(second.child, 'close')
      assert.equal(second.child.exitCode, 78)
      await server.stop()
    })

  test('an error says that another program has the port', async () => {
    const other = createServer((_, answer) => answer.end('hello')).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const second = start(folder, 'serve', '--port', String(port))
    running.push(second)
    await second.until(/(Another program has it\.\n→ Stop that program, or start this one on another port: --port 0)/)
    await once(second.child, 'close')
    other.close()
  })

  test('--port goes before the environment and the configuration, and is a port', async () => {
    for (const command of ['serve', 'dev'])
      for (const port of ['65536', 'x', '-1'])
        assert.deepEqual(await witan([command, `--port=${port}`]), {
          code: 2,
          out: '',
          err: `USAGE  --port "${port}" is not a whole number from 0 to 65535.\n→ Write --port 4848.\n`,
        })
    const config = { store: { url: 'memory:' }, auth: { mode: 'none' }, server: { port: 1 } }
    await writeFile(join(folder, 'port.json'), JSON.stringify(config))
    const words = ['serve', '--port', '0', '--config', 'port.json']
    const server = startWith({ WITAN_PORT: '2' }, folder, ...words)
    running.push(server)
    const { url } = JSON.parse(await server.until(/^(\{.*\})\n/m)) as { url: string }
    assert.ok(Number(new URL(url).port) > 2)
    await server.stop()
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
    assert.equal(await second.until(/STORE_LOCKED.* serves at (http\S+)\.\n→ .*--port 0/), url)
    await once(second.child, 'close')
    assert.equal(second.child.exitCode, 78)
    assert.equal(await server.stop(), 0)
    assert.match((await witan(['agents', 'list'], { folder: inside })).out, /clerk +play\/m/)
  })
})
