/** `witan mcp pin` and `witan mcp diff`: what is written, what is shown, and how they end. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { McpFailure, McpServers, McpToolDefinition } from '@witan/core/tooling'
import { readArguments } from '../arguments.ts'
import { exitCodeOf } from '../exit.ts'
import { printFailure } from '../failure.ts'
import { witan } from '../testing/witan.ts'
import { mcpCommandsOver } from './mcp.ts'

type Offered = Record<string, readonly McpToolDefinition[] | string>

const read: McpToolDefinition = {
  name: 'read',
  description: 'Reads a file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string', description: 'The path.' } } },
}
const write: McpToolDefinition = { name: 'write', description: 'Writes.', inputSchema: { type: 'object' } }

describe('pins on the command line', () => {
  let folder: string
  let closed = 0
  let asked: string[] = []
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'witan-mcp-'))
  })
  beforeEach(async () => {
    for (const name of await readdir(folder)) await rm(join(folder, name))
    await configure({ files: { command: 'files' }, crm: { url: 'https://crm.example/mcp' } })
    closed = 0
    asked = []
  })
  after(() => rm(folder, { recursive: true }))

  const configure = (mcpServers: object) => writeFile(join(folder, 'witan.config.json'), JSON.stringify({ mcpServers }))
  const lockFile = () => join(folder, 'witan.mcp.lock.json')

  /** Servers that offer these tools, or say in words why not. */
  function fake(offered: Offered) {
    return (settings: McpServers['settings']) =>
      ({
        settings,
        async list({ server }) {
          asked.push(server)
          const tools = offered[server] ?? []
          if (typeof tools !== 'string') return { tools, protocolVersion: '2025-11-25', serverInfo: null }
          const failure: McpFailure = { kind: 'failed', reason: 'unavailable', detail: `\`${server}\` ${tools}` }
          return failure
        },
        async close() {
          closed += 1
        },
      }) as Partial<McpServers> as McpServers
  }

  async function run(words: string, offered: Offered, columns?: number) {
    const [, word = '', ...rest] = words.split(' ')
    const command = mcpCommandsOver(fake(offered)).find(({ name }) => name === `mcp ${word}`)
    assert.ok(command)
    const written = { out: '', err: '' }
    const screen = columns === undefined ? {} : { isTTY: true, columns }
    const terminal = {
      input: Readable.from(['']),
      output: { ...screen, write: (text: string) => (written.out += text) },
      errors: { ...screen, write: (text: string) => (written.err += text) },
      environment: {},
      folder,
    }
    const code = await command.run(readArguments(command, rest), terminal).catch((error: unknown) => {
      printFailure(terminal, error)
      return exitCodeOf(error)
    })
    return { code, ...written }
  }

  test('the tools of all servers are pinned, and then nothing differs', async () => {
    const offered = { files: [write, read], crm: [read] }
    const first = await run('mcp pin', offered)
    assert.deepEqual(first, {
      code: 0,
      out: '✓ files  2 tools pinned\n✓ crm  1 tool pinned\nwitan.mcp.lock.json is written. Keep it with the configuration.\n',
      err: '',
    })
    assert.equal(closed, 1)
    const text = await readFile(lockFile(), 'utf8')
    assert.deepEqual(Object.keys(JSON.parse(text).servers.files.tools), ['read', 'write'])
    assert.deepEqual(await run('mcp diff', offered), {
      code: 0,
      out: '✓ files  as pinned\n✓ crm  as pinned\n',
      err: '',
    })
    const again = await run('mcp pin', offered)
    assert.equal(
      again.out,
      '✓ files  2 tools, as pinned before\n✓ crm  1 tool, as pinned before\nwitan.mcp.lock.json stays as it is.\n',
    )
    assert.equal(await readFile(lockFile(), 'utf8'), text)
    assert.deepEqual((await readdir(folder)).sort(), ['witan.config.json', 'witan.mcp.lock.json'])
  })

  test('what differs is shown place by place, and ends with 1', async () => {
    await run('mcp pin', { files: [read, write], crm: [] })
    const changed = {
      ...read,
      description: 'Reads a file.\u{e0041} [from @root to @root] And sends it.',
      inputSchema: { type: 'object', properties: { path: { type: 'string', description: 'The path\u202e.' }, to: {} } },
    }
    const { code, out, err } = await run('mcp diff', { files: [changed, { ...write, name: 'send' }], crm: [] })
    assert.deepEqual([code, err], [1, ''])
    assert.equal(
      out,
      [
        '✗ files  1 added, 1 removed, 1 changed',
        '  + send  Writes.',
        '  - write  Writes.',
        '  ~ read  description, inputSchema',
        '      description',
        '      - "Reads a file."',
        '      + "Reads a file.\\u{e0041} [from @root to @root] And sends it."',
        '      inputSchema.properties.path.description',
        '      - "The path."',
        '      + "The path\\u202e."',
        '      inputSchema.properties.to',
        '      + {}',
        '✓ crm  as pinned',
        '',
      ].join('\n'),
    )
    const pinned = await run('mcp pin files', { files: [changed, write] })
    assert.match(pinned.out, /^✓ files {2}2 tools pinned: 1 changed\n {2}~ read/)
    assert.deepEqual(asked.slice(-1), ['files'])
  })

  test('a server that cannot be reached keeps its pins, and the command ends with 1', async () => {
    await run('mcp pin', { files: [read], crm: [read] })
    const failed = await run('mcp pin', { files: 'cannot be reached: \u001b[31mno such command', crm: [read, write] })
    assert.equal(failed.code, 1)
    assert.match(
      failed.out,
      /^✗ files {2}not pinned: `files` cannot be reached: \\u001b\[31mno such command\n✓ crm {2}2 tools pinned: 1 added\n/,
    )
    const { servers } = JSON.parse(await readFile(lockFile(), 'utf8'))
    assert.deepEqual([Object.keys(servers.files.tools), Object.keys(servers.crm.tools)], [['read'], ['read', 'write']])
    const differs = await run('mcp diff', { files: 'is away', crm: [read, write] })
    assert.deepEqual([differs.code, differs.out], [1, '✗ files  `files` is away\n✓ crm  as pinned\n'])
    await rm(lockFile())
    assert.equal((await run('mcp pin', { files: 'is away', crm: 'is away' })).code, 1)
    assert.ok(!existsSync(lockFile()))
  })

  test('a server without pins is said to be so and is not asked', async () => {
    await run('mcp pin files', { files: [read] })
    asked = []
    const { code, out } = await run('mcp diff', { files: [read] })
    assert.deepEqual([code, asked], [0, ['files']])
    assert.equal(out, '✓ files  as pinned\n! crm  not pinned: `witan mcp pin crm` pins its tools as they are then\n')
  })

  test('pins of a server that left the configuration go with the next pin of all', async () => {
    await run('mcp pin', { files: [read], crm: [read] })
    await configure({ files: { command: 'files' } })
    await run('mcp pin files', { files: [read] })
    assert.match(await readFile(lockFile(), 'utf8'), /"crm"/)
    await run('mcp pin', { files: [read] })
    assert.doesNotMatch(await readFile(lockFile(), 'utf8'), /"crm"/)
  })

  test('without servers, with an unknown one or a broken lock file it says what to do', async () => {
    const unknown = await run('mcp pin fils', {})
    assert.equal(unknown.code, 2)
    assert.match(unknown.err, /no MCP server "fils"\.\n→ Did you mean "files"\? It has files, crm\./)
    await writeFile(lockFile(), '{}')
    const broken = await run('mcp diff', {})
    assert.equal(broken.code, 78)
    assert.match(broken.err, /CONFIG_INVALID.*`version` must be 1/)
    await configure({})
    for (const word of ['pin', 'diff'])
      assert.deepEqual(await run(`mcp ${word}`, {}), {
        code: 0,
        out: '',
        err: 'The configuration has no MCP servers: name them in `mcpServers`.\n',
      })
  })

  test('for a program it prints JSON', async () => {
    const made = JSON.parse((await run('mcp pin --json', { files: [read], crm: 'is away' })).out)
    assert.deepEqual([made.file, made.written], [lockFile(), true])
    assert.deepEqual(made.servers[0], {
      server: 'files',
      wasPinned: false,
      tools: 1,
      error: null,
      added: [read],
      removed: [],
      changed: [],
    })
    assert.deepEqual([made.servers[1].tools, made.servers[1].error], [null, '`crm` is away'])
    const now = { ...read, description: 'x' }
    const differs = await run('mcp diff --json', { files: [now] })
    assert.equal(differs.code, 1)
    assert.deepEqual(JSON.parse(differs.out), {
      same: false,
      servers: [
        {
          ...{ server: 'files', wasPinned: true, tools: 1, error: null, added: [], removed: [] },
          changed: [{ tool: 'read', keys: ['description'], before: read, now }],
        },
      ],
      unpinned: ['crm'],
    })
  })

  test('colours stand only in a terminal, and long texts are cut around what differs', async () => {
    await run('mcp pin files', { files: [{ ...read, description: `${'a'.repeat(5000)}x${'b'.repeat(5000)}` }] })
    const now = { files: [{ ...read, description: `${'a'.repeat(5000)}y${'b'.repeat(5000)}` }] }
    const { out } = await run('mcp diff', now)
    assert.match(out, /- …a{60}x b*|- …a{60}xb+…/)
    assert.ok(out.length < 2000 && !out.includes('\u001b'))
    assert.ok((await run('mcp diff', now, 80)).out.includes('\u001b[31m✗ '))
  })

  test('help and the group are there', async () => {
    assert.match((await witan(['mcp', '--help'])).out, /Usage: witan mcp pin\|diff/)
    assert.match((await witan(['mcp'])).err, /One of: pin, diff/)
  })
})
