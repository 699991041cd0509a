/** The tools of an MCP server as models read them, each with its pin and its tokens. */
import { shownText } from '@witan/protocol/shown'
import type { McpServerTool, McpServerView } from '@witan/protocol/tools'
import { count } from '../state/format.ts'
import { isRenamed, mcpPins } from '../state/mcp.ts'
import { Mark } from './mark.tsx'

const tones = { same: 'accent', changed: 'fail', new: 'wait', none: 'plain' } as const

/** Folded away. Descriptions are whole: a model reads all of them. */
export function McpToolList({ server, isOpen }: { readonly server: McpServerView; readonly isOpen: boolean }) {
  const { name, tools, tokens } = server
  if (tools.length === 0) return <p className="border-t border-line px-4 py-2 text-muted">{withoutTools(server)}</p>
  return (
    <details open={isOpen || undefined} className="border-t border-line">
      <summary className="min-h-9 cursor-pointer px-4 py-2 font-medium -outline-offset-2 hover:bg-sunken">
        {count(tools.length, 'tool')}
        <span className="sr-only"> of {name}</span>
        <span className="font-normal text-muted tabular-nums">, about {count(tokens, 'token')}</span>
      </summary>
      <ul aria-label={`Tools of ${name}`} className="divide-y divide-line border-t border-line">
        {tools.map((tool) => (
          <ToolLine key={tool.name} server={name} tool={tool} />
        ))}
      </ul>
    </details>
  )
}

function withoutTools({ state, serverInfo }: McpServerView): string {
  if (state === 'failed') return 'Its tools are not known.'
  if (state === 'idle') return 'Its tools are not known yet: it is connected when an agent that uses it begins.'
  // A server that was listed has said who it is.
  return serverInfo === null ? 'Its tools are listed anew when an agent that uses it begins.' : 'It offers no tools.'
}

function ToolLine({ server, tool }: { readonly server: string; readonly tool: McpServerTool }) {
  const { name, offeredAs, description, pin, readOnly, tokens } = tool
  return (
    <li className="grid gap-x-6 gap-y-0.5 px-4 py-2.5 sm:grid-cols-[minmax(0,1fr)_auto]">
      <div className="min-w-0 space-y-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="min-w-0 break-all font-mono font-medium">{shownText(offeredAs)}</span>
          <Mark tone={tones[pin]} title={mcpPins[pin].says}>
            {mcpPins[pin].words}
          </Mark>
          {readOnly && <Mark title="It changes nothing: a call may be repeated.">only reads</Mark>}
        </p>
        {isRenamed(server, tool) && (
          <p className="line-clamp-3 break-all text-xs text-muted">
            At its server: <span className="font-mono">{shownText(name)}</span>
          </p>
        )}
        <p className="whitespace-pre-wrap break-words text-muted" dir="auto">
          {shownText(description) || 'No description.'}
        </p>
      </div>
      <p className="text-xs whitespace-nowrap text-muted tabular-nums">{count(tokens, 'token')}</p>
    </li>
  )
}
