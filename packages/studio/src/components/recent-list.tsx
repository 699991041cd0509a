/** The latest conversations, as links. */
import { Link } from '@tanstack/react-router'
import { toSegment } from '../state/address.ts'
import { formatAgo } from '../state/format.ts'
import { useConversations } from '../state/queries.ts'
import { useNow } from '../state/use-now.ts'
import { LoadingNote, ProblemNote } from './note.tsx'

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
        <li key={conversation.id}>
          <Link
            to="/conversations/$conversation"
            params={{ conversation: toSegment(conversation.id) }}
            className="block border-l-2 border-transparent px-4 py-2 hover:bg-sunken data-[status=active]:border-accent data-[status=active]:bg-accent-soft"
          >
            <span className="block truncate font-medium">{conversation.agent}</span>
            <span className="flex justify-between gap-3 text-xs text-muted">
              <span className="min-w-0 truncate font-mono">{conversation.id}</span>
              <time className="shrink-0" dateTime={conversation.lastMessageAt}>
                {formatAgo(conversation.lastMessageAt, now)}
              </time>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
