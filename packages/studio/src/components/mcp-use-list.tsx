/** The MCP servers whose tools a call of an agent had: folded away, with the names that its model read. */
import { Link } from '@tanstack/react-router'
import type { CallView } from '@witan/client'
import { shownText } from '@witan/protocol/shown'
import { useReadsAll } from '../state/account.ts'
import { count } from '../state/format.ts'

const shownDigest = 12

/** Nothing without any. Equal digests mean equal definitions. */
export function McpUseList({ mcp }: Pick<CallView, 'mcp'>) {
  const readsAll = useReadsAll()
  if (mcp.length === 0) return null
  return (
    <details data-testid="mcp">
      <summary className="w-fit cursor-pointer py-0.5 text-xs text-muted hover:text-ink">
        Tools of MCP servers: {mcp.map(({ server, tools }) => `${shownText(server)} (${tools.length})`).join(', ')}
      </summary>
      <ul aria-label="MCP servers" className="mt-1 divide-y divide-line rounded-md border border-line bg-panel">
        {mcp.map(({ server, tools, digest }) => (
          <li key={server} className="space-y-1 px-2.5 py-2">
            <p className="flex flex-wrap items-baseline gap-x-3">
              {readsAll ? (
                <Link to="/mcp" className="min-w-0 break-all font-medium text-accent underline underline-offset-2">
                  {shownText(server)}
                </Link>
              ) : (
                <span className="min-w-0 break-all font-medium">{shownText(server)}</span>
              )}
              <span className="text-xs text-muted">{count(tools.length, 'tool')}</span>
              {digest !== '' && (
                <span className="text-xs text-muted" title={`The digest of their definitions: ${shownText(digest)}`}>
                  digest <span className="font-mono">{shownText(digest.slice(0, shownDigest))}</span>
                </span>
              )}
            </p>
            <ul
              aria-label={`Tools of ${shownText(server)}`}
              className="flex flex-wrap gap-x-4 gap-y-0.5 font-mono text-xs"
            >
              {tools.map((name) => (
                <li key={name} className="break-all">
                  {shownText(name)}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </details>
  )
}
