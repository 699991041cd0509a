/** The chat: people's messages and the root agent's answers, with open interruptions where they arose. */
import type { Interruption } from '@witan/protocol'
import { type ReactNode, useEffect, useRef } from 'react'
import { chatItems } from '../state/chat-items.ts'
import { decisionsIn } from '../state/decisions.ts'
import { count, formatTimes, formatTokens } from '../state/format.ts'
import { useAgentName } from '../state/queries.ts'
import type { CallView, ConversationView } from '@witan/client'
import { timesOf } from '../state/spans.ts'
import { callPath, countCalls, runSummary } from '../state/tree.ts'
import { useNow } from '../state/use-now.ts'
import { AgentName, AgentSign } from './agent-sign.tsx'
import { DecisionList } from './decision-list.tsx'
import { InterruptionCard } from './interruption-card.tsx'
import { Markdown } from './markdown.tsx'
import { MessageFiles } from './message-files.tsx'
import { ProblemNote } from './note.tsx'
import { Pill } from './pill.tsx'
import { LiveReasoning } from './reasoning.tsx'
import { StateLabel } from './state-mark.tsx'

interface ChatProps {
  readonly conversationId: string
  readonly view: ConversationView
  readonly open: readonly Interruption[]
  /** A prompt on its way, not yet in the log. */
  readonly onItsWay: string | null
  readonly onShowRun: (runId: string) => void
}

/** Keeps its end in sight while it grows, unless the reader has scrolled up. */
export function Chat({ conversationId, view, open, onItsWay, onShowRun }: ChatProps) {
  const end = useRef<HTMLDivElement>(null)
  useFollowEnd(end, view, onItsWay)
  return (
    <div
      className="mx-auto flex max-w-3xl flex-col gap-5 p-4 md:px-6"
      role="log"
      aria-label="Conversation"
      data-testid="chat"
    >
      {chatItems(view).map((item) =>
        item.kind === 'message' ? (
          <PersonSays key={item.key} text={item.message.text} author={item.message.author}>
            {item.message.files !== undefined && (
              <MessageFiles conversationId={conversationId} files={item.message.files} />
            )}
          </PersonSays>
        ) : (
          <RunAnswer
            key={item.key}
            view={view}
            runId={item.runId}
            open={open.filter((one) => view.calls.get(one.callId)?.rootCallId === item.runId)}
            onShow={() => onShowRun(item.runId)}
          />
        ),
      )}
      {onItsWay !== null && <PersonSays text={onItsWay} author="sending …" />}
      <div ref={end} />
    </div>
  )
}

function useFollowEnd(
  end: { readonly current: HTMLElement | null },
  view: ConversationView,
  onItsWay: string | null,
): void {
  const seen = useRef(true)
  useEffect(() => {
    const element = end.current
    if (element === null) return
    const watcher = new IntersectionObserver(([entry]) => (seen.current = entry?.isIntersecting ?? true), {
      rootMargin: '0px 0px 120px',
    })
    watcher.observe(element)
    return () => watcher.disconnect()
  }, [end])
  // biome-ignore lint/correctness/useExhaustiveDependencies: what has grown is what asks for the scroll.
  useEffect(() => {
    if (seen.current) end.current?.scrollIntoView({ block: 'nearest' })
  }, [end, view, onItsWay])
}

interface PersonProps {
  readonly text: string
  readonly author: string
  readonly children?: ReactNode
}

function PersonSays({ text, author, children }: PersonProps) {
  return (
    <div className="max-w-[85%] self-end rounded-lg bg-accent-soft px-3.5 py-2">
      <p className="text-xs text-muted">{author === 'user' ? 'You' : author}</p>
      {text !== '' && <p className="whitespace-pre-wrap break-words text-base">{text}</p>}
      {children}
    </div>
  )
}

interface AnswerProps {
  readonly view: ConversationView
  readonly runId: string
  readonly open: readonly Interruption[]
  readonly onShow: () => void
}

function RunAnswer({ view, runId, open, onShow }: AnswerProps) {
  const root = view.calls.get(runId)
  const summary = runSummary(view, runId)
  const active = summary.state === 'running'
  const now = useNow(active || summary.state === 'waiting', 500)
  const nameOf = useAgentName()
  if (root === undefined) return null
  const { agents, tools } = countCalls(view, runId)
  const waitsFor = deepestActive(view, runId)?.map((call) => (call.kind === 'agent' ? nameOf(call.name) : call.name))
  return (
    <article data-testid="answer" data-state={summary.state} className="space-y-2.5">
      <p className="flex flex-wrap items-center gap-x-3">
        <span className="flex items-center gap-2 font-semibold">
          <AgentSign id={root.name} large />
          <AgentName id={root.name} />
        </span>
        {root.hidden && <Pill>follow-up</Pill>}
        {summary.state !== 'completed' && <StateLabel state={summary.state} />}
      </p>
      <DecisionList decisions={decisionsIn(view, runId)} />
      <LiveReasoning reasoned={root.reasoned} />
      {root.text !== '' && (
        <div className="text-base">
          <Markdown text={root.text} writing={active && waitsFor === undefined} />
        </div>
      )}
      {active && waitsFor !== undefined && <p className="text-muted">{waitsFor.join(' › ')} is at work …</p>}
      {root.error !== null && summary.state !== 'cancelled' && (
        <ProblemNote error={Object.assign(new Error(root.error.detail), { code: root.error.code })} />
      )}
      {open.map((one) => (
        <InterruptionCard key={one.id} open={one} />
      ))}
      <button
        type="button"
        onClick={onShow}
        className="text-xs text-muted tabular-nums underline-offset-2 hover:underline"
      >
        {count(agents, 'agent')}, {count(tools, 'tool call')} · {formatTokens(summary.tokens)} tokens ·{' '}
        {formatTimes(timesOf(view, runId, now))}
      </button>
    </article>
  )
}

function isAtWork(view: ConversationView, callId: string): boolean {
  const call = view.calls.get(callId)
  return call?.state === 'running' && !call.background
}

/** The path to the innermost call at work below the root; undefined where the root itself is. */
function deepestActive(view: ConversationView, runId: string): readonly CallView[] | undefined {
  let callId = runId
  for (;;) {
    const next = view.calls.get(callId)?.children.findLast((child) => isAtWork(view, child))
    if (next === undefined) break
    callId = next
  }
  return callId === runId ? undefined : callPath(view, callId).slice(1)
}
