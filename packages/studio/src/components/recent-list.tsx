/** Conversations as links, the latest first, each with its state; and the field that searches them. */
import type { ConversationLine } from '@witan/protocol'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { toSegment } from '../state/address.ts'
import { callerWords } from '../state/caller.ts'
import { formatAgo } from '../state/format.ts'
import { latestFirst, lineState } from '../state/line-state.ts'
import { useAgents, useConversations, useWaiting } from '../state/queries.ts'
import { useFirstCode } from '../state/use-command.ts'
import { useNow } from '../state/use-now.ts'
import { AgentName, AgentSign } from './agent-sign.tsx'
import { Button } from './button.tsx'
import { CopyBlock } from './copy-button.tsx'
import { UnreadNote } from './note.tsx'
import { StateLabel } from './state-mark.tsx'

/** Fifty at first, more on request. */
export function RecentList() {
  const [typed, setTyped] = useState('')
  const search = useSettled(typed.trim())
  return (
    <>
      <div className="px-4 pb-2">
        <input
          type="search"
          aria-label="Search conversations"
          placeholder="Search: words, agent, id"
          maxLength={200}
          className="field"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </div>
      <Found search={search} />
    </>
  )
}

function Found({ search }: { readonly search: string }) {
  const conversations = useConversations(search)
  const waiting = useWaiting('mine').data?.items ?? []
  const now = useNow(true, 30_000)
  if (conversations.data === undefined) return <UnreadNote query={conversations} what="conversations" />
  const lines = latestFirst(conversations.data.pages.flatMap(({ items }) => items))
  return (
    <>
      <ul data-testid="recent" aria-busy={conversations.isPlaceholderData}>
        {lines.map((line) => (
          <RecentLine
            key={line.id}
            line={line}
            now={now}
            waits={waiting.filter(({ conversationId }) => conversationId === line.id).length}
          />
        ))}
      </ul>
      {lines.length === 0 && <NothingFound search={search} isAll={!conversations.hasNextPage} />}
      {conversations.hasNextPage && (
        <div className="px-4 py-2">
          <Button
            look="quiet"
            disabled={conversations.isFetchingNextPage}
            onClick={() => void conversations.fetchNextPage()}
          >
            {conversations.isFetchingNextPage ? 'Looking …' : search === '' ? 'Show older ones' : 'Search older ones'}
          </Button>
        </div>
      )}
    </>
  )
}

function NothingFound({ search, isAll }: { readonly search: string; readonly isAll: boolean }) {
  const code = useFirstCode()
  const isConfig = useAgents().data?.some(({ disabled }) => !disabled) !== true
  if (search === '') {
    return (
      <div className="space-y-3 px-4 py-3">
        <p className="text-pretty text-muted">None yet. The ones you start stay here, and open again as they were.</p>
        {!isConfig && <CopyBlock {...code} />}
      </div>
    )
  }
  return (
    <p role="status" className="px-4 py-3 text-pretty text-muted">
      {isAll ? 'No conversation' : 'None of the latest 2,000'} has “{search}” in its first words, its agent or its id.
    </p>
  )
}

interface LineProps {
  readonly line: ConversationLine
  readonly now: number
  readonly waits: number
}

/** The first message, or the id of a conversation without messages. */
function RecentLine({ line, now, waits }: LineProps) {
  const { id, agent, firstMessage, lastMessageAt, lastRun } = line
  const caller = lastRun?.caller
  const shown = lineState(line, waits)
  return (
    <li data-state={shown?.state}>
      <Link
        to="/conversations/$conversation"
        params={{ conversation: toSegment(id) }}
        title={id}
        className="flex gap-2.5 border-l-2 border-transparent py-2 pr-4 pl-3.5 hover:bg-sunken data-[status=active]:border-accent data-[status=active]:bg-accent-soft"
      >
        <span className="pt-px">
          <AgentSign id={agent} />
        </span>
        <span className="min-w-0 flex-1">
          <span className="block truncate font-medium">{firstMessage || id}</span>
          <span className="flex justify-between gap-3 text-xs text-muted">
            <span className="min-w-0 truncate">
              <AgentName id={agent} />
            </span>
            <time className="shrink-0" dateTime={lastMessageAt}>
              {formatAgo(lastMessageAt, now)}
            </time>
          </span>
          {caller !== undefined && <span className="block break-all text-xs text-muted">{callerWords(caller)}</span>}
          {shown !== null && (
            <span className="flex pt-0.5">
              <StateLabel state={shown.state} words={shown.words} />
            </span>
          )}
        </span>
      </Link>
    </li>
  )
}

const pauseMs = 200

/** The value as it was when it last stood still. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
