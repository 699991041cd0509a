/** The acquaintances of an agent as a list, for screens too small for a drawing. */
import { Link } from '@tanstack/react-router'
import type { AgentGraph as Graph } from '@witan/client'
import { edgeVerb } from '../state/edges.ts'
import { outlineOf, type OutlineItem } from '../state/outline.ts'
import { useAgents } from '../state/queries.ts'
import { AgentSign } from './agent-sign.tsx'

/** Each agent below its callers; a repeated agent is listed without the agents below it. */
export function AgentOutline({ graph, rootId }: { readonly graph: Graph; readonly rootId: string }) {
  const items = outlineOf(graph, rootId)
  const known = new Set(useAgents().data?.map(({ id }) => id))
  return (
    <ul data-testid="outline" className="py-2">
      {items.map((item) => (
        <li
          key={item.key}
          className="flex items-start gap-2 py-1.5 pr-4"
          style={{ paddingLeft: `${1 + Math.min(item.depth, 8) * 1.1}rem` }}
        >
          <AgentSign id={item.id} />
          <span className="min-w-0">
            {known.has(item.id) && item.depth > 0 ? (
              <Link to="/agents/$agentId" params={{ agentId: item.id }} className="break-words font-medium text-accent">
                {item.name}
              </Link>
            ) : (
              <span className="break-words font-medium">{item.name}</span>
            )}
            <About item={item} />
          </span>
        </li>
      ))}
    </ul>
  )
}

function About({ item: { kind, description, isRepeat } }: { readonly item: OutlineItem }) {
  const edge = kind === null || kind === 'subAgents' ? '' : kind === 'remotes' ? 'on another server' : edgeVerb(kind)
  const words = [edge, isRepeat ? 'shown above' : '', description].filter((one) => one !== '')
  return words.length === 0 ? null : <span className="block break-words text-xs text-muted">{words.join(' · ')}</span>
}
