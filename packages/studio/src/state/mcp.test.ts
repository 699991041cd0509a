/** MCP servers in words. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoredAgent } from '@witan/protocol'
import type { McpServerTool } from '@witan/protocol/tools'
import { isRenamed, pinAdvice, usersOf } from './mcp.ts'

const tool = (pin: McpServerTool['pin']): McpServerTool => ({
  ...{ name: pin, offeredAs: `files_${pin}`, description: '', pin, readOnly: false, tokens: 1 },
})

test('the agents that use a server, also beside those that say nothing of servers', () => {
  const agent = (id: string, mcp?: object[]) =>
    ({ id, ...(mcp === undefined ? {} : { mcp }) }) as unknown as StoredAgent
  const agents = [
    agent('old'),
    agent('none', []),
    agent('both', [{ server: 'crm' }, { server: 'files', tools: ['a'] }]),
  ]
  assert.deepEqual(
    usersOf(agents, 'files').map((one) => [one.agent.id, one.use.tools]),
    [['both', ['a']]],
  )
  assert.deepEqual(usersOf(agents, 'gone'), [])
})

test('pins say what differs before they say what is missing', () => {
  const advice = (...pins: McpServerTool['pin'][]) => pinAdvice({ name: 'files', tools: pins.map(tool) })
  assert.equal(advice(), null)
  assert.equal(advice('same', 'same'), null)
  assert.equal(advice('none')?.command, 'npx witan mcp pin files')
  assert.equal(advice('same', 'changed')?.command, 'npx witan mcp diff files')
  assert.match(
    advice('changed', 'new', 'new')?.words ?? '',
    /^Since it was pinned, 1 tool changed and 2 tools are new\./,
  )
})

test('a tool is renamed where models read another name than those of its server and its own', () => {
  assert.equal(isRenamed('files', { name: 'read_file', offeredAs: 'files_read_file' }), false)
  assert.equal(isRenamed('files', { name: 'read.file', offeredAs: 'files_read_file' }), true)
})
