/** The documents of a base, by key: all, or those whose keys begin with a prefix. */
import { Link } from '@tanstack/react-router'
import type { KnowledgeDocumentLine, StoredKnowledgeBase } from '@witan/protocol/knowledge'
import { shownText } from '@witan/protocol/shown'
import { usePrincipal } from '../state/account.ts'
import { attributeText, demandedAttributes } from '../state/knowledge.ts'
import { count, formatAgo, formatMoment } from '../state/format.ts'
import { useKnowledgeDocuments } from '../state/knowledge-queries.ts'
import { useCommand } from '../state/use-command.ts'
import { useNow } from '../state/use-now.ts'
import { Button } from './button.tsx'
import { CopyBlock } from './copy-button.tsx'
import { UnreadNote } from './note.tsx'
import { Pill } from './pill.tsx'
import { TextLine } from './text-line.tsx'

interface ListProps {
  readonly base: StoredKnowledgeBase
  readonly prefix: string
  readonly onPrefix: (prefix: string) => void
}

/** A page at a time. */
export function KnowledgeDocuments({ base, prefix, onPrefix }: ListProps) {
  const documents = useKnowledgeDocuments(base, prefix)
  const now = useNow(true, 30_000)
  const items = documents.data?.pages.flatMap((page) => page.items)
  const isNone = items?.length === 0
  return (
    <div className="mt-3 space-y-3">
      {(prefix !== '' || !isNone) && (
        <div className="max-w-sm">
          <TextLine
            label="Keys that begin with"
            value={prefix}
            onChange={onPrefix}
            placeholder="such as guides/"
            code
          />
        </div>
      )}
      {items === undefined ? (
        <UnreadNote query={documents} what="documents" />
      ) : isNone ? (
        <NoDocuments base={base} prefix={prefix} />
      ) : (
        <ul aria-label="Documents" className="divide-y divide-line rounded-md border border-line bg-panel">
          {items.map((one) => (
            <li key={one.key}>
              <DocumentLine base={base.id} document={one} now={now} />
            </li>
          ))}
        </ul>
      )}
      {documents.hasNextPage && (
        <Button disabled={documents.isFetchingNextPage} onClick={() => void documents.fetchNextPage()}>
          {documents.isFetchingNextPage ? 'Loading …' : 'Show more documents'}
        </Button>
      )}
    </div>
  )
}

/** What to do about a base without documents, for who may; or that the prefix has none. */
function NoDocuments({ base, prefix }: Omit<ListProps, 'onPrefix'>) {
  const command = useCommand(`knowledge add ${base.id} office.md${demandedAttributes(base)}`)
  const isAdmin = usePrincipal()?.roles.includes('admin') === true
  if (prefix !== '') return <p className="text-muted">No key of a document begins so.</p>
  if (!isAdmin) return <p className="text-muted">It has no documents yet.</p>
  return (
    <div className="space-y-3">
      <p className="text-muted">
        It has no documents yet. Add files above, or with the command line, which takes whole folders too.
      </p>
      <CopyBlock label="A first document" text={`echo "The office opens at nine." > office.md && ${command}`} />
    </div>
  )
}

interface LineProps {
  readonly base: string
  readonly document: KnowledgeDocumentLine
  readonly now: number
}

function DocumentLine({ base, document, now }: LineProps) {
  const { key, title, mediaType, passages, ingestedAt, attributes, failure } = document
  return (
    <div className="grid gap-x-4 gap-y-1 px-4 py-2.5 sm:grid-cols-[minmax(0,1fr)_auto]">
      <div className="min-w-0">
        <Link
          to="/knowledge/$baseId/document"
          params={{ baseId: base }}
          search={{ key }}
          className="line-clamp-2 break-words font-medium text-accent underline underline-offset-2"
          dir="auto"
        >
          {shownText(title)}
        </Link>
        {title !== key && <p className="line-clamp-2 break-all font-mono text-xs text-muted">{shownText(key)}</p>}
        <AttributePills attributes={attributes} />
        <RereadFailure failure={failure} />
      </div>
      <p className="flex flex-wrap gap-x-3 text-xs text-muted tabular-nums sm:flex-col sm:items-end">
        <span className="max-w-64 truncate">{shownText(mediaType)}</span>
        {passages === 0 ? (
          <span className="text-wait">no text: never found</span>
        ) : (
          <span>{count(passages, 'passage')}</span>
        )}
        <time dateTime={ingestedAt}>{formatAgo(ingestedAt, now)}</time>
      </p>
    </div>
  )
}

/** Why a document is still found in an old form, and when it is tried again. Nothing where nothing failed. */
export function RereadFailure({ failure }: Pick<KnowledgeDocumentLine, 'failure'>) {
  if (failure === null) return null
  const { code, detail, attempts, retryAt } = failure
  return (
    <p className="mt-1 break-words text-xs text-wait">
      Found in its old form: it could not be read again ({code}, {count(attempts, 'attempt')}). {shownText(detail)}{' '}
      {retryAt === null ? 'It is left until it or its base changes.' : `The next try: ${formatMoment(retryAt)}.`}
    </p>
  )
}

/** What a document says of itself, by which agents are let in. Nothing without attributes. */
export function AttributePills({ attributes }: Pick<KnowledgeDocumentLine, 'attributes'>) {
  const entries = Object.entries(attributes)
  if (entries.length === 0) return null
  return (
    <ul aria-label="Attributes" className="mt-1 flex flex-wrap gap-1.5">
      {entries.map(([name, value]) => (
        <li key={name} className="max-w-full overflow-hidden">
          <Pill>
            {name}:{' '}
            <span className="inline-block max-w-48 truncate align-bottom">{shownText(attributeText(value))}</span>
          </Pill>
        </li>
      ))}
    </ul>
  )
}
