/** One knowledge base: what it is, a box that searches it, the agents that search it, its documents, and ingests while they run. */
import { Link, useNavigate } from '@tanstack/react-router'
import type { StoredKnowledgeBase } from '@witan/protocol/knowledge'
import { shownText } from '@witan/protocol/shown'
import { useState } from 'react'
import { AddDocuments } from '../components/add-documents.tsx'
import { Button, buttonLook } from '../components/button.tsx'
import { DeleteDialog } from '../components/delete-dialog.tsx'
import { FactLine, FactList } from '../components/fact.tsx'
import { IngestProgress } from '../components/ingest-progress.tsx'
import { JsonBlock } from '../components/json-block.tsx'
import { KnowledgeDocuments } from '../components/knowledge-documents.tsx'
import { KnowledgeSearch } from '../components/knowledge-search.tsx'
import { EmptyNote, ProblemNote, UnreadNote } from '../components/note.tsx'
import { SearcherList } from '../components/searcher-list.tsx'
import { isWitanError } from '@witan/client'
import { usePrincipal } from '../state/account.ts'
import { count } from '../state/format.ts'
import { searchersOf } from '../state/knowledge.ts'
import { refreshKnowledge, useBase } from '../state/knowledge-queries.ts'
import { useAgents } from '../state/queries.ts'
import { useIngest } from '../state/use-ingest.ts'
import { witan } from '../state/witan.ts'

/** What of the page its address keeps. */
export interface BasePlace {
  readonly prefix?: string
  /** The ids of ingests that were begun here, with commas between them. */
  readonly ingest?: string
}

interface PageProps {
  readonly baseId: string
  readonly place: BasePlace
  readonly onPlace: (place: BasePlace) => void
}

/** Who may only read sees no button that changes anything. */
export function KnowledgeBasePage({ baseId, place, onPlace }: PageProps) {
  const base = useBase(baseId)
  if (base.data === undefined) return <Unread baseId={baseId} base={base} />
  return (
    <div className="h-full overflow-y-auto">
      <article className="mx-auto max-w-4xl space-y-7 p-4 md:p-6">
        <BaseHead base={base.data} />
        <KnowledgeSearch key={baseId} base={base.data} />
        <Searchers base={base.data} />
        {base.data.query === null ? (
          <Documents base={base.data} place={place} onPlace={onPlace} />
        ) : (
          <Elsewhere query={base.data.query} />
        )}
      </article>
    </div>
  )
}

function Unread({ baseId, base }: { readonly baseId: string; readonly base: ReturnType<typeof useBase> }) {
  if (!isWitanError(base.error) || base.error.code !== 'NOT_FOUND')
    return <UnreadNote query={base} what="the base" page={baseId} />
  return (
    <EmptyNote isPage title="There is no such base">
      "{shownText(baseId)}" is not in this database, or is not for you. All bases are under{' '}
      <Link to="/knowledge" className="text-accent underline">
        Knowledge
      </Link>
      .
    </EmptyNote>
  )
}

const languages = { en: 'English, words by their stem', none: 'any, words as they are written' } as const

function BaseHead({ base }: { readonly base: StoredKnowledgeBase }) {
  const { id, name, description, language, attributes, requiredFilters, revision, source } = base
  const isAdmin = usePrincipal()?.roles.includes('admin') === true
  return (
    <header className="flex flex-wrap items-start gap-x-6 gap-y-3">
      <div className="min-w-0 flex-1 basis-72">
        <Link to="/knowledge" className="text-accent underline-offset-2 hover:underline">
          ← All bases
        </Link>
        <h1 className="mt-1 break-words text-lg font-semibold" dir="auto">
          {shownText(name ?? id)}
        </h1>
        <p className="mt-1 max-w-prose text-pretty break-words" dir="auto">
          {shownText(description) || <span className="text-muted">No description.</span>}
        </p>
        <div className="mt-3">
          <FactList>
            <FactLine name="Id">
              <span className="font-mono">{id}</span>
            </FactLine>
            {base.documents !== null && base.passages !== null && (
              <FactLine name="Has">
                {count(base.documents, 'document')}, {count(base.passages, 'passage')}
              </FactLine>
            )}
            <FactLine name="Language">{languages[language]}</FactLine>
            <FactLine name="Passages">up to {count(base.passageCharacters, 'character')}</FactLine>
            <FactLine name="Ranked by">{base.embedding === null ? 'words' : `words and ${base.embedding}`}</FactLine>
            {Object.entries(attributes).map(([attribute, type]) => (
              <FactLine key={attribute} name="Attribute">
                <span className="font-mono">{attribute}</span>, {type}
                {requiredFilters.includes(attribute) && ', each agent filters by it'}
              </FactLine>
            ))}
            <FactLine name="Revision">
              {revision} ({source === 'code' ? 'from code' : 'data'})
            </FactLine>
          </FactList>
        </div>
      </div>
      {isAdmin && source !== 'code' && <Changes base={base} />}
    </header>
  )
}

