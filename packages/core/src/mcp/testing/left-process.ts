/** Starts an MCP server that ignores the end of its input, prints its process, and waits to be killed. Arguments: the folder of the ledger. */
import { mcpServers } from '../servers.ts'
import { callOf } from './opened.ts'
import { nodeServer, settingsOf } from './settings.ts'

const [folder = '', how = ''] = process.argv.slice(2)
const deaf = settingsOf('deaf', nodeServer('test/support/mcp/hostile-server.ts', ['deaf-echo']))
const servers = mcpServers(new Map([['deaf', deaf]]), { folder, report: console.error })
const answer = await servers.call(callOf('deaf', 'go'))
if (answer.kind !== 'result') throw new Error(JSON.stringify(answer))
console.log(String(answer.content[0]?.['text']))
if (how === 'exit') process.exit(0)
setInterval(() => {}, 1_000)
