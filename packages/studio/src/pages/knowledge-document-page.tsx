/** One document of a knowledge base: what it is, its headings, its passages in order, and its text. */
import { isWitanError } from '@witan/client'
import { Link, useNavigate } from '@tanstack/react-router'
import type { KnowledgeDocument, Passage } from '@witan/protocol/knowledge'
import { shownText } from '@witan/protocol/shown'
import { useEffect, useState } from 'react'
import { Button } from '../components/button.tsx'
import { DeleteDialog } from '../components/delete-dialog.tsx'
import { FactLine, FactList } from '../components/fact.tsx'
import { AttributePills, RereadFailure } from '../components/knowledge-documents.tsx'
import { LongText } from '../components/long-text.tsx'
import { EmptyNote, UnreadNote } from '../components/note.tsx'
import { PassageList } from '../components/passage-list.tsx'
import { UriText } from '../components/source-list.tsx'
import { usePrincipal } from '../state/account.ts'
import { count, formatMoment } from '../state/format.ts'
import { outlineOf } from '../state/knowledge.ts'
import { refreshWithout, useKnowledgeDocument, usePassages } from '../state/knowledge-queries.ts'
import { witan } from '../state/witan.ts'

interface PageProps {
  readonly baseId: string
  readonly documentKey: string
  /** The id of a passage that is shown first. */
  readonly passage: string | undefined
}

/** A passage that an answer names takes the focus; one that is gone is said to be gone. */
export function KnowledgeDocumentPage({ baseId, documentKey, passage }: PageProps) {
  const document = useKnowledgeDocument(baseId, documentKey)
  if (document.data === undefined) {
    const isGone = isWitanError(document.error) && document.error.code === 'NOT_FOUND'
    if (isGone) return <Gone baseId={baseId} documentKey={documentKey} />
    return <UnreadNote query={document} what="the document" page={shownText(documentKey)} />
  }
  return (
    <div className="h-full overflow-y-auto">
      <article className="mx-auto max-w-4xl space-y-7 p-4 md:p-6">
        <DocumentHead baseId={baseId} document={document.data} />
        <Passages baseId={baseId} document={document.data} wanted={passage} />
        {document.data.text !== '' && (
          <section aria-label="Text">
            <h2 className="text-base font-semibold">Text</h2>
            <p className="mb-2 text-muted">As it was read, without its form.</p>
            <div className="rounded-md border border-line bg-panel px-4 py-3">
              <LongText label="Text of the document" text={document.data.text} />
            </div>
          </section>
        )}
      </article>
    </div>
  )
}

function Gone({ baseId, documentKey }: { readonly baseId: string; readonly documentKey: string }) {
  return (
    <EmptyNote isPage title="There is no such document">
      <span className="break-all">"{shownText(documentKey)}"</span> is not in this base, or not any more. What
      conversations have quoted of it stays in them. Its base is{' '}
      <Link to="/knowledge/$baseId" params={{ baseId }} className="text-accent underline">
        {baseId}
      </Link>
      .
    </EmptyNote>
  )
}

function DocumentHead({ baseId, document }: { readonly baseId: string; readonly document: KnowledgeDocument }) {
  const { key, title, uri, mediaType, revision, passages, ingestedAt, attributes, digest, failure } = document
  const isAdmin = usePrincipal()?.roles.includes('admin') === true
  return (
    <header className="flex flex-wrap items-start gap-x-6 gap-y-3">
      <div className="min-w-0 flex-1 basis-72">
        <Link to="/knowledge/$baseId" params={{ baseId }} className="text-accent underline-offset-2 hover:underline">
          ← {baseId}
        </Link>
        <h1 className="mt-1 line-clamp-4 break-words text-lg font-semibold" dir="auto">
          {shownText(title)}
        </h1>
        <p className="break-all font-mono text-xs text-muted">{shownText(key)}</p>
        {uri !== null && uri !== '' && <UriText uri={uri} />}
        <div className="mt-2">
          <FactList>
            <FactLine name="Type">{shownText(mediaType)}</FactLine>
            <FactLine name="Has">{count(passages, 'passage')}</FactLine>
            <FactLine name="Revision">{revision}</FactLine>
            <FactLine name="Read">
              <time dateTime={ingestedAt}>{formatMoment(ingestedAt)}</time>
            </FactLine>
            <FactLine name="Digest">
              <span className="font-mono" title={digest}>
                {digest.slice(0, 19)}…
              </span>
            </FactLine>
          </FactList>
        </div>
        <AttributePills attributes={attributes} />
        <RereadFailure failure={failure} />
      </div>
      {isAdmin && <DeleteDocument baseId={baseId} document={document} />}
    </header>
  )
}

