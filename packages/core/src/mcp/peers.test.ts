/** MCP servers as others publish them. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { freePort } from '../../../../test/support/free-port.ts'
import { startPeer, textOf, withServers } from './testing/opened.ts'
import { httpServer, nodeServer, sessionOf, settingsOf } from './testing/settings.ts'

const peers = 'node_modules/@modelcontextprotocol'
const signal = new AbortController().signal

describe('a published server', { concurrency: 4 }, () => {
  it('server-everything on stdio', async () => {
    const every = settingsOf('every', nodeServer(`${peers}/server-everything/dist/index.js`, ['stdio']))
    await withServers([every], async ({ servers, call }) => {
      const [list, again] = await Promise.all([1, 2].map(() => servers.list(sessionOf('every'), signal)))
      assert.ok(list !== undefined && !('kind' in list))
      assert.equal(list, again)
      assert.ok(list.tools.length >= 10)
      assert.equal(textOf(await call('every', 'echo', { arguments: { message: 'hi' } })), 'Echo: hi')
      const image = await call('every', 'get-tiny-image')
      assert.ok(image.kind === 'result' && image.content.some(({ type }) => type === 'image'))
      const wrong = await call('every', 'no-such-tool')
      assert.ok(wrong.kind === 'failed' || (wrong.kind === 'result' && wrong.isError))
      let seen = 0
      const args = { duration: 0.5, steps: 4 }
      await call('every', 'trigger-long-running-operation', { arguments: args, onProgress: () => (seen += 1) })
      assert.ok(seen >= 3, String(seen))
      const begun = performance.now()
      const rounds = 200
      for (let round = 0; round < rounds; round++) await call('every', 'echo', { arguments: { message: 'x' } })
      console.log(`# one call over stdio: ${((performance.now() - begun) / rounds).toFixed(2)} ms`)
    })
  })
  it('server-everything over HTTP', async () => {
    const port = await freePort()
    const file = `${peers}/server-everything/dist/index.js`
    const peer = await startPeer(file, { args: ['streamableHttp'], env: { PORT: String(port) }, port })
    await withServers([settingsOf('every', httpServer(`${peer.url}/mcp`))], async ({ servers, call }) => {
      const list = await servers.list(sessionOf('every'), signal)
      assert.ok(!('kind' in list), JSON.stringify(list))
      let seen = 0
      const args = { duration: 0.5, steps: 4 }
      await call('every', 'trigger-long-running-operation', { arguments: args, onProgress: () => (seen += 1) })
      assert.ok(seen >= 3, String(seen))
      assert.equal(textOf(await call('every', 'echo', { arguments: { message: 'hi' } })), 'Echo: hi')
    })
    await peer.close()
  })
  it('server-filesystem, and its folder as a root', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'witan-mcp-files-'))
    writeFileSync(join(folder, 'a.txt'), 'hello')
    const files = settingsOf('files', nodeServer(`${peers}/server-filesystem/dist/index.js`, []), { roots: [folder] })
    await withServers([files], async ({ call }) => {
      const read = () => call('files', 'read_text_file', { arguments: { path: join(folder, 'a.txt') } })
      // It asks for the folders after it was greeted.
      let text = ''
      for (let round = 0; round < 100 && text !== 'hello'; round++) text = textOf(await read())
      assert.equal(text, 'hello')
    })
    rmSync(folder, { recursive: true })
  })
  it('server-memory', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'witan-mcp-memory-'))
    const env = { MEMORY_FILE_PATH: join(folder, 'memory.json') }
    await withServers(
      [settingsOf('memory', nodeServer(`${peers}/server-memory/dist/index.js`, [], env))],
      async ({ call }) => {
        const entities = [{ name: 'Ann', entityType: 'person', observations: ['tall'] }]
        await call('memory', 'create_entities', { arguments: { entities } })
        const graph = await call('memory', 'read_graph')
        assert.match(JSON.stringify(graph), /tall/)
      },
    )
    rmSync(folder, { recursive: true })
  })
})
