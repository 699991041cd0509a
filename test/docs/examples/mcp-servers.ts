/** Tools of an MCP server: an agent that reads a folder, and may write nothing there unless a person approves it. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRuntime, defineAgent } from '@witan/core'
import { scriptedModel, toolResults } from '@witan/core/testing'

const folder = mkdtempSync(join(tmpdir(), 'shared-'))
writeFileSync(join(folder, 'hours.txt'), 'Open from 9 to 17.')

const clerk = defineAgent({
  id: 'clerk',
  instructions: 'Answer from the shared folder.',
  mcp: [{ server: 'files', tools: ['read_text_file', 'write_file'] }],
  model: scriptedModel(
    (request) => {
      const [text] = toolResults(request)
      if (text !== undefined) return `The notice says: ${text}`
      return { toolCalls: [{ name: 'files_read_text_file', arguments: { path: join(folder, 'hours.txt') } }] }
    },
    { id: 'demo/clerk' },
  ),
})

const runtime = createRuntime({
  mcpServers: {
    files: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', folder], readOnly: ['read_*'] },
  },
  agents: [clerk],
})
const chat = runtime.conversation('clerk')
console.log((await chat.run('When are you open?')).text)
for (const { name, approval } of await runtime.agents.tools.list('clerk')) console.log(name, '– approval:', approval)
await runtime.close()
