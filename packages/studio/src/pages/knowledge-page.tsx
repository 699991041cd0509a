/** The knowledge bases of the database: what each is for, how much it has, and which agents search it. */
import { Link } from '@tanstack/react-router'
import type { StoredKnowledgeBase } from '@witan/protocol/knowledge'
import { shownText } from '@witan/protocol/shown'
import { AgentName } from '../components/agent-sign.tsx'
import { buttonLook } from '../components/button.tsx'
import { EmptyNote, UnreadNote } from '../components/note.tsx'
import { Pill } from '../components/pill.tsx'
import { usePrincipal } from '../state/account.ts'
import { knowledgeConfig } from '../state/first-steps.ts'
import { count } from '../state/format.ts'
import { searchersOf } from '../state/knowledge.ts'
import { useKnowledge } from '../state/knowledge-queries.ts'
import { useAgents } from '../state/queries.ts'

/** By their ids. */
export function KnowledgePage() {
  const bases = useKnowledge()
  const isAdmin = usePrincipal()?.roles.includes('admin') === true
  if (bases.data === undefined) return <UnreadNote query={bases} what="knowledge bases" page="Knowledge" />
  if (bases.data.length === 0) return <NoBases isAdmin={isAdmin} />
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-4xl space-y-4 p-4 md:p-6">
        <div className="flex flex-wrap items-start justify-between gap-3">
          <div>
            <h1 className="text-lg font-semibold">Knowledge</h1>
            <p className="text-muted">Documents that agents search, and quote in their answers.</p>
          </div>
          {isAdmin && <NewBase />}
        </div>
        <ul aria-label="Knowledge bases" className="divide-y divide-line rounded-md border border-line bg-panel">
          {bases.data.map((base) => (
            <li key={base.id}>
              <BaseLine base={base} />
            </li>
          ))}
        </ul>
      </div>
    </div>
  )
}

function NewBase() {
  return (
    <Link to="/knowledge/new" className={buttonLook('primary')}>
      New base
    </Link>
  )
}

function NoBases({ isAdmin }: { readonly isAdmin: boolean }) {
  return (
    <EmptyNote isPage title="No knowledge bases yet" code={{ label: 'witan.config.ts', text: knowledgeConfig }}>
      A knowledge base holds documents: handbooks, contracts, tables. Agents that list it search it, answer from what
      they find, and say which passage an answer comes from.
      {isAdmin && (
        <span className="mt-3 block">
          <NewBase />
        </span>
      )}
    </EmptyNote>
  )
}

function BaseLine({ base }: { readonly base: StoredKnowledgeBase }) {
  const { id, name, description, query, requiredFilters, source } = base
  const searchers = searchersOf(useAgents().data ?? [], id)
  return (
    <div className="grid gap-x-6 gap-y-1 px-4 py-3 sm:grid-cols-[minmax(0,1fr)_auto]">
      <div className="min-w-0 space-y-0.5">
        <p className="flex flex-wrap items-center gap-2">
          <Link
            to="/knowledge/$baseId"
            params={{ baseId: id }}
            className="min-w-0 break-words font-semibold text-accent underline underline-offset-2"
          >
            {shownText(name ?? id)}
          </Link>
          {query !== null && <Pill>searches a table</Pill>}
          {source === 'code' && <Pill>from code</Pill>}
        </p>
        <p className="line-clamp-3 break-words" dir="auto">
          {shownText(description) || <span className="text-muted">No description.</span>}
        </p>
        <p className="break-words text-xs text-muted">
          {searchers.length === 0 ? (
            'No agent lists it.'
          ) : (
            <>
              Searched by{' '}
              {searchers.map(({ agent }, index) => (
                <span key={agent.id}>
                  {index > 0 && ', '}
                  <AgentName id={agent.id} />
                </span>
              ))}
              {requiredFilters.length > 0 && `, each with a filter by ${requiredFilters.join(', ')}`}
            </>
          )}
        </p>
      </div>
      <p className="flex gap-x-3 text-xs text-muted tabular-nums sm:flex-col sm:items-end">
        {base.documents !== null && <span>{count(base.documents, 'document')}</span>}
        {base.passages !== null && <span>{count(base.passages, 'passage')}</span>}
      </p>
    </div>
  )
}
