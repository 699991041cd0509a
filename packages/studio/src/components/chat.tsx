/** The chat: people's messages and the answers of the agents that spoke, with open interruptions where they arose. */
import type { Interruption } from '@witan/protocol'
import { type ReactNode, useEffect, useRef } from 'react'
import { savedIn } from '../state/artifacts.ts'
import { callerText } from '../state/caller.ts'
import { chatItems } from '../state/chat-items.ts'
import { decisionsIn } from '../state/decisions.ts'
import { count, formatTimes, formatTokens } from '../state/format.ts'
import { useAgentName, useParticipants } from '../state/queries.ts'
import { type CallView, type ChatMessage, type ConversationView, speakersOf } from '@witan/client'
import { timesOf } from '../state/spans.ts'
import { callPath, countCalls, runSummary } from '../state/tree.ts'
import { useNow } from '../state/use-now.ts'
import { AgentName, AgentSign } from './agent-sign.tsx'
import { ArtifactChips } from './artifact-chips.tsx'
import { DecisionList } from './decision-list.tsx'
import { InterruptionCard } from './interruption-card.tsx'
import { Markdown } from './markdown.tsx'
import { MessageFiles } from './message-files.tsx'
import { MessageMenu } from './message-menu.tsx'
import { ProblemNote } from './note.tsx'
import { Pill } from './pill.tsx'
import { LiveReasoning } from './reasoning.tsx'
import { SourceList } from './source-list.tsx'
import { StateLabel } from './state-mark.tsx'

interface ChatProps {
  readonly conversationId: string
  readonly view: ConversationView
  readonly open: readonly Interruption[]
  /** A prompt on its way, not yet in the log. */
  readonly onItsWay: string | null
  readonly onShowRun: (runId: string) => void
  readonly onShowArtifact: (id: string) => void
  readonly onReaders: (seq: number) => void
  /** A message that gets the focus; each new object gives it again. */
  readonly wanted: { readonly seq: number } | null
}

/** Keeps its end in sight while it grows, unless the reader has scrolled up. */
export function Chat({ conversationId, view, open, onItsWay, onShowRun, onShowArtifact, ...rest }: ChatProps) {
  const { onReaders, wanted } = rest
  const end = useRef<HTMLDivElement>(null)
  const people = useParticipants(conversationId).data ?? []
  const personName = (author: string) =>
    author === 'user' ? 'You' : (people.find(({ id }) => id === author)?.name ?? author)
  useFollowEnd(end, view, onItsWay)
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (wanted !== null) list.current?.querySelector<HTMLElement>(`[data-message="${wanted.seq}"]`)?.focus()
  }, [wanted])
  return (
    <div
      ref={list}
      className="mx-auto flex max-w-3xl flex-col gap-5 p-4 md:px-6"
      role="log"
      aria-label="Conversation"
      data-testid="chat"
    >
      {chatItems(view).map((item) =>
        item.kind === 'message' ? (
          <PersonSays
            key={item.key}
            text={item.message.text}
            author={callerOf(view, item.message) ?? personName(item.message.author)}
            seq={item.message.seq}
            onReaders={onReaders}
          >
            {item.message.files !== undefined && (
              <MessageFiles conversationId={conversationId} files={item.message.files} />
            )}
          </PersonSays>
        ) : item.kind === 'change' ? (
          <p key={item.key} data-testid="change" className="self-center text-xs text-muted">
            {item.change.name ?? item.change.user} {item.change.change === 'joined' ? 'joined' : 'left'}
          </p>
        ) : (
          <RunAnswer
            key={item.key}
            view={view}
            runId={item.runId}
            open={open.filter((one) => view.calls.get(one.callId)?.rootCallId === item.runId)}
            onShow={() => onShowRun(item.runId)}
            onShowArtifact={onShowArtifact}
            onReaders={onReaders}
          />
        ),
      )}
      {onItsWay !== null && <PersonSays text={onItsWay} author="sending …" />}
      <div ref={end} />
    </div>
  )
}

/** The address and hop that called, of its own words. */
function callerOf(view: ConversationView, { author, rootCallId }: ChatMessage): string | null {
  const caller = view.calls.get(rootCallId)?.caller ?? null
  return caller?.address === author ? callerText(caller) : null
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
  /** Where it stands in the log, once it does. */
  readonly seq?: number
  readonly onReaders?: (seq: number) => void
  readonly children?: ReactNode
}

