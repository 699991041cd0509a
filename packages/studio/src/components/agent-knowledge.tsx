/** The knowledge bases that an agent searches. Nothing for an agent without any. */
import { Link } from '@tanstack/react-router'
import type { StoredAgent } from '@witan/protocol'
import { knowledgeUses } from '@witan/protocol/knowledge-uses'
import { useKnowledge } from '../state/knowledge-queries.ts'
import { Mark } from './mark.tsx'
import { UseWords } from './searcher-list.tsx'

/** The section of an agent with bases. */
export function AgentKnowledge({ agent }: { readonly agent: StoredAgent }) {
  const uses = knowledgeUses(agent)
  if (uses.length === 0) return null
  return <KnowledgeSection uses={uses} />
}

function KnowledgeSection({ uses }: { readonly uses: ReturnType<typeof knowledgeUses> }) {
  const bases = useKnowledge().data
  return (
    <section aria-label="Knowledge">
      <h2 className="text-base font-semibold">Knowledge</h2>
      <p className="text-muted">The bases that it searches. Agents below it have their own, and inherit none.</p>
      <ul aria-label="Knowledge bases" className="mt-2 divide-y divide-line rounded-md border border-line bg-panel">
        {uses.map((use) => {
          const base = bases?.find(({ id }) => id === use.id)
          return (
            <li key={use.id} className="flex flex-wrap items-baseline gap-x-4 gap-y-1 px-4 py-2">
              <Link
                to="/knowledge/$baseId"
                params={{ baseId: use.id }}
                className="min-w-0 break-words font-medium text-accent underline underline-offset-2"
              >
                {base?.name ?? use.id}
              </Link>
              {bases !== undefined && base === undefined && <Mark tone="fail">does not exist</Mark>}
              <UseWords use={use} />
            </li>
          )
        })}
      </ul>
    </section>
  )
}
