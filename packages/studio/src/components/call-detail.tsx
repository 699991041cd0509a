/** One node of the tree in full: where it stands, what it was given, what came of it, its document. */
import type { Interruption } from '@witan/protocol'
import { elapsedMs, formatElapsed, formatTokens } from '../state/format.ts'
import type { TreeRow } from '../state/tree.ts'
import type { CallView } from '../state/run-view.ts'
import { useNow } from '../state/use-now.ts'
import { Button } from './button.tsx'
import { DocumentView } from './document-view.tsx'
import { InterruptionCard } from './interruption-card.tsx'
import { JsonBlock, TextBlock } from './json-block.tsx'
import { ProblemNote } from './note.tsx'
import { Pill } from './pill.tsx'
import { StateLabel } from './state-mark.tsx'
import { TaskControls } from './task-controls.tsx'

interface DetailProps {
  readonly row: TreeRow
  readonly open: Interruption | undefined
  /** Somebody has asked this task to stop. */
  readonly stopping: boolean
  readonly showsDocument: boolean
  readonly onDocument: (shown: boolean) => void
  readonly onClose: () => void
}

/** Shows the values as they stand in the events: hidden ones are not in them. */
export function CallDetail({ row, open, stopping, showsDocument, onDocument, onClose }: DetailProps) {
  const { call } = row
  return (
    <section aria-label={`Details of ${call.name}`} data-testid="detail" className="space-y-3 p-4">
      <header className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          <h3 className="flex flex-wrap items-baseline gap-2 break-words font-semibold">
            {call.name}
            {call.background && <Pill>background</Pill>}
          </h3>
          <p className="break-all font-mono text-xs text-muted">{call.agentPath}</p>
        </div>
        <Button look="quiet" aria-label="Close the details" onClick={onClose}>
          Close
        </Button>
      </header>
      <Facts row={row} />
      {call.error !== null && row.state === 'cancelled' && <p className="text-muted">{call.error.detail}</p>}
      {call.error !== null && row.state !== 'cancelled' && <ProblemNote error={{ ...problemOf(call.error) }} />}
      {call.notices.map((notice) => (
        <p
          key={`${notice.code} ${notice.detail}`}
          className="rounded-md border border-wait-line bg-wait-soft px-3 py-2"
        >
          {notice.detail} <span className="font-mono text-xs text-wait">{notice.code}</span>
        </p>
      ))}
      {call.background && call.endedAt === null && <TaskControls taskId={call.callId} stopping={stopping} />}
      {open !== undefined && <InterruptionCard key={open.id} open={open} />}
      <Values call={call} open={open !== undefined} />
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

function Facts({ row }: { readonly row: TreeRow }) {
  const { call, state } = row
  const running = state === 'running' || state === 'waiting'
  const now = useNow(running, 1000)
  return (
    <dl className="flex flex-wrap items-center gap-x-5 gap-y-1 text-xs tabular-nums">
      <StateLabel state={state} />
      {row.waitsFor.length > 0 && <Fact name="Waits for" value={row.waitsFor.join(', ')} />}
      <Fact name="Time" value={formatElapsed(elapsedMs(call.startedAt, call.endedAt, now))} />
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

function Values({ call, open }: { readonly call: CallView; readonly open: boolean }) {
  if (call.kind === 'tool') {
    return (
      <>
        {!open && call.arguments !== null && <JsonBlock label="Arguments from the model" value={call.arguments} />}
        {call.bound.length > 0 && <p className="text-muted">Bound, not written by a model: {call.bound.join(', ')}</p>}
        {call.state === 'completed' && (
          <JsonBlock label={call.truncated ? 'Result (cut for the model)' : 'Result'} value={call.result} />
        )}
      </>
    )
  }
  return (
    <>
      {call.task !== '' && <TextBlock label="Task" text={call.task} />}
      {hasEntries(call.parameters) && <JsonBlock label="Parameters its model sees" value={call.parameters} />}
      {call.told.map(({ seq, text }) => (
        <TextBlock key={seq} label="Told meanwhile" text={text} />
      ))}
      {call.text !== '' && <TextBlock label={call.endedAt === null ? 'Writing' : 'Answer'} text={call.text} />}
      {call.output !== null && <JsonBlock label="Output" value={call.output} />}
    </>
  )
}

function hasEntries(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

function problemOf(error: { readonly code: string; readonly detail: string }): Error & { code: string } {
  return Object.assign(new Error(error.detail), { code: error.code })
}
