/** One conversation: the chat, and beside it the live tree of the run. */
import { Link } from '@tanstack/react-router'
import type { Interruption } from '@witan/protocol'
import { useCallback, useEffect, useRef, useState } from 'react'
import { buttonLook } from '../components/button.tsx'
import { AgentName, AgentSign } from '../components/agent-sign.tsx'
import { Chat } from '../components/chat.tsx'
import { Composer } from '../components/composer.tsx'
import { LoadingNote, ProblemNote, UnreadNote } from '../components/note.tsx'
import { PeoplePanel } from '../components/people-panel.tsx'
import { ReadersDialog } from '../components/readers-dialog.tsx'
import { RecentList } from '../components/recent-list.tsx'
import { RunPanel } from '../components/run-panel.tsx'
import { ScrollBox } from '../components/scroll-box.tsx'
import { TaskList } from '../components/task-list.tsx'
import type { ConversationPlace } from '../state/place.ts'
import { putFiles, takeFiles } from '../state/attachments.ts'
import { draftOf, putDraft } from '../state/drafts.ts'
import { releasePrompt, sendPrompt, useSentPrompt, wordsOf } from '../state/prompt.ts'
import { refreshConversation, refreshParticipants, useConversation, useParticipants } from '../state/queries.ts'
import type { ConversationView } from '@witan/client'
import { runSummary } from '../state/tree.ts'
import { useEvents } from '../state/use-events.ts'

interface PageProps {
  readonly conversationId: string
  /** What is shown of it, which stands in the address. */
  readonly place: ConversationPlace
  readonly onPlace: (change: Partial<ConversationPlace>) => void
}

/** All state comes from the server and from the address, so a reload shows the same. */
export function ConversationPage({ conversationId, place, onPlace }: PageProps) {
  const conversation = useConversation(conversationId)
  if (conversation.data === undefined) {
    return (
      <>
        <UnreadNote query={conversation} what="the conversation" page="Conversation" />
        {conversation.isError && (
          <p className="mx-auto max-w-2xl px-4">
            <Link to="/conversations" className={buttonLook('plain')}>
              All conversations
            </Link>
          </p>
        )}
      </>
    )
  }
  const { agent, lastSeq, interruptions } = conversation.data
  return (
    <Following
      id={conversationId}
      agent={agent}
      lastSeq={lastSeq}
      interruptions={interruptions}
      place={place}
      onPlace={onPlace}
    />
  )
}

interface FollowingProps extends Pick<PageProps, 'place' | 'onPlace'> {
  readonly id: string
  readonly agent: string
  readonly lastSeq: number
  readonly interruptions: readonly Interruption[]
}

