/** The files that the agents of a conversation made: a list, where each came from, and what is in one. */
import type { ConversationView } from '@witan/client'
import type { Artifact } from '@witan/protocol/entries'
import { sizeText } from '@witan/protocol/files'
import { artifactAddress } from '../state/artifacts.ts'
import { formatMoment } from '../state/format.ts'
import { AgentName, AgentSign } from './agent-sign.tsx'
import { ArtifactLineage } from './artifact-lineage.tsx'
import { ArtifactPreview } from './artifact-preview.tsx'
import { Button, buttonLook } from './button.tsx'

interface PanelProps {
  readonly view: ConversationView
  /** The id of the artifact that is shown in full. */
  readonly selected: string | null
  readonly onSelect: (id: string | null) => void
  /** Shows the call that made one. */
  readonly onCall: (artifact: Artifact) => void
}

/** Grows while agents make files. */
export function ArtifactPanel({ view, selected, onSelect, onCall }: PanelProps) {
  const { artifacts } = view
  const shown = artifacts.get(selected ?? '')
  if (artifacts.size === 0) {
    return (
      <p className="p-4 text-pretty text-muted">
        No files yet. What agents save appears here: each file with its maker, and the files that it was made from.
      </p>
    )
  }
  return (
    <div className="flex min-h-0 flex-1 flex-col" data-testid="artifacts">
      <div className={`min-h-24 overflow-y-auto ${shown === undefined ? 'flex-1' : 'max-h-[35%] shrink-0'}`}>
        <ul aria-label="Files of this conversation" className="py-1.5">
          {[...artifacts.values()].map((one) => (
            <Row key={one.id} view={view} artifact={one} isSelected={one === shown} onSelect={() => onSelect(one.id)} />
          ))}
        </ul>
        {shown === undefined && (
          <div className="border-t border-line p-4">
            <ArtifactLineage artifacts={artifacts} selected={null} onSelect={onSelect} />
            <p className="pt-2 text-xs text-muted">Choose a file to see what is in it.</p>
          </div>
        )}
      </div>
      {shown !== undefined && (
        <div className="min-h-0 flex-1 overflow-y-auto border-t border-line">
          <Detail key={shown.id} view={view} artifact={shown} onSelect={onSelect} onCall={() => onCall(shown)} />
        </div>
      )}
    </div>
  )
}

interface RowProps {
  readonly view: ConversationView
  readonly artifact: Artifact
  readonly isSelected: boolean
  readonly onSelect: () => void
}

function Row({ view, artifact, isSelected, onSelect }: RowProps) {
  const { name, bytes, agent, inputs } = artifact
  const look = isSelected ? 'border-accent bg-accent-soft' : 'border-transparent hover:bg-sunken'
  return (
    <li className="[contain-intrinsic-size:auto_46px] [content-visibility:auto]">
      <button
        type="button"
        aria-pressed={isSelected}
        onClick={onSelect}
        className={`block w-full border-l-2 py-1 pr-4 pl-3.5 text-left -outline-offset-2 ${look}`}
      >
        <span className="flex items-baseline gap-3">
          <span className="min-w-0 flex-1 truncate font-medium" dir="auto">
            {name}
          </span>
          <span className="shrink-0 text-xs text-muted tabular-nums">{sizeText(bytes)}</span>
        </span>
        <span className="flex items-center gap-1.5 text-xs text-muted">
          <AgentSign id={agent} />
          <span className="min-w-0 truncate">
            <AgentName id={agent} />
            {inputs.length > 0 && <> · from {inputNames(view, inputs)}</>}
          </span>
        </span>
      </button>
    </li>
  )
}

const mostNames = 3

function inputNames({ artifacts }: ConversationView, inputs: readonly string[]): string {
  const names = inputs.slice(0, mostNames).map((id) => artifacts.get(id)?.name ?? id)
  return names.join(', ') + (inputs.length > mostNames ? ` and ${inputs.length - mostNames} more` : '')
}

interface DetailProps {
  readonly view: ConversationView
  readonly artifact: Artifact
  readonly onSelect: (id: string | null) => void
  readonly onCall: () => void
}

function Detail({ view, artifact, onSelect, onCall }: DetailProps) {
  const { id, name, mediaType, bytes, agent, runId, createdAt } = artifact
  const run = view.runs.indexOf(runId) + 1
  return (
    <section aria-label={`File ${name}`} data-testid="artifact" className="space-y-3 p-4">
      <header className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          <h3 className="break-words font-semibold" dir="auto">
            {name}
          </h3>
          <p className="break-all font-mono text-xs text-muted">{id}</p>
        </div>
        <a href={artifactAddress(id)} download={name} className={buttonLook('plain')}>
          Save
        </a>
        <Button look="quiet" aria-label="Close the file" onClick={() => onSelect(null)}>
          Close
        </Button>
      </header>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted tabular-nums">
        <span>
          {mediaType}, {sizeText(bytes)}
        </span>
        <span className="flex items-center gap-1.5">
          <AgentSign id={agent} />
          <AgentName id={agent} />
        </span>
        <time dateTime={createdAt}>{formatMoment(createdAt)}</time>
        {view.calls.has(artifact.callId) && (
          <button type="button" onClick={onCall} className="underline underline-offset-2 hover:text-ink">
            {run > 0 ? `Its call in run ${run}` : 'Its call'}
          </button>
        )}
      </p>
      <ArtifactPreview artifact={artifact} />
      <ArtifactLineage artifacts={view.artifacts} selected={id} onSelect={onSelect} />
    </section>
  )
}