function DeleteDocument({ baseId, document }: { readonly baseId: string; readonly document: KnowledgeDocument }) {
  const navigate = useNavigate()
  const [asks, setAsks] = useState(false)
  const remove = async () => {
    await witan.knowledge.documents.delete(baseId, document.key)
    refreshWithout(baseId, document.key)
    await navigate({ to: '/knowledge/$baseId', params: { baseId } })
  }
  return (
    <>
      <Button look="danger" onClick={() => setAsks(true)}>
        Delete …
      </Button>
      {asks && (
        <DeleteDialog
          title={`Delete ${shownText(document.title)}`}
          words="Delete the document"
          onDelete={remove}
          onClose={() => setAsks(false)}
        >
          <p>No later search finds it. What conversations have quoted of it stays in them.</p>
        </DeleteDialog>
      )}
    </>
  )
}

interface PassagesProps {
  readonly baseId: string
  readonly document: KnowledgeDocument
  readonly wanted: string | undefined
}

function Passages({ baseId, document, wanted }: PassagesProps) {
  const passages = usePassages(baseId, document.key)
  const items = passages.data?.pages.flatMap((page) => page.items) ?? []
  const [chosen, setChosen] = useState(wanted)
  const isFound = items.some(({ id }) => id === wanted)
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = passages
  // It may stand far behind: the pages before it are read first.
  useEffect(() => {
    if (wanted !== undefined && !isFound && hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [wanted, isFound, hasNextPage, isFetchingNextPage, fetchNextPage])
  const isGone = wanted !== undefined && !isFound && passages.data !== undefined && !hasNextPage
  return (
    <section aria-label="Passages" className="space-y-3">
      <div>
        <h2 className="text-base font-semibold">Passages</h2>
        <p className="text-muted">What a search finds of it, under the ids that answers name.</p>
      </div>
      {isGone && (
        <p role="status" className="rounded-md border border-wait-line bg-wait-soft px-3 py-2">
          The passage <span className="font-mono">{shownText(wanted)}</span> is not in the document any more: it has
          changed since it was quoted.
        </p>
      )}
      <Headings passages={items} onChoose={setChosen} />
      {passages.data === undefined ? (
        <UnreadNote query={passages} what="passages" />
      ) : items.length === 0 ? (
        <p className="text-muted">It has none: no text was found in it, and no search finds it.</p>
      ) : (
        <PassageList label="Passages of the document" passages={items} showsDocument={false} wanted={chosen} />
      )}
      {hasNextPage && (
        <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {isFetchingNextPage ? 'Loading …' : 'Show more passages'}
        </Button>
      )}
    </section>
  )
}

interface HeadingsProps {
  readonly passages: readonly Passage[]
  readonly onChoose: (id: string) => void
}

/** The headings of what is shown, each leading to its first passage. Nothing for a document with fewer than two. */
function Headings({ passages, onChoose }: HeadingsProps) {
  const lines = outlineOf(passages)
  if (lines.length < 2) return null
  return (
    <nav aria-label="Headings">
      <ul className="max-h-56 overflow-y-auto border-l-2 border-line pl-3">
        {lines.map(({ path, words, depth, passage }) => (
          <li key={path} style={{ paddingLeft: `${Math.min(depth, 5) * 0.9}rem` }}>
            <button
              type="button"
              onClick={() => onChoose(passage)}
              className="line-clamp-1 min-h-7 text-left text-accent underline-offset-2 hover:underline"
            >
              {shownText(words)}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  )
}
