/** The MCP servers of the configuration: how each stands, its tools with their pins and tokens, and which agents use it. */
import { EmptyNote, UnreadNote } from '../components/note.tsx'
import { McpServerCard } from '../components/mcp-server-card.tsx'
import { usePrincipal, useReadsAll } from '../state/account.ts'
import { mcpConfig } from '../state/first-steps.ts'
import { count } from '../state/format.ts'
import { useMcpServers } from '../state/mcp-queries.ts'

/** By their names. It connects to none by itself. */
export function McpPage() {
  const servers = useMcpServers()
  const isKnown = usePrincipal() !== undefined
  const readsAll = useReadsAll()
  if (isKnown && !readsAll) return <NotShown />
  if (servers.data === undefined) return <UnreadNote query={servers} what="MCP servers" page="MCP servers" />
  if (servers.data.length === 0) return <NoServers />
  const tools = servers.data.reduce((sum, one) => sum + one.tools.length, 0)
  const tokens = servers.data.reduce((sum, one) => sum + one.tokens, 0)
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-4xl space-y-4 p-4 md:p-6">
        <div>
          <h1 className="text-lg font-semibold">MCP servers</h1>
          <p className="text-muted">
            Programs and services whose tools agents use: {count(servers.data.length, 'server')}
            {tools > 0 && ` with ${count(tools, 'tool')}, about ${count(tokens, 'token')}`}.
          </p>
        </div>
        <ul aria-label="MCP servers" className="space-y-4">
          {servers.data.map((server) => (
            <li key={server.name}>
              <McpServerCard server={server} isOpen={servers.data.length === 1} />
            </li>
          ))}
        </ul>
      </div>
    </div>
  )
}

function NoServers() {
  return (
    <EmptyNote isPage title="No MCP servers yet" code={{ label: 'witan.config.ts', text: mcpConfig }}>
      An MCP server is a program or a service that offers tools: it reads files, searches tickets, writes to a calendar.
      The configuration names it, and agents that list it in <code className="font-mono">mcp</code> use its tools.
    </EmptyNote>
  )
}

function NotShown() {
  return (
    <EmptyNote isPage title="MCP servers are not shown to you">
      They are shown to people who may read the definitions of agents: those with the role read or admin.
    </EmptyNote>
  )
}
