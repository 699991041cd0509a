/** The run beside the chat: its tree, the chosen node in full, and the button that stops it. */
import type { Interruption } from '@witan/protocol'
import { type RefObject, useId, useState } from 'react'
import type { ConversationView } from '@witan/client'
import type { Diagram } from '@witan/protocol/protocols'
import { modelOfRow } from '../state/model-calls.ts'
import type { PanelPart } from '../state/place.ts'
import { rowOf, runSummary } from '../state/tree.ts'
import { witan } from '../state/witan.ts'
import { ArtifactPanel } from './artifact-panel.tsx'
import { Button } from './button.tsx'
import { CallDetail } from './call-detail.tsx'
import { ModelCallDetail } from './model-call-detail.tsx'
import { ProblemNote } from './note.tsx'
import { Pill } from './pill.tsx'
import { RunDiagram } from './run-diagram.tsx'
import { RunTimeline } from './run-timeline.tsx'
import { RunTree } from './run-tree.tsx'
import { StateLabel } from './state-mark.tsx'
import { TabList } from './tab-list.tsx'

interface PanelProps {
  readonly conversationId: string
  readonly view: ConversationView
  readonly open: readonly Interruption[]
  readonly runId: string | undefined
  readonly diagram: Diagram | null
  readonly onRun: (runId: string) => void
  /** The node that is shown in full. */
  readonly selected: string | null
  readonly onSelect: (callId: string | null) => void
  /** Shows a call in the tree of its run. */
  readonly onCall: (runId: string, callId: string) => void
  readonly shows: PanelPart
  readonly onShow: (shows: PanelPart) => void
  /** The artifact that is shown in full. */
  readonly artifact: string | null
  readonly onArtifact: (id: string | null) => void
  readonly onReaders: (seq: number) => void
  /** Shows a message of a person in the chat. */
  readonly onMessage: (seq: number) => void
  /** Set where somebody follows a link to a model call: its details then take the focus, once. */
  readonly arrives: RefObject<boolean>
}

/** Shows one run at a time. */
export function RunPanel({
  conversationId,
  view,
  open,
  runId,
  diagram,
  onRun,
  selected,
  onSelect,
  ...rest
}: PanelProps) {
  const [documentOf, setDocumentOf] = useState<string | null>(null)
  const { shows, onShow, onCall, artifact, onArtifact, onReaders } = rest
  const tabsId = useId()
  if (runId === undefined || !view.calls.has(runId)) {
    return (
      <p className="p-4 text-pretty text-muted">
        No run yet. Send a message, and its tree grows here: every agent and every tool.
      </p>
    )
  }
  const row = rowOf(view, runId, selected)
  const shown = row?.call
  const model = modelOfRow(selected)
  const partLook = shown === undefined && model === null ? 'flex-1' : 'max-h-[45%] shrink-0'
  return (
    <div className="flex h-full min-h-0 flex-col">
      <RunHead key={runId} view={view} runId={runId} onRun={onRun} />
      <TabList
        id={tabsId}
        label="Run views"
        tabs={[
          { value: 'tree', words: 'Tree' },
          { value: 'timeline', words: 'Timeline' },
          { value: 'diagram', words: 'Diagram' },
          { value: 'artifacts', words: view.artifacts.size === 0 ? 'Files' : `Files (${view.artifacts.size})` },
        ]}
        chosen={shows}
        onChoose={onShow}
      />
      <div
        role="tabpanel"
        id={`${tabsId}-panel`}
        aria-labelledby={`${tabsId}-${shows}`}
        className="flex min-h-0 flex-1 flex-col"
      >
        {shows === 'diagram' && diagram !== null && <RunDiagram {...diagram} />}
        {shows === 'artifacts' && (
          <ArtifactPanel
            view={view}
            selected={artifact}
            onSelect={onArtifact}
            onCall={({ callId }) => onCall(view.calls.get(callId)?.rootCallId ?? runId, callId)}
          />
        )}
        {shows === 'timeline' && (
          <div className={`flex min-h-24 flex-col ${partLook}`}>
            <RunTimeline key={runId} view={view} runId={runId} selected={shown?.callId ?? null} onSelect={onSelect} />
          </div>
        )}
        <div className={`flex min-h-24 flex-col ${shows === 'tree' ? '' : 'hidden'} ${partLook}`}>
          <RunTree
            key={runId}
            conversationId={conversationId}
            view={view}
            runId={runId}
            selected={model === null ? (shown?.callId ?? null) : selected}
            onSelect={onSelect}
            className="min-h-0 flex-1 overflow-y-auto"
          />
        </div>
        {shows === 'tree' && model !== null && (
          <div className="min-h-0 flex-1 overflow-y-auto border-t border-line">
            <ModelCallDetail
              key={model}
              conversationId={conversationId}
              id={model}
              messages={view.messages}
              onMessage={rest.onMessage}
              onClose={() => onSelect(null)}
              arrives={rest.arrives}
            />
          </div>
        )}
        {(shows === 'tree' || shows === 'timeline') && row !== null && shown !== undefined && (
          <div className="min-h-0 flex-1 overflow-y-auto border-t border-line">
            <CallDetail
              key={shown.callId}
              view={view}
              row={row}
              open={open.find((one) => one.callId === shown.callId)}
              stopping={view.cancelling.has(shown.callId)}
              showsDocument={documentOf === shown.callId}
              onDocument={(shows) => setDocumentOf(shows ? shown.callId : null)}
              onClose={() => onSelect(null)}
              onArtifact={(id) => {
                onArtifact(id)
                onShow('artifacts')
              }}
              onReaders={onReaders}
            />
          </div>
        )}
      </div>
    </div>
  )
}

function RunHead({ view, runId, onRun }: Pick<PanelProps, 'view' | 'onRun'> & { readonly runId: string }) {
  const [error, setError] = useState<unknown>(null)
  const { state } = runSummary(view, runId)
  const index = view.runs.indexOf(runId)
  const before = view.runs[index - 1]
  const after = view.runs[index + 1]
  const active = state === 'running' || state === 'waiting'
  const cancelling = view.cancelling.has(runId)
  const cancel = () => {
    setError(null)
    witan.runs.cancel(runId).catch(setError)
  }
  return (
    <header className="shrink-0 border-b border-line">
      <div className="flex min-h-13 items-center gap-3 px-4 py-1.5">
        <h2 className="font-semibold">
          Run {index + 1}
          {view.runs.length > 1 && <span className="font-normal text-muted"> of {view.runs.length}</span>}
        </h2>
        <StateLabel state={state} />
        {view.calls.get(runId)?.hidden && <Pill>follow-up</Pill>}
        <span className="flex-1" />
        {view.runs.length > 1 && (
          <span className="flex">
            <Button
              look="quiet"
              aria-label="Earlier run"
              disabled={before === undefined}
              onClick={() => before && onRun(before)}
            >
              ‹
            </Button>
            <Button
              look="quiet"
              aria-label="Later run"
              disabled={after === undefined}
              onClick={() => after && onRun(after)}
            >
              ›
            </Button>
          </span>
        )}
        {active && (
          <Button look="danger" disabled={cancelling} onClick={cancel}>
            {cancelling ? 'Cancelling …' : 'Cancel run'}
          </Button>
        )}
      </div>
      {error !== null && (
        <div className="px-4 pb-3">
          <ProblemNote error={error} />
        </div>
      )}
    </header>
  )
}
