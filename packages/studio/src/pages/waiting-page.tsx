/** The open interruptions of all conversations, answered here or in their conversation. */
import type { Interruption } from '@witan/protocol'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../components/button.tsx'
import { AgentName, AgentSign } from '../components/agent-sign.tsx'
import { InterruptionCard } from '../components/interruption-card.tsx'
import { EmptyNote, UnreadNote } from '../components/note.tsx'
import { toSegment } from '../state/address.ts'
import { formatAgo } from '../state/format.ts'
import { useWaiting, type WaitsFor } from '../state/queries.ts'
import { useCommand } from '../state/use-command.ts'
import { useNow } from '../state/use-now.ts'

/** The oldest first. */
export function WaitingPage() {
  const [whom, setWhom] = useState<WaitsFor>('mine')
  const waiting = useWaiting(whom)
  const list = useCommand('interruptions list')
  const now = useNow(true, 30_000)
  if (waiting.data === undefined) return <UnreadNote query={waiting} what="what waits" page="Waiting" />
  const { items, isMore } = waiting.data
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-3xl space-y-6 p-4 md:p-6">
        <div className="flex flex-wrap items-center justify-between gap-3">
          <h1 className="text-lg font-semibold">{whom === 'all' ? 'All that waits' : 'Waits for you'}</h1>
          <Whom whom={whom} onWhom={setWhom} />
        </div>
        {items.length === 0 && (
          <EmptyNote title={empty[whom]} code={{ label: 'The same list in a terminal', text: list }}>
            Questions, calls to approve, messages and actions appear here as soon as a run needs an answer. Until
            somebody gives it, the run waits; nothing else does.
          </EmptyNote>
        )}
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

const empty: Readonly<Record<WaitsFor, string>> = {
  mine: 'Nothing waits for you',
  all: 'Nothing waits',
  me: 'Nothing is addressed to you',
  none: 'Nothing without an addressee waits',
}

const choices: readonly (readonly [WaitsFor, string])[] = [
  ['mine', 'What I may answer'],
  ['me', 'For me'],
  ['none', 'Without an addressee'],
  ['all', 'Everything'],
]

function Whom({ whom, onWhom }: { readonly whom: WaitsFor; readonly onWhom: (whom: WaitsFor) => void }) {
  return (
    <fieldset aria-label="For whom" className="flex flex-wrap gap-1">
      {choices.map(([value, words]) => (
        <Button
          key={value}
          look={value === whom ? 'plain' : 'quiet'}
          aria-pressed={value === whom}
          onClick={() => onWhom(value)}
        >
          {words}
        </Button>
      ))}
    </fieldset>
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
