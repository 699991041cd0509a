/** The open interruptions of all conversations, answered here or in their conversation. */
import type { Interruption } from '@witan/protocol'
import { Link } from '@tanstack/react-router'
import { AgentName, AgentSign } from '../components/agent-sign.tsx'
import { InterruptionCard } from '../components/interruption-card.tsx'
import { EmptyNote, UnreadNote } from '../components/note.tsx'
import { toSegment } from '../state/address.ts'
import { formatAgo } from '../state/format.ts'
import { useWaiting } from '../state/queries.ts'
import { useNow } from '../state/use-now.ts'

/** The oldest first. */
export function WaitingPage() {
  const waiting = useWaiting()
  const now = useNow(true, 30_000)
  if (waiting.data === undefined) return <UnreadNote query={waiting} what="what waits" />
  const { items, isMore } = waiting.data
  if (items.length === 0) {
    return (
      <EmptyNote title="Nothing waits for you">
        Questions, calls to approve, messages and actions appear here as soon as a run needs an answer. Until you give
        it, the run waits; nothing else does.
      </EmptyNote>
    )
  }
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-3xl space-y-6 p-4 md:p-6">
        <h1 className="text-lg font-semibold">Waits for you</h1>
        <ul className="space-y-6" data-testid="waiting">
          {items.map((open) => (
            <li key={open.id} className="space-y-2">
              <Place open={open} now={now} />
              <InterruptionCard open={open} />
            </li>
          ))}
        </ul>
        {isMore && (
          <p className="text-muted">There are more than are shown here. Answer some of these to see the others.</p>
        )}
      </div>
    </div>
  )
}

function Place({ open, now }: { readonly open: Interruption; readonly now: number }) {
  const { agent, conversationId, createdAt } = open
  return (
    <p className="flex flex-wrap items-center gap-x-2 text-muted">
      <AgentSign id={agent} />
      <span className="font-medium text-ink">
        <AgentName id={agent} />
      </span>
      {createdAt !== undefined && <time dateTime={createdAt}>asked {formatAgo(createdAt, now)}</time>}
      {conversationId !== undefined && (
        <Link
          to="/conversations/$conversation"
          params={{ conversation: toSegment(conversationId) }}
          className="text-accent underline"
        >
          Open the conversation
        </Link>
      )}
    </p>
  )
}
