/** The passages that an answer names: each with its document, its heading and where it comes from. */
import { Link } from '@tanstack/react-router'
import type { Source } from '@witan/protocol/knowledge'
import { shownText } from '@witan/protocol/shown'
import { useState } from 'react'
import { useReadsAll } from '../state/account.ts'
import { count } from '../state/format.ts'
import { webAddress } from '../state/markdown.ts'
import { Button } from './button.tsx'

const firstShown = 5

/** The first five, and the others when they are asked for. Nothing without sources. */
export function SourceList({ sources }: { readonly sources: readonly Source[] }) {
  const [showsAll, setShowsAll] = useState(false)
  const readsAll = useReadsAll()
  if (sources.length === 0) return null
  const shown = showsAll ? sources : sources.slice(0, firstShown)
  return (
    <section aria-label="Sources" data-testid="sources" className="rounded-md border border-line bg-panel px-3 py-2">
      <p className="label">{sources.length === 1 ? 'Source' : 'Sources'}</p>
      <ol className="mt-1 space-y-1.5">
        {shown.map((source) => (
          <li key={source.id} className="min-w-0">
            <SourceLine source={source} isLinked={readsAll} />
          </li>
        ))}
      </ol>
      {shown.length < sources.length && (
        <Button look="quiet" className="-ml-3 mt-1" onClick={() => setShowsAll(true)}>
          Show all {count(sources.length, 'source')}
        </Button>
      )}
    </section>
  )
}

function SourceLine({ source, isLinked }: { readonly source: Source; readonly isLinked: boolean }) {
  const { id, base, document, title, heading, uri } = source
  const name = shownText(title) || shownText(document) || id
  return (
    <div className="flex flex-wrap items-baseline gap-x-2">
      <span className="shrink-0 font-mono text-xs text-muted">[{shownText(id)}]</span>
      {isLinked ? (
        <Link
          to="/knowledge/$baseId/document"
          params={{ baseId: base }}
          search={{ key: document, passage: id }}
          className="line-clamp-2 min-w-0 break-words font-medium text-accent underline underline-offset-2"
          dir="auto"
        >
          {name}
        </Link>
      ) : (
        <span className="line-clamp-2 min-w-0 break-words font-medium" dir="auto">
          {name}
        </span>
      )}
      {heading !== '' && (
        <span className="line-clamp-2 min-w-0 break-words text-xs text-muted" dir="auto">
          {shownText(heading)}
        </span>
      )}
      {uri !== null && uri !== '' && <UriText uri={uri} />}
    </div>
  )
}

/** Where a document comes from: a link if it is the address of a web page, else a text. */
export function UriText({ uri }: { readonly uri: string }) {
  const url = webAddress(uri)
  const look = 'line-clamp-2 min-w-0 break-all text-xs'
  if (url === null) return <span className={`${look} text-muted`}>{shownText(uri)}</span>
  return (
    <a
      href={url.href}
      target="_blank"
      rel="noopener noreferrer nofollow"
      title={url.href}
      className={`${look} text-accent underline underline-offset-2`}
    >
      {shownText(url.href)}&nbsp;↗
    </a>
  )
}
