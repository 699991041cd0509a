/** Every finding of a check through a save, in the library and over HTTP: an error refuses it with its code, a warning is stored. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { createRuntime, type Runtime } from '@witan/core'
import { lockOf, lockText, mcpLockFile } from '@witan/core/tooling'
import { errorTable, isWitanError } from '@witan/protocol'
import { warningCodes } from '@witan/protocol/schemas'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { readPage } from '../docs/pages.ts'
import { type FindingRow, findingRows } from './support/finding-rows.ts'

let folder: string
let runtime: Runtime
let server: WitanServer

const connections = { local: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' } } as const

const token = ['ghp', 'x1Y2z3A4b5C6d7E8f9G0h1I2j3K4l5M6n7O8'].join('_')
const mcpServers = {
  open: { command: 'none', env: { GITHUB_TOKEN: token } },
  kept: { command: 'none' },
}
const tool = (name: string, text = '') => ({
  name,
  inputSchema: { type: 'object', properties: { text: { type: 'string', description: text } } },
})
const tools = [
  tool('same a'),
  tool('same.a'),
  tool('big-1', 'words '.repeat(4_000)),
  tool('big-2', 'words '.repeat(4_000)),
]
const mcpLock = lockOf(new Map([['kept', { tools, protocolVersion: '', serverInfo: null }]]))

async function overHttp(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
  const reply = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await reply.text()
  return { status: reply.status, body: text === '' ? null : JSON.parse(text) }
}

interface StoredRow {
  readonly id?: string
  readonly name?: string
  readonly warnings: readonly { readonly code: string }[]
}
interface SavedRows {
  readonly agents: readonly StoredRow[]
  readonly protocols?: readonly StoredRow[]
}

type Definitions = Pick<FindingRow, 'agents' | 'protocols' | 'knowledge'>

/** One agent alone goes by PUT, everything else in one batch. */
async function saveOverHttp({ agents, protocols, knowledge }: Definitions) {
  const [only] = agents
  if (only === undefined || agents.length > 1 || protocols !== undefined || knowledge !== undefined)
    return overHttp('POST', '/agents/batch', {
      agents,
      ...(protocols && { protocols }),
      ...(knowledge && { knowledge }),
    })
  const { status, body } = await overHttp('PUT', `/agents/${encodeURIComponent(String(only['id']))}`, only)
  return { status, body: status < 300 ? { agents: [body] } : body }
}

async function clear(): Promise<void> {
  const { body } = await overHttp('GET', '/agents?limit=200')
  for (const { id } of (body as { items: readonly { id: string }[] }).items) {
    await overHttp('DELETE', `/agents/${id}?force=true`)
    await runtime.agents.delete(id, { force: true }).catch(() => undefined)
  }
  for (const name of ['stock']) {
    await overHttp('DELETE', `/protocols/${name}`)
    await runtime.protocols.delete(name).catch(() => undefined)
  }
  await overHttp('DELETE', '/knowledge/files')
  await runtime.knowledge.delete('files').catch(() => undefined)
}

/** The rows are plain JSON, as a body is. */
function save(definitions: Definitions) {
  return runtime.agents.saveTogether(definitions as unknown as Parameters<typeof runtime.agents.saveTogether>[0])
}

function codesOf({ agents, protocols = [] }: SavedRows): readonly string[] {
  return [...agents, ...protocols].flatMap(({ warnings }) => warnings.map(({ code }) => code))
}

describe('every finding of a check', () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'witan-findings-'))
    const file = join(folder, 'shop.db')
    const shop = new DatabaseSync(file)
    shop.exec('create table items (id integer, owner text)')
    shop.close()
    const gone = { kind: 'sqlite', file: join(folder, 'gone.db') } as const
    const sources = { shop: { kind: 'sqlite', file } as const, gone }
    const domains = { 'bots.example.com': 'default' }
    runtime = createRuntime({ connections, sources, domains, mcpServers, mcpLock })
    const config = {
      store: { url: 'memory:' },
      auth: { mode: 'none' },
      server: { port: 0, domain: 'bots.example.com' },
      connections,
      sources,
      mcpServers,
    }
    await writeFile(join(folder, mcpLockFile), lockText(mcpLock))
    await writeFile(join(folder, 'witan.config.json'), JSON.stringify(config))
    const env = { WITAN_LOG_LEVEL: 'silent' }
    server = await startServer(await loadConfig({ file: join(folder, 'witan.config.json'), env }))
  })
  after(async () => {
    await server.close()
    await runtime.close()
    await rm(folder, { recursive: true })
  })

  for (const row of findingRows) {
    test(`${row.severity} ${row.code}: ${row.title}`, async () => {
      await clear()
      const { first = [], agents, protocols, knowledge, code, severity } = row
      if (first.length > 0) {
        await save({ agents: first })
        assert.ok((await saveOverHttp({ agents: first })).status < 300)
      }

      const report = await runtime.agents.check(agents, protocols, knowledge)
      const found = severity === 'error' ? report.errors : report.warnings
      assert.ok(
        found.some((one) => one.code === code),
        JSON.stringify(report, null, 1),
      )

      const saved = await save({ agents, ...(protocols && { protocols }), ...(knowledge && { knowledge }) }).then(
        (all) => ({
          agents: all.agents.map(({ agent }) => agent),
          protocols: all.protocols.map((one) => one.protocol),
        }),
        (error: unknown) => error,
      )
      const reply = await saveOverHttp(row)
      if (severity === 'error') {
        assert.ok(isWitanError(saved), String(saved))
        assert.equal(saved.code, code)
        assert.deepEqual([reply.status, (reply.body as { code: string }).code], [422, code])
        assert.equal(errorTable[saved.code].status, 422)
        return
      }
      assert.ok(!(saved instanceof Error), String(saved))
      assert.ok(reply.status < 300, JSON.stringify(reply))
      for (const rows of [saved as SavedRows, reply.body as SavedRows])
        assert.equal(codesOf(rows).includes(code), row.isStored !== false, JSON.stringify(rows))
    })
  }

  test('the rows have every warning, and every error of the page', () => {
    const page = readPage('docs/concepts/check.md')
    const codesUnder = (heading: string) => {
      const part = page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
      const cells = [...part.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell = '']) => [...cell.matchAll(/`([A-Z_]+)`/g)])
      return cells.map(([, code]) => code).sort()
    }
    const tried = (severity: string) => {
      const rows = findingRows.filter((row) => row.severity === severity)
      return [...new Set(rows.map(({ code }) => code))].sort()
    }
    assert.deepEqual(tried('warning'), [...warningCodes].sort())
    assert.deepEqual(codesUnder('Warnings'), [...warningCodes].sort())
    assert.deepEqual(tried('error'), codesUnder('Errors'))
  })
})
