/** The MCP servers of a configuration, and the lock file beside it. */
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type McpLock, mcpLockFile, type McpSettings, mcpSettingsOf, parseLock } from '@witan/core/tooling'
import { WitanError } from '@witan/protocol'
import { parseExact } from '@witan/protocol/digits'

/** What a configuration says of MCP servers. */
export interface McpConfig {
  /** By name, with the environment's values filled in and paths made absolute. */
  readonly settings: ReadonlyMap<string, McpSettings>
  /** What the lock file holds; null where there is none. */
  readonly lock: McpLock | null
}

interface Place {
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Reads the servers and the lock file. Throws `CONFIG_INVALID` or `UNKNOWN_KEY` with the path, and never with a value. */
export async function mcpOfConfig(input: unknown, { folder, env }: Place): Promise<McpConfig> {
  const settings = new Map([...mcpSettingsOf(input, env)].map(([name, one]) => [name, inFolder(one, folder)]))
  return { settings, lock: settings.size === 0 ? null : await readLock(lockFileIn(folder)) }
}

/** Where the lock file of a configuration in this folder is. */
function lockFileIn(folder: string): string {
  return join(folder, mcpLockFile)
}

function inFolder(settings: McpSettings, folder: string): McpSettings {
  const { transport, roots } = settings
  const own = transport.type === 'stdio'
  return {
    ...settings,
    ...(own ? { transport: { ...transport, cwd: resolve(folder, transport.cwd ?? '.') } } : {}),
    roots: roots.map((root) => (/^file:\/\//i.test(root) ? root : resolve(folder, root))),
  }
}

/** Larger than any that `witan mcp pin` writes for servers whose tools can be offered. */
const mostBytes = 67_108_864

async function readLock(file: string): Promise<McpLock | null> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw broken(file, 'cannot be read')
  })
  if (text === null) return null
  if (text.length > mostBytes) throw broken(file, `has more than ${mostBytes} characters`)
  return parseLock(parsed(file, text))
}

function parsed(file: string, text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    throw broken(file, 'is not JSON')
  }
}

function broken(file: string, what: string): WitanError {
  const hint = 'Restore the file, or remove it and write it anew with `witan mcp pin`.'
  return new WitanError('CONFIG_INVALID', `${file} ${what}.`, { hint })
}
