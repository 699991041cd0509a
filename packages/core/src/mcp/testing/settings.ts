/** Settings of MCP servers for tests, with the defaults of a configuration. */
import { fileURLToPath } from 'node:url'
import type { McpSession, McpSettings, McpTransport } from '../../tool/mcp/mcp.ts'
import { mcpSettingsOf } from '../../tool/mcp/settings.ts'

const root = new URL('../../../../../', import.meta.url)

/** The path of a file of this repository. */
export function pathOf(file: string): string {
  return fileURLToPath(new URL(file, root))
}

const defaults = mcpSettingsOf({ one: { command: 'none' } }, {}).get('one') as McpSettings

/** Settings with a transport; others may be set. */
export function settingsOf(name: string, transport: McpTransport, others: Partial<McpSettings> = {}): McpSettings {
  return { ...defaults, name, transport, ...others }
}

/** A server that runs a file of this repository in Node. */
export function nodeServer(
  file: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): McpTransport {
  const flags = file.endsWith('.ts') ? ['--no-warnings', '--conditions=witan-source'] : []
  return { type: 'stdio', command: process.execPath, args: [...flags, pathOf(file), ...args], cwd: null, env }
}

/** A server at a URL. */
export function httpServer(url: string, others: Partial<Extract<McpTransport, { type: 'http' }>> = {}): McpTransport {
  return { type: 'http', url, headers: {}, auth: null, ...others }
}

/** The session of everybody. */
export function sessionOf(server: string, others: Partial<McpSession> = {}): McpSession {
  return { server, headers: {}, conversation: null, ...others }
}
