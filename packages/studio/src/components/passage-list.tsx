/** Passages as models read them: in order, each under its heading, with the document that it is in. */
import { Link } from '@tanstack/react-router'
import type { Passage } from '@witan/protocol/knowledge'
import { shownText } from '@witan/protocol/shown'
import { useEffect, useRef } from 'react'
import { LongText } from './long-text.tsx'

interface ListProps {
  readonly label: string
  readonly passages: readonly Passage[]
  /** Says which document each is in. */
  readonly showsDocument: boolean
  /** The id of one that takes the focus. */
  readonly wanted?: string | undefined
}

/** A list with numbers. */
export function PassageList({ label, passages, showsDocument, wanted }: ListProps) {
  return (
    <ol aria-label={label} className="divide-y divide-line rounded-md border border-line bg-panel">
      {passages.map((passage, index) => (
        <PassageItem
          key={passage.id}
          passage={passage}
          number={index + 1}
          showsDocument={showsDocument}
          isWanted={passage.id === wanted}
        />
      ))}
    </ol>
  )
}

interface ItemProps {
  readonly passage: Passage
  readonly number: number
  readonly showsDocument: boolean
  readonly isWanted: boolean
}

function PassageItem({ passage, number, showsDocument, isWanted }: ItemProps) {
  const { id, base, document, title, heading, text } = passage
  const item = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (!isWanted) return
    item.current?.scrollIntoView({ block: 'center' })
    item.current?.focus({ preventScroll: true })
  }, [isWanted])
  return (
    <li
      ref={item}
      tabIndex={-1}
      data-passage={id}
      className={`px-4 py-3 outline-accent focus:outline-2 ${isWanted ? 'bg-accent-soft' : ''}`}
    >
      <p className="flex flex-wrap items-baseline gap-x-2 gap-y-0.5">
        <span className="shrink-0 text-xs text-muted tabular-nums">{number}.</span>
        {showsDocument && (
          <Link
            to="/knowledge/$baseId/document"
            params={{ baseId: base }}
            search={{ key: document, passage: id }}
            className="line-clamp-2 min-w-0 break-words font-medium text-accent underline underline-offset-2"
            dir="auto"
          >
            {shownText(title) || shownText(document)}
          </Link>
        )}
        {heading !== '' && (
          <span className="line-clamp-3 min-w-0 break-words font-medium" dir="auto">
            {shownText(heading)}
          </span>
        )}
        <span className="font-mono text-xs text-muted">[{id}]</span>
      </p>
      {showsDocument && <p className="line-clamp-2 break-all font-mono text-xs text-muted">{shownText(document)}</p>}
      <div className="mt-1.5">
        <LongText label={`Passage ${number}`} text={text} />
      </div>
    </li>
  )
}
