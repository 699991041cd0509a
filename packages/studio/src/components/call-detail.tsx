/** One node of the tree in full: its state, input, result and document. */
import type { Interruption } from '@witan/protocol'
import { shownText } from '@witan/protocol/shown'
import { useReadsAll } from '../state/account.ts'
import { decisionsOf } from '../state/decisions.ts'
import { formatElapsed, formatTokens } from '../state/format.ts'
import { useAgentName } from '../state/queries.ts'
import { timesOf } from '../state/spans.ts'
import type { TreeRow } from '../state/tree.ts'
import { type CallView, type ConversationView, speakersOf } from '@witan/client'
import { stepWords } from '../state/step.ts'
import { useNow } from '../state/use-now.ts'
import { callerText } from '../state/caller.ts'
import { AgentName, AgentSign } from './agent-sign.tsx'
import { ArtifactChips } from './artifact-chips.tsx'
import { Button } from './button.tsx'
import { DecisionList } from './decision-list.tsx'
import { DocumentView } from './document-view.tsx'
import { InterruptionCard } from './interruption-card.tsx'
import { JsonBlock, TextBlock } from './json-block.tsx'
import { Markdown } from './markdown.tsx'
import { Mark } from './mark.tsx'
import { McpUseList } from './mcp-use-list.tsx'
import { MemoryList } from './memory-list.tsx'
import { ProblemNote } from './note.tsx'
import { Pill } from './pill.tsx'
import { CritiqueList } from './critique-list.tsx'
import { HookList } from './hook-list.tsx'
import { PlanList } from './plan-list.tsx'
import { LiveReasoning } from './reasoning.tsx'
import { RetrievalList } from './retrieval-list.tsx'
import { ResultView } from './result-view.tsx'
import { ScrollBox } from './scroll-box.tsx'
import { SourceList } from './source-list.tsx'
import { StateLabel } from './state-mark.tsx'
import { TaskControls } from './task-controls.tsx'

interface DetailProps {
  readonly view: ConversationView
  readonly row: TreeRow
  readonly open: Interruption | undefined
  /** Somebody has asked this task to stop. */
  readonly stopping: boolean
  readonly showsDocument: boolean
  readonly onDocument: (shown: boolean) => void
  readonly onClose: () => void
  readonly onArtifact: (id: string) => void
  readonly onReaders: (seq: number) => void
}

/** Shows the values of the events, which never contain hidden ones. */
export function CallDetail({ view, row, open, stopping, showsDocument, onDocument, ...rest }: DetailProps) {
  const { call } = row
  const { answerSeq } = call
  const readsAll = useReadsAll()
  return (
    <section aria-label={`Details of ${call.name}`} data-testid="detail" className="space-y-3 p-4">
      <header className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          <h3 className="flex flex-wrap items-center gap-2 break-words font-semibold">
            {call.kind === 'agent' && <AgentSign id={call.name} />}
            {call.kind === 'agent' ? <AgentName id={call.name} /> : call.name}
            {call.background && <Pill>background</Pill>}
          </h3>
          <p className="break-all font-mono text-xs text-muted">{call.agentPath}</p>
        </div>
        {readsAll && answerSeq !== null && call.endedAt !== null && (
          <Button look="quiet" onClick={() => rest.onReaders(answerSeq)}>
            Who read this
          </Button>
        )}
        <Button look="quiet" aria-label="Close the details" onClick={rest.onClose}>
          Close
        </Button>
      </header>
      <Facts view={view} row={row} />
      {call.error !== null && row.state === 'cancelled' && <p className="text-muted">{call.error.detail}</p>}
      {call.error !== null && row.state !== 'cancelled' && <ProblemNote error={call.error} />}
      {call.notices.map((notice) => (
        <p
          key={`${notice.code} ${notice.detail}`}
          className="rounded-md border border-wait-line bg-wait-soft px-3 py-2"
        >
          {notice.detail} <span className="font-mono text-xs text-wait">{notice.code}</span>
        </p>
      ))}
      {call.background && call.endedAt === null && <TaskControls taskId={call.callId} stopping={stopping} />}
      <DecisionList decisions={decisionsOf(call)} />
      <ArtifactChips artifacts={call.artifacts} onShow={rest.onArtifact} />
      {open !== undefined && <InterruptionCard key={open.id} open={open} />}
      <Values
        view={view}
        call={call}
        open={open !== undefined}
        speaker={speakersOf(view, call.callId).at(-1) ?? call}
      />
      {call.kind === 'agent' && (
        <>
          <Button aria-expanded={showsDocument} onClick={() => onDocument(!showsDocument)}>
            {showsDocument ? 'Hide document' : 'Open document'}
          </Button>
          {showsDocument && <DocumentView path={call.document} />}
        </>
      )}
    </section>
  )
}

