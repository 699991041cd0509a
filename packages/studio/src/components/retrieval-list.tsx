/** What messages to an agent found in its knowledge bases by themselves: each query with the passages that its model read. */
import { Link } from '@tanstack/react-router'
import type { CallView } from '@witan/client'
import { shownText } from '@witan/protocol/shown'
import { useReadsAll } from '../state/account.ts'
import { count } from '../state/format.ts'

/** Nothing without any. */
export function RetrievalList({ retrievals }: Pick<CallView, 'retrievals'>) {
  const readsAll = useReadsAll()
  if (retrievals.length === 0) return null
  return (
    <div>
      <p className="label">Looked up by itself</p>
      <ul aria-label="Looked up by itself" className="mt-1 divide-y divide-line rounded-md border border-line bg-panel">
        {retrievals.map(({ seq, query, passages }) => (
          <li key={seq} className="space-y-1 px-2.5 py-2">
            <p className="line-clamp-3 break-words" dir="auto">
              {shownText(query)}
            </p>
            <p className="text-xs text-muted">
              {passages.length === 0 ? 'found nothing' : `found ${count(passages.length, 'passage')}`}
            </p>
            {passages.length > 0 && (
              <ol className="space-y-0.5 text-xs">
                {passages.map(({ id, base, document }) => (
                  <li key={`${base} ${id}`} className="break-all">
                    <span className="font-mono text-muted">[{shownText(id)}]</span>{' '}
                    {readsAll ? (
                      <Link
                        to="/knowledge/$baseId/document"
                        params={{ baseId: base }}
                        search={{ key: document, passage: id }}
                        className="text-accent underline underline-offset-2"
                      >
                        {shownText(`${base}/${document}`)}
                      </Link>
                    ) : (
                      shownText(`${base}/${document}`)
                    )}
                  </li>
                ))}
              </ol>
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}
