/** A server in a process of its own, with or without traces, which tells how much CPU it has used, or marks that. Its models are behind a connection. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig, startServer } from '@witan/server'
import { mark } from './callgrind.ts'
import { cpuNow } from './measure.ts'
import { instructionsOf, scenarios } from './scenario.ts'
import { lookUpTool, subAgentsOf } from './witan.ts'

const [id = '', store = '', content = '', url = '', models = ''] = process.argv.slice(2)
const scenario = scenarios.find((one) => one.id === id)
if (scenario === undefined) throw new Error(`there is no ${id}`)
const folder = mkdtempSync(join(tmpdir(), 'witan-bench-'))
const config = await loadConfig({ cwd: folder, env: {} })
const server = await startServer({
  ...config,
  auth: { ...config.auth, mode: 'none' },
  server: { ...config.server, port: 0 },
  store: { ...config.store, url: store === 'memory' ? 'memory:' : `file:${join(folder, 'witan.db')}` },
  logLevel: 'error',
  connections: { bench: { kind: 'openai-compatible', baseUrl: models } },
  telemetry: content === 'off' ? {} : { otlp: { url, content: content as 'none' | 'full' } },
  tools: [lookUpTool],
  agents: Object.entries(scenario.roles).map(([name, role]) => ({
    id: name,
    instructions: instructionsOf(name),
    model: `bench/${name}`,
    tools: role.tool ? [lookUpTool.name] : [],
    subAgents: subAgentsOf(role),
  })),
})
process.on('message', async (order) => {
  if (order === 'mark') mark()
  if (order !== 'end') return void process.send?.({ us: cpuNow() })
  await server.close()
  rmSync(folder, { recursive: true, force: true })
  process.exit(0)
})
process.send?.({ port: Number(new URL(server.url).port) })