function Following({ id, agent, lastSeq, interruptions, place, onPlace }: FollowingProps) {
  const [firstSeq] = useState(lastSeq)
  const [part, setPart] = useState<'chat' | 'run'>('chat')
  const { view: shows = 'tree', node: selected = null, readers } = place
  const { wanted, arrives, onReaders, onMessage, onGo } = useReading(onPlace, setPart)
  const [artifact, setArtifact] = useState<string | null>(null)
  const { view, diagramOf, error, isGone, retry } = useEvents(id)
  const { prompt, onItsWay } = usePrompt(id, view)
  const runId = view.runs.includes(place.run ?? '') ? place.run : view.runs.at(-1)
  useRefreshOnChange(id, view)
  const onSelect = useCallback((node: string | null) => onPlace({ node: node ?? undefined }), [onPlace])
  const busy = onItsWay !== null ? 'sending' : activeState(view)
  const open = [...view.open.values()].map((one) => interruptions.find((known) => known.id === one.id) ?? one)
  const people = (useParticipants(id).data ?? []).filter(({ leftAt }) => leftAt === null)
  const send = (said: Parameters<typeof sendPrompt>[1]) => {
    onPlace({ run: undefined })
    sendPrompt({ id, agent, afterSeq: view.lastSeq }, said)
  }
  return (
    <div className="grid h-full grid-cols-[minmax(0,1fr)] grid-rows-[auto_minmax(0,1fr)] md:grid-cols-[minmax(0,1fr)_minmax(20rem,26rem)] md:grid-rows-1 xl:grid-cols-[16rem_minmax(0,1fr)_minmax(24rem,32rem)]">
      <Recent />
      <Parts part={part} onPart={setPart} busy={busy} />
      <section aria-label="Chat" className={`min-h-0 flex-col ${part === 'chat' ? 'flex' : 'hidden'} md:flex`}>
        <ChatHead id={id} agent={agent} />
        <PeoplePanel conversationId={id} />
        <ScrollBox label="What was said" className="min-h-0 flex-1">
          {view.lastSeq < firstSeq && error === null ? (
            <LoadingNote what="what was said" />
          ) : (
            <Chat
              conversationId={id}
              view={view}
              open={open}
              onItsWay={onItsWay}
              onShowRun={(run) => {
                onPlace({ run, ...(shows === 'artifacts' ? { view: undefined } : {}) })
                setPart('run')
              }}
              onShowArtifact={(id) => {
                setArtifact(id)
                onPlace({ view: 'artifacts' })
                setPart('run')
              }}
              onReaders={onReaders}
              wanted={wanted}
            />
          )}
          <div className="mx-auto max-w-3xl space-y-3 px-4 pb-4 md:px-6">
            {error !== null && <ProblemNote error={error} {...(isGone ? {} : { onRetry: retry })} />}
            {isGone && <StartAnew id={id} agent={agent} />}
            {prompt !== null && <ProblemNote error={prompt} />}
          </div>
        </ScrollBox>
        <TaskList
          view={view}
          onShow={(task) => {
            onPlace({ run: task.rootCallId, node: task.callId, view: undefined })
            setPart('run')
          }}
        />
        <div className="shrink-0 border-t border-line bg-panel">
          <Composer
            conversationId={id}
            busy={isGone ? 'gone' : busy}
            openActions={openActionsOf(view)}
            people={people}
            onSend={send}
          />
        </div>
      </section>
      <section
        aria-label="Run"
        className={`min-h-0 border-line bg-panel md:border-l ${part === 'run' ? 'block' : 'hidden'} md:block`}
      >
        <h1 className="sr-only md:hidden">Run</h1>
        <RunPanel
          conversationId={id}
          view={view}
          open={open}
          runId={runId}
          diagram={runId === undefined ? null : diagramOf(runId)}
          onRun={(run) => onPlace({ run })}
          selected={selected}
          onSelect={onSelect}
          onCall={(run, node) => onPlace({ run, node, view: undefined })}
          shows={shows}
          onShow={(part) => onPlace({ view: part === 'tree' ? undefined : part })}
          artifact={artifact}
          onArtifact={setArtifact}
          onReaders={onReaders}
          onMessage={onMessage}
          arrives={arrives}
        />
      </section>
      {readers !== undefined && view.lastSeq >= firstSeq && (
        <ReadersDialog conversationId={id} view={view} seq={readers} onClose={() => onReaders(undefined)} onGo={onGo} />
      )}
    </div>
  )
}

/** From what was said to the model calls that read it, and back. On a narrow screen the chat and the run take turns. */
function useReading(onPlace: PageProps['onPlace'], onPart: (part: 'chat' | 'run') => void) {
  const [wanted, setWanted] = useState<{ readonly seq: number } | null>(null)
  const arrives = useRef(false)
  const onReaders = useCallback((seq: number | undefined) => onPlace({ readers: seq }), [onPlace])
  const onMessage = (seq: number) => {
    onPart('chat')
    setWanted({ seq })
  }
  const onGo = () => {
    arrives.current = true
    onPart('run')
  }
  return { wanted, arrives, onReaders, onMessage, onGo }
}

