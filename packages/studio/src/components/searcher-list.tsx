/** The agents that search a base, each with its filter and how it searches. */
import { Link } from '@tanstack/react-router'
import type { KnowledgeUse } from '@witan/protocol/knowledge'
import type { Searcher } from '../state/knowledge.ts'
import { count } from '../state/format.ts'
import { AgentSign } from './agent-sign.tsx'

/** Says so where no agent does. */
export function SearcherList({ searchers }: { readonly searchers: readonly Searcher[] }) {
  if (searchers.length === 0)
    return (
      <p className="mt-1 text-muted">
        No agent lists it. An agent does with <code className="font-mono">knowledgeBases</code> in its definition.
      </p>
    )
  return (
    <ul aria-label="Agents that search it" className="mt-2 divide-y divide-line rounded-md border border-line bg-panel">
      {searchers.map(({ agent, use }) => (
        <li key={agent.id} className="flex flex-wrap items-baseline gap-x-4 gap-y-1 px-4 py-2">
          <span className="flex min-w-0 items-center gap-2 self-center">
            <AgentSign id={agent.id} />
            <Link
              to="/agents/$agentId"
              params={{ agentId: agent.id }}
              className="min-w-0 break-words font-medium text-accent underline underline-offset-2"
            >
              {agent.name ?? agent.id}
            </Link>
          </span>
          <UseWords use={use} />
        </li>
      ))}
    </ul>
  )
}

const ways = {
  tool: 'when its model asks',
  auto: 'with each message',
  both: 'with each message, and when its model asks',
} as const

/** How an agent searches a base, in words. */
export function UseWords({ use: { retrieval, limit, filter } }: { readonly use: KnowledgeUse }) {
  const bound = Object.entries(filter)
  return (
    <span className="min-w-0 text-xs text-muted">
      {ways[retrieval]}, at most {count(limit, 'passage')}
      {bound.length > 0 && ', where '}
      {bound.map(([attribute, parameter], index) => (
        <span key={attribute}>
          {index > 0 && ' and '}
          <code className="break-all font-mono text-ink">{attribute}</code> is the value of{' '}
          <code className="break-all font-mono text-ink">{parameter}</code>
        </span>
      ))}
    </span>
  )
}
