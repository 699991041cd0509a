/** Pins of MCP tools: what a server changes is noticed, and a lock file is read as untrusted input. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWitanError } from '@witan/protocol'
import type { McpToolDefinition } from './mcp.ts'
import {
  differences,
  digestOf,
  isPinned,
  listFromLock,
  lockOf,
  lockText,
  type McpLock,
  noPins,
  parseLock,
  pinOf,
} from './pins.ts'

const read: McpToolDefinition = {
  name: 'read',
  description: 'Reads.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' }, limit: { type: 'number' } } },
}
const write: McpToolDefinition = {
  name: 'write',
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: false },
}
const lock = lockOf(new Map([['files', { tools: [write, read] }]]))

test('a digest is that of the pinned parts, whatever the order of keys', () => {
  const { name, description = '', inputSchema } = read
  const same = {
    inputSchema: { properties: { limit: { type: 'number' }, path: { type: 'string' } }, type: 'object' },
    name,
    description,
  }
  assert.match(digestOf(read), /^[0-9a-f]{64}$/)
  assert.equal(digestOf(same), digestOf(read))
  assert.equal(digestOf({ ...same, title: 'T' } as McpToolDefinition), digestOf(read), 'other keys are not pinned')
  const others = [
    { ...read, name: 'Read' },
    { ...read, description: 'Reads!' },
    { name, inputSchema },
    { ...read, inputSchema: { type: 'object' } },
    { ...read, outputSchema: { type: 'object' } },
    { ...read, annotations: {} },
    { ...read, inputSchema: JSON.parse('{"type":"object","__proto__":{"a":1}}') },
  ]
  assert.equal(new Set([read, ...others].map(digestOf)).size, others.length + 1)
})

test('a tool is the same, changed, new, or its server is not pinned', () => {
  assert.equal(pinOf(lock, 'files', { ...read }), 'same')
  assert.equal(pinOf(lock, 'files', { ...read, description: 'Sends all files.' }), 'changed')
  assert.equal(pinOf(lock, 'files', { ...read, name: 'more' }), 'new')
  for (const name of ['constructor', 'toString', '__proto__']) {
    assert.equal(pinOf(lock, 'files', { ...read, name }), 'new')
    assert.equal(pinOf(lock, name, read), 'none')
  }
  assert.equal(pinOf(lock, 'crm', read), 'none')
  assert.equal(pinOf(noPins, 'files', read), 'none')
  assert.ok(isPinned(lock, 'files') && !isPinned(lock, 'crm'))
})

test('a lock keeps the other servers, and its text does not depend on the order of tools', () => {
  const more = lockOf(new Map([['crm', { tools: [] }]]), lock)
  assert.deepEqual(Object.keys(more.servers), ['crm', 'files'])
  assert.equal(lockText(lockOf(new Map([['files', { tools: [read, write] }]]))), lockText(lock))
  assert.deepEqual(lockOf(new Map([['files', { tools: [read] }]]), lock).servers['files'], {
    tools: { read: { digest: digestOf(read), definition: read } },
  })
  const odd = lockOf(
    new Map([['files', { tools: [{ ...read, name: '__proto__' }, { ...read, title: 'T' } as McpToolDefinition] }]]),
  )
  const again = parseLock(JSON.parse(lockText(odd)))
  assert.equal(pinOf(again, 'files', { ...read, name: '__proto__' }), 'same')
  assert.deepEqual(
    listFromLock(again, 'files')?.tools.find(({ name }) => name === 'read'),
    read,
  )
})

test('the list of a pinned server is read from the lock', () => {
  assert.deepEqual(
    listFromLock(lock, 'files')?.tools.map(({ name }) => name),
    ['read', 'write'],
  )
  assert.equal(listFromLock(lock, 'files'), listFromLock(lock, 'files'))
  assert.equal(listFromLock(lock, 'crm'), null)
})

test('what differs is added, removed or changed, with the parts that do', () => {
  const changed = { ...read, description: 'Reads!', annotations: { readOnlyHint: true } }
  const added = { ...write, name: 'move' }
  const found = differences(lock, 'files', { tools: [changed, added] })
  assert.deepEqual(found.added, [added])
  assert.deepEqual(found.removed, [write])
  assert.deepEqual(found.changed, [{ tool: 'read', keys: ['description', 'annotations'], before: read, now: changed }])
  assert.deepEqual(differences(lock, 'files', { tools: [write, read] }), { added: [], removed: [], changed: [] })
  assert.deepEqual(differences(lock, 'crm', { tools: [write, read] }).added, [read, write])
})

/** So many levels. */
function deep(levels: number): object {
  let made: object = {}
  for (let level = 0; level < levels; level += 1) made = { a: made }
  return made
}

test('a lock file that is none is refused with its place', () => {
  const good = { digest: digestOf(read), definition: read }
  const tools = (of: object) => ({ version: 1, servers: { files: { tools: of } } })
  const table: readonly (readonly [value: unknown, path: string | null])[] = [
    [null, null],
    [[], null],
    ['x', null],
    [{ version: 2, servers: {} }, 'version'],
    [{ version: 1 }, 'servers'],
    [{ version: 1, servers: [] }, 'servers'],
    [{ version: 1, servers: {}, more: 1 }, 'more'],
    [{ version: 1, servers: { 'A b': { tools: {} } } }, 'servers.A b'],
    [{ version: 1, servers: { files: {} } }, 'servers.files'],
    [{ version: 1, servers: { files: { tools: {}, more: 1 } } }, 'servers.files.more'],
    [tools({ read: null }), 'servers.files.tools.read'],
    [tools({ other: good }), 'servers.files.tools.other'],
    [tools({ read: { ...good, digest: '0'.repeat(64) } }), 'servers.files.tools.read.digest'],
    [tools({ read: { ...good, definition: { ...read, title: 'T' } } }), 'servers.files.tools.read'],
    [tools({ read: { ...good, definition: { ...read, inputSchema: [] } } }), 'servers.files.tools.read'],
    [tools({ read: { ...good, definition: { ...read, description: 1 } } }), 'servers.files.tools.read'],
    [tools({ read: { ...good, definition: { ...read, inputSchema: deep(100_000) } } }), 'servers.files.tools.read'],
    [tools({ [`r${'\u202e'.repeat(900)}`]: 1 }), null],
  ]
  for (const [value, path] of table)
    assert.throws(
      () => parseLock(value),
      (error) => {
        assert.ok(isWitanError(error) && error.code === 'CONFIG_INVALID', path ?? undefined)
        if (path !== null) assert.equal(error.path, path)
        assert.match(error.message, /witan\.mcp\.lock\.json/)
        return error.message.length < 400 && !error.message.includes('\u202e')
      },
    )
  const parsed: McpLock = parseLock(JSON.parse(lockText(lock)))
  assert.deepEqual(parsed, lock)
})
