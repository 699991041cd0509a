/** The protocol's library: an optional package that is loaded at the first connection only. */
import { WitanError } from '@witan/protocol'

/** What is used of it. */
export type Sdk = Pick<typeof import('@modelcontextprotocol/client'), 'Client' | 'StreamableHTTPClientTransport'>

let loading: Promise<Sdk> | null = null

/** Loads the library. Rejects with `CONFIG_INVALID` if it is not installed. */
export function loadSdk(): Promise<Sdk> {
  loading ??= import('@modelcontextprotocol/client').catch((error: unknown): never => {
    loading = null
    const isMissing = (error as NodeJS.ErrnoException | null)?.code === 'ERR_MODULE_NOT_FOUND'
    if (!isMissing) throw error
    throw new WitanError('CONFIG_INVALID', 'MCP servers need the package `@modelcontextprotocol/client`.', {
      path: 'mcpServers',
      hint: 'npm install @modelcontextprotocol/client',
      cause: error,
    })
  })
  return loading
}