function Facts({ view, row }: { readonly view: ConversationView; readonly row: TreeRow }) {
  const { call, state } = row
  const running = state === 'running' || state === 'waiting'
  const now = useNow(running, 1000)
  const nameOf = useAgentName()
  const { workedMs, waitedMs } = timesOf(view, call.callId, now)
  const step = stepWords(view, call)
  const source = view.calls.get(call.handedFrom ?? '')
  return (
    <dl className="flex flex-wrap items-center gap-x-5 gap-y-1 text-xs tabular-nums">
      <div>
        <dt className="sr-only">State</dt>
        <dd>
          <StateLabel state={state} />
        </dd>
      </div>
      {call.caller !== null && <Fact name="Called by" value={callerText(call.caller)} />}
      {call.remote !== null && <Fact name="On another server" value={shownText(call.remote)} />}
      {source !== undefined && <Fact name="Took over from" value={nameOf(source.name)} />}
      {call.returned && source !== undefined && <Fact name="Gave control back to" value={nameOf(source.name)} />}
      {row.handedTo !== null && <Fact name="Handed over to" value={nameOf(row.handedTo)} />}
      {step !== null && <Fact name="In its workflow" value={step} />}
      {row.waitsFor.length > 0 && <Fact name="Waits for" value={row.waitsFor.map(nameOf).join(', ')} />}
      <Fact name="At work" value={formatElapsed(workedMs)} />
      {waitedMs > 0 && <Fact name="Waited for people" value={formatElapsed(waitedMs)} />}
      {call.kind === 'agent' && <Fact name="Own tokens" value={formatTokens(call.tokens)} />}
      {call.kind === 'agent' && <Fact name="Model calls" value={String(call.modelCalls)} />}
      {call.model !== null && <Fact name="Model" value={call.model} />}
      {call.finishReason !== null && call.finishReason !== 'stop' && <Fact name="Ended by" value={call.finishReason} />}
    </dl>
  )
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div className="flex gap-1.5">
      <dt className="text-muted">{name}</dt>
      <dd className="break-all">{value}</dd>
    </div>
  )
}

interface ValuesProps {
  readonly view: ConversationView
  readonly call: CallView
  readonly open: boolean
  /** Who gave its answer: after a hand-over another agent. */
  readonly speaker: CallView
}

function Values({ view, call, open, speaker }: ValuesProps) {
  const nameOf = useAgentName()
  if (call.kind === 'tool') {
    const isChanged = decisionsOf(call).some(({ changes }) => changes.length > 0)
    return (
      <>
        <MemoryList memories={call.memories} />
        {!open && call.arguments !== null && (
          <JsonBlock
            label={isChanged ? 'Arguments, as a person changed them' : 'Arguments from the model'}
            value={call.arguments}
          />
        )}
        {call.bound.length > 0 && (
          <p className="flex flex-wrap items-center gap-1.5">
            <span className="label">Bound, not written by a model</span>
            {call.bound.map((name) => (
              <Mark key={name} tone="accent" title="The tool gets this value from outside the model.">
                {name}
              </Mark>
            ))}
          </p>
        )}
        {call.state === 'completed' && (
          <ResultView label={call.truncated ? 'Result (cut for the model)' : 'Result'} value={call.result} />
        )}
      </>
    )
  }
  return (
    <>
      {call.task !== '' && <TextBlock label="Task" text={call.task} />}
      {hasEntries(call.parameters) && <JsonBlock label="Parameters its model sees" value={call.parameters} />}
      {call.hiddenParameters.length > 0 && (
        <p className="flex flex-wrap items-center gap-1.5">
          <span className="label">Hidden from its model</span>
          {call.hiddenParameters.map((name) => (
            <Mark key={name} title="The agent has this value; its model does not see it.">
              {name}
            </Mark>
          ))}
        </p>
      )}
      {call.taskMessages.map(({ seq, text }) => (
        <TextBlock key={seq} label="Message meanwhile" text={text} />
      ))}
      <McpUseList mcp={call.mcp} />
      <PlanList view={view} call={call} />
      <MemoryList memories={call.memories} />
      <RetrievalList retrievals={call.retrievals} />
      <CritiqueList critiques={call.critiques} />
      <HookList hooks={call.hooks} />
      <LiveReasoning reasoned={call.reasoned} />
      {call.text !== '' && (
        <div>
          <p className="label">
            {call.endedAt === null ? 'Writing' : speaker === call ? 'Answer' : `Answer of ${nameOf(speaker.name)}`}
          </p>
          <ScrollBox label="What it said" className="mt-1 max-h-96 rounded-md border border-line bg-panel px-2.5 py-2">
            <Markdown text={call.text} writing={call.endedAt === null} />
          </ScrollBox>
        </div>
      )}
      {call.output !== null && <JsonBlock label="Output" value={call.output} />}
      <SourceList sources={call.sources} />
    </>
  )
}

function hasEntries(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}