function Changes({ base }: { readonly base: StoredKnowledgeBase }) {
  const navigate = useNavigate()
  const searchers = searchersOf(useAgents().data ?? [], base.id)
  const [asks, setAsks] = useState(false)
  const remove = async () => {
    await witan.knowledge.delete(base.id, { force: searchers.length > 0 })
    await navigate({ to: '/knowledge' })
    refreshKnowledge()
  }
  return (
    <div className="flex gap-2">
      <Link to="/knowledge/$baseId/edit" params={{ baseId: base.id }} className={buttonLook('plain')}>
        Edit
      </Link>
      <Button look="danger" onClick={() => setAsks(true)}>
        Delete …
      </Button>
      {asks && (
        <DeleteDialog
          title={`Delete ${base.name ?? base.id}`}
          words={searchers.length > 0 ? 'Delete it all the same' : 'Delete the base'}
          onDelete={remove}
          onClose={() => setAsks(false)}
        >
          <p>
            {base.documents === null
              ? 'The table that it searches stays as it is.'
              : `${count(base.documents, 'document')} with ${count(base.passages ?? 0, 'passage')} are deleted with it.`}{' '}
            What conversations have quoted stays in them.
          </p>
          {searchers.length > 0 && (
            <p className="text-wait">
              {searchers.map(({ agent }) => agent.name ?? agent.id).join(', ')}{' '}
              {searchers.length === 1 ? 'lists it, and has' : 'list it, and have'} an error until it is taken out there.
            </p>
          )}
        </DeleteDialog>
      )}
    </div>
  )
}

function Searchers({ base }: { readonly base: StoredKnowledgeBase }) {
  return (
    <section aria-label="Agents">
      <h2 className="text-base font-semibold">Agents that search it</h2>
      <SearcherList searchers={searchersOf(useAgents().data ?? [], base.id)} />
    </section>
  )
}

function Elsewhere({ query }: { readonly query: NonNullable<StoredKnowledgeBase['query']> }) {
  return (
    <section aria-label="Documents">
      <h2 className="text-base font-semibold">Documents</h2>
      <p className="mb-2 text-muted">
        It has none of its own: it searches the source <code className="font-mono">{query.source}</code>, and documents
        are changed there.
      </p>
      <JsonBlock label="Its query" value={query.query} />
    </section>
  )
}

interface DocumentsProps {
  readonly base: StoredKnowledgeBase
  readonly place: BasePlace
  readonly onPlace: (place: BasePlace) => void
}

function Documents({ base, place, onPlace }: DocumentsProps) {
  const isAdmin = usePrincipal()?.roles.includes('admin') === true
  const [adds, setAdds] = useState(false)
  const ids = place.ingest === undefined ? [] : place.ingest.split(',')
  const { sum, error, send } = useIngest(base.id, ids)
  const isOpen = isAdmin && (adds || base.documents === 0)
  return (
    <section aria-label="Documents">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-base font-semibold">Documents</h2>
        {isAdmin && base.documents !== 0 && (
          <Button aria-expanded={adds} onClick={() => setAdds(!adds)}>
            Add documents
          </Button>
        )}
      </div>
      {isOpen && (
        <AddDocuments
          base={base}
          onSend={async (documents) => {
            const taken = await send(documents)
            setAdds(true)
            onPlace({ ...place, ingest: taken.join(',') })
          }}
        />
      )}
      {sum !== null && (
        <div className="mt-3">
          <IngestProgress sum={sum} />
        </div>
      )}
      {error !== null && (
        <div className="mt-3">
          <ProblemNote error={error} />
        </div>
      )}
      <KnowledgeDocuments
        base={base}
        prefix={place.prefix ?? ''}
        onPrefix={(prefix) => onPlace({ ...place, prefix })}
      />
    </section>
  )
}
