/** MCP servers in a configuration file, and the lock file beside it. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { lockOf, lockText } from '@witan/core/tooling'
import { isWitanError } from '@witan/protocol'
import { loadConfig } from './config.ts'
import { createLog } from './log.ts'
import { runtimeOptions } from './open-runtime.ts'

describe('MCP servers of a configuration', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'witan-mcp-config-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  async function load(config: object, lock: string | null = null, env: Record<string, string> = {}) {
    const file = join(folder, 'witan.config.json')
    await writeFile(file, JSON.stringify(config))
    await rm(join(folder, 'witan.mcp.lock.json'), { recursive: true, force: true })
    if (lock !== null) await writeFile(join(folder, 'witan.mcp.lock.json'), lock)
    return loadConfig({ file, env })
  }

  const files = { command: 'npx', args: ['-y', 'files'], cwd: 'data', roots: ['data', 'file:///x'] }
  const lock = lockOf(new Map([['files', { tools: [{ name: 'read', inputSchema: { type: 'object' } }] }]]))

  test('they are passed on with defaults, variables and absolute paths', async () => {
    const config = await load({ mcpServers: { files: { ...files, env: { TOKEN: `\${FILES_TOKEN}` } } } }, null, {
      FILES_TOKEN: 'x',
    })
    const settings = config.mcp.settings.get('files')
    assert.deepEqual(settings?.transport, {
      type: 'stdio',
      command: 'npx',
      args: ['-y', 'files'],
      cwd: join(folder, 'data'),
      env: { TOKEN: 'x' },
    })
    assert.deepEqual(settings.roots, [join(folder, 'data'), 'file:///x'])
    const options = runtimeOptions(config, createLog('error'))
    assert.deepEqual([options.mcpServers, options.mcpLock], [config.mcp.settings, null])
    assert.equal((await load({})).mcp.settings.size, 0)
  })

  test('a lock file beside it is read, but only where there are servers', async () => {
    assert.deepEqual((await load({ mcpServers: { files } }, lockText(lock))).mcp.lock, lock)
    assert.equal((await load({}, 'broken')).mcp.lock, null)
    assert.equal((await loadConfig({ cwd: tmpdir(), env: {} })).mcp.lock, null)
  })

  test('what is wrong names the file and the path, and no value', async () => {
    const table: readonly (readonly [config: object, lock: string | null, path: string | null, words: RegExp])[] = [
      [{ mcpServers: [] }, null, 'mcpServers', /must be an object/],
      [{ mcpServers: { files: { commands: 'x' } } }, null, 'mcpServers.files.commands', /not a known key/],
      [
        { mcpServers: { files: { command: 'x', env: { T: `hunter2\${NONE}` } } } },
        null,
        'mcpServers.files.env.T',
        /NONE/,
      ],
      [{ mcpServer: {} }, null, 'mcpServer', /nearest is `mcpServers`/],
      [{ mcpServers: { files } }, 'broken', null, /witan\.mcp\.lock\.json is not JSON/],
      [{ mcpServers: { files } }, '{"version":2}', 'version', /witan\.mcp\.lock\.json: `version` must be 1/],
      [
        { mcpServers: { files } },
        lockText(lock).replace('object', 'array'),
        'servers.files.tools.read.digest',
        /not the digest/,
      ],
    ]
    for (const [config, lock, path, words] of table)
      await assert.rejects(load(config, lock), (error) => {
        assert.ok(isWitanError(error) && ['CONFIG_INVALID', 'UNKNOWN_KEY'].includes(error.code), String(error))
        assert.equal(error.path, path)
        assert.match(error.message, words)
        assert.match(error.message, /witan\.config\.json/)
        return !error.message.includes('hunter2')
      })
  })
})