function PersonSays({ text, author, seq, onReaders, children }: PersonProps) {
  return (
    <div
      data-message={seq}
      tabIndex={-1}
      className="max-w-[85%] self-end rounded-lg bg-accent-soft px-3.5 py-2 outline-accent focus:outline-2"
    >
      <div className="flex items-center justify-between gap-3 text-xs text-muted">
        <p>{author}</p>
        {seq !== undefined && onReaders !== undefined && (
          <MessageMenu author={author} text={text} seq={seq} onReaders={onReaders} />
        )}
      </div>
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
  readonly onShowArtifact: (id: string) => void
  readonly onReaders: (seq: number) => void
}

function RunAnswer({ view, runId, open, onShow, onShowArtifact, onReaders }: AnswerProps) {
  const root = view.calls.get(runId)
  const summary = runSummary(view, runId)
  const active = summary.state === 'running'
  const now = useNow(active || summary.state === 'waiting', 500)
  const nameOf = useAgentName()
  if (root === undefined) return null
  const { agents, agentCalls, toolCalls } = countCalls(view, runId)
  const speakers = speakersOf(view, runId)
  const speaker = speakers.at(-1) ?? root
  const waitsFor = deepestActive(view, speaker.callId)?.map((call) =>
    call.kind === 'agent' ? nameOf(call.name) : call.name,
  )
  return (
    <article data-testid="answer" data-state={summary.state} className="space-y-2.5">
      <div className="space-y-5">
        {speakers.map((one, index) => (
          <Spoken
            key={one.callId}
            view={view}
            call={one}
            writing={one === speaker && active && waitsFor === undefined}
            marks={
              <>
                {root.hidden && <Pill>follow-up</Pill>}
                {one === speaker && summary.state !== 'completed' && <StateLabel state={summary.state} />}
                {one.text !== '' && one.endedAt !== null && (
                  <MessageMenu author={nameOf(one.name)} text={one.text} seq={one.answerSeq} onReaders={onReaders} />
                )}
              </>
            }
          >
            {index === 0 && <DecisionList decisions={decisionsIn(view, runId)} />}
          </Spoken>
        ))}
      </div>
      {active && waitsFor !== undefined && <p className="text-muted">{waitsFor.join(' › ')} is at work …</p>}
      {root.error !== null && summary.state !== 'cancelled' && <ProblemNote error={root.error} />}
      <ArtifactChips artifacts={savedIn(view, runId)} onShow={onShowArtifact} />
      {open.map((one) => (
        <InterruptionCard key={one.id} open={one} />
      ))}
      <button
        type="button"
        onClick={onShow}
        className="text-xs text-muted tabular-nums underline-offset-2 hover:underline"
      >
        {count(agents, 'agent')}, {count(agentCalls, 'call')}, {count(toolCalls, 'tool call')} ·{' '}
        {formatTokens(summary.tokens)} tokens · {formatTimes(timesOf(view, runId, now))}
      </button>
    </article>
  )
}

interface SpokenProps {
  readonly view: ConversationView
  readonly call: CallView
  readonly writing: boolean
  /** Beside its name. */
  readonly marks: ReactNode
  /** Between its name and its text. */
  readonly children: ReactNode
}

/** What one agent says, under its name; after a hand-over with the agent that handed over. */
function Spoken({ view, call, writing, marks, children }: SpokenProps) {
  const source = view.calls.get(call.handedFrom ?? '')
  return (
    <section data-testid="spoken" className="space-y-2.5">
      <div className="flex flex-wrap items-center gap-x-3">
        <span className="flex items-center gap-2 font-semibold">
          <AgentSign id={call.name} large />
          <AgentName id={call.name} />
        </span>
        {source !== undefined && (
          <span className="text-xs text-muted">
            took over from <AgentName id={source.name} />
          </span>
        )}
        {marks}
      </div>
      {children}
      <LiveReasoning reasoned={call.reasoned} />
      {call.text !== '' && (
        <div className="text-base">
          <Markdown text={call.text} writing={writing} />
        </div>
      )}
      <SourceList sources={call.sources} />
    </section>
  )
}

function isAtWork(view: ConversationView, callId: string): boolean {
  const call = view.calls.get(callId)
  return call?.state === 'running' && !call.background
}

/** The path from a call to the innermost call at work below it; undefined where the call itself is at work. */
function deepestActive(view: ConversationView, from: string): readonly CallView[] | undefined {
  let callId = from
  for (;;) {
    const next = view.calls.get(callId)?.children.findLast((child) => isAtWork(view, child))
    if (next === undefined) break
    callId = next
  }
  return callId === from ? undefined : callPath(view, callId).slice(callPath(view, from).length)
}
