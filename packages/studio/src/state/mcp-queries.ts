/** What the page of MCP servers and its link read from the server, and asking a server for its tools anew. */
import { useQuery } from '@tanstack/react-query'
import type { McpServerView } from '@witan/protocol/tools'
import { useState } from 'react'
import { useReadsAll } from './account.ts'
import { queries } from './queries.ts'
import { witan } from './witan.ts'

const queryKey = ['mcp']
/** Runs connect to servers meanwhile. */
const lookAgainMs = 10_000

/** The MCP servers of the configuration. Not asked for those who may not read them. */
export function useMcpServers() {
  const enabled = useReadsAll()
  return useQuery({ queryKey, queryFn: () => witan.mcp.list(), refetchInterval: lookAgainMs, enabled })
}

/** Whether the configuration has MCP servers. Asked once: every page has the link that depends on it. */
export function useHasMcpServers(): boolean {
  const enabled = useReadsAll()
  const asked = { staleTime: Number.POSITIVE_INFINITY, refetchOnMount: false, refetchOnWindowFocus: false }
  const { data = [] } = useQuery({ queryKey, queryFn: () => witan.mcp.list(), ...asked, enabled })
  return data.length > 0
}

/** A server that is asked anew. */
interface Refreshing {
  /** When it was asked; null while it is not. */
  readonly since: number | null
  /** Why the last try failed, or null. */
  readonly error: unknown
  refresh(): void
}

/** Connects to a server and reads its tools anew, once at a time. */
export function useMcpRefresh(name: string): Refreshing {
  const [since, setSince] = useState<number | null>(null)
  const [error, setError] = useState<unknown>(null)
  const refresh = () => {
    if (since !== null) return
    setSince(Date.now())
    setError(null)
    witan.mcp
      .refresh(name)
      .then(replace, async (reason: unknown) => {
        setError(reason)
        await queries.invalidateQueries({ queryKey })
      })
      .finally(() => setSince(null))
  }
  return { since, error, refresh }
}

function replace(server: McpServerView): void {
  queries.setQueryData<readonly McpServerView[]>(queryKey, (all = []) =>
    all.map((one) => (one.name === server.name ? server : one)),
  )
}
