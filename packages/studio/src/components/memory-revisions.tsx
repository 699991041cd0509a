/** The texts that a block has had: who wrote each, when, and in which run. */
import type { MemoryBlock } from '@witan/protocol/memory'
import { shownText } from '@witan/protocol/shown'
import { usePrincipal } from '../state/account.ts'
import { formatMoment } from '../state/format.ts'
import { writerWords } from '../state/memory.ts'
import { useBlockRevisions } from '../state/memory-queries.ts'
import { useAgentName } from '../state/queries.ts'
import { Button } from './button.tsx'
import { ConversationLink } from './conversation-links.tsx'
import { LongText } from './long-text.tsx'
import { UnreadNote } from './note.tsx'

/** The latest first. */
export function MemoryRevisions({ block: { id, key, revision: latest } }: { readonly block: MemoryBlock }) {
  const pages = useBlockRevisions(id, latest)
  const nameOf = useAgentName()
  const own = usePrincipal()?.id
  if (pages.data === undefined) return <UnreadNote query={pages} what="the revisions" />
  return (
    <div className="space-y-2">
      <ol aria-label={`Revisions of ${shownText(key)}`} className="divide-y divide-line rounded-md border border-line">
        {pages.data.pages
          .flatMap(({ items }) => items)
          .map(({ revision, text, at, writtenBy }) => (
            <li key={revision} className="space-y-1 px-3 py-2">
              <p className="flex flex-wrap gap-x-3 text-xs text-muted">
                <span className="font-semibold text-ink">Revision {revision}</span>
                <span className="min-w-0 break-all">{writerWords(writtenBy, nameOf, own)}</span>
                <time dateTime={at}>{formatMoment(at)}</time>
                {writtenBy.conversationId !== null && (
                  <ConversationLink id={writtenBy.conversationId} run={writtenBy.runId} />
                )}
              </p>
              <LongText label={`Text of revision ${revision}`} text={text} />
            </li>
          ))}
      </ol>
      {pages.hasNextPage && <Button onClick={() => void pages.fetchNextPage()}>Earlier revisions</Button>}
    </div>
  )
}
