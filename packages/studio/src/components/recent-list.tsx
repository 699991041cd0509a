/** The latest conversations, as links. */
import type { Conversation } from '@witan/protocol'
import { Link } from '@tanstack/react-router'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { toSegment } from '../state/address.ts'
import { formatAgo } from '../state/format.ts'
import { useBeginning, useConversations } from '../state/queries.ts'
import { useNow } from '../state/use-now.ts'
import { LoadingNote, ProblemNote } from './note.tsx'

type Listed = Pick<Conversation, 'id' | 'agent' | 'lastMessageAt'>

/** At most 100, the latest first. */
export function RecentList() {
  const conversations = useConversations()
  const now = useNow(true, 30_000)
  if (conversations.isPending) return <LoadingNote what="conversations" />
  if (conversations.isError) {
    return (
      <div className="p-3">
        <ProblemNote error={conversations.error} onRetry={() => void conversations.refetch()} />
      </div>
    )
  }
  if (conversations.data.length === 0) {
    return (
      <p className="px-4 py-3 text-pretty text-muted">
        None yet. The ones you start stay here, and open again as they were.
      </p>
    )
  }
  return (
    <ul data-testid="recent">
      {conversations.data.map((conversation) => (
        <RecentLine key={conversation.id} conversation={conversation} now={now} />
      ))}
    </ul>
  )
}

/** What it began with, or its id where nobody has said anything; read when the line comes into sight. */
function RecentLine({ conversation, now }: { readonly conversation: Listed; readonly now: number }) {
  const { id, agent, lastMessageAt } = conversation
  const [line, isSeen] = useSeen()
  const beginning = useBeginning(id, isSeen)
  return (
    <li ref={line}>
      <Link
        to="/conversations/$conversation"
        params={{ conversation: toSegment(id) }}
        title={id}
        className="block border-l-2 border-transparent px-4 py-2 hover:bg-sunken data-[status=active]:border-accent data-[status=active]:bg-accent-soft"
      >
        <span className="block truncate font-medium">{beginning.data || id}</span>
        <span className="flex justify-between gap-3 text-xs text-muted">
          <span className="min-w-0 truncate">{agent}</span>
          <time className="shrink-0" dateTime={lastMessageAt}>
            {formatAgo(lastMessageAt, now)}
          </time>
        </span>
      </Link>
    </li>
  )
}

/** Whether an element has come into sight. */
function useSeen(): [RefObject<HTMLLIElement | null>, boolean] {
  const element = useRef<HTMLLIElement>(null)
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    if (element.current === null) return
    const observer = new IntersectionObserver((changes) => {
      if (changes.some(({ isIntersecting }) => isIntersecting)) setSeen(true)
    })
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [])
  return [element, isSeen]
}