function Recent() {
  return (
    <nav aria-label="Recent conversations" className="hidden overflow-y-auto border-r border-line bg-panel xl:block">
      <Link to="/conversations" className="block px-4 pt-4 pb-3 font-medium text-accent">
        + New conversation
      </Link>
      <RecentList />
    </nav>
  )
}

/** The open actions of the last run. Those of tasks refuse no message. */
function openActionsOf(view: ConversationView): number {
  const last = view.runs.at(-1)
  return [...view.open.values()].filter(
    ({ kind, callId }) => kind === 'action' && view.calls.get(callId)?.rootCallId === last,
  ).length
}

/** What was typed goes along into the new conversation. */
function StartAnew({ id, agent }: { readonly id: string; readonly agent: string }) {
  return (
    <Link
      to="/conversations"
      search={{ agent }}
      className={buttonLook('plain')}
      onClick={() => {
        if (draftOf(id) !== '') putDraft('new conversation', draftOf(id))
        const files = takeFiles(id)
        if (files.length > 0) putFiles('new conversation', files)
      }}
    >
      Start a new conversation
    </Link>
  )
}

function ChatHead({ id, agent }: { readonly id: string; readonly agent: string }) {
  return (
    <header className="flex min-h-[53px] shrink-0 items-center gap-3 border-b border-line px-4 py-1.5 md:px-6">
      <h1 className="min-w-0 flex-1">
        <Link
          to="/agents/$agentId"
          params={{ agentId: agent }}
          className="flex items-center gap-2 truncate font-semibold hover:underline"
        >
          <AgentSign id={agent} />
          <AgentName id={agent} />
        </Link>
        <span className="block truncate font-mono text-xs text-muted">{id}</span>
      </h1>
      <Link to="/conversations" className={`${buttonLook('quiet')} xl:hidden`}>
        All
      </Link>
    </header>
  )
}

function Parts(props: {
  readonly part: 'chat' | 'run'
  readonly busy: 'sending' | 'running' | 'waiting' | null
  readonly onPart: (part: 'chat' | 'run') => void
}) {
  const look =
    'min-h-10 flex-1 border-b-2 font-medium aria-pressed:border-accent aria-pressed:text-ink border-transparent text-muted'
  return (
    <div className="flex border-b border-line bg-panel md:hidden">
      <button type="button" className={look} aria-pressed={props.part === 'chat'} onClick={() => props.onPart('chat')}>
        Chat
      </button>
      <button type="button" className={look} aria-pressed={props.part === 'run'} onClick={() => props.onPart('run')}>
        Run{props.busy !== null && <span className="font-normal text-muted"> ({props.busy})</span>}
      </button>
    </div>
  )
}

/** The prompt this page sent: shown until the log has it; its refusal is shown only where the log never got it. */
function usePrompt(id: string, view: ConversationView) {
  const sent = useSentPrompt(id)
  const stored = sent !== null && view.messages.some((message) => message.seq > sent.afterSeq)
  useEffect(() => {
    if (stored) releasePrompt(sent)
  }, [stored, sent])
  const refused = sent !== null && !stored ? sent.error : null
  const onItsWay = sent !== null && !stored && sent.error === null ? wordsOf(sent) : null
  return { prompt: refused, onItsWay }
}

function activeState(view: ConversationView): 'running' | 'waiting' | null {
  const last = view.runs.at(-1)
  if (last === undefined) return null
  const { state } = runSummary(view, last)
  return state === 'running' || state === 'waiting' ? state : null
}

/** What the events say has changed is asked for again: merged arguments of open actions, the list of conversations. */
function useRefreshOnChange(id: string, view: ConversationView): void {
  const key = `${[...view.open.keys()].join()} ${view.messages.length} ${activeState(view)}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is what asks for it.
  useEffect(() => refreshConversation(id), [id, key])
  const joined = view.changes.length
  // biome-ignore lint/correctness/useExhaustiveDependencies: who joins or leaves asks for it.
  useEffect(() => refreshParticipants(id), [id, joined])
}
