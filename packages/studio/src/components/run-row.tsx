/** A row in the tree of a run. */
import type { CallView, ConversationView } from '@witan/client'
import type { Interruption } from '@witan/protocol'
import type { ModelCallLine } from '@witan/protocol/schemas'
import { progressText, shownText } from '@witan/protocol/shown'
import { memo } from 'react'
import { isAddressedTo, usePrincipal } from '../state/account.ts'
import { count, formatElapsed, formatTokens } from '../state/format.ts'
import { modelMs, modelWords, purposes } from '../state/model-calls.ts'
import { useAgentName } from '../state/queries.ts'
import { retrievalWords } from '../state/knowledge.ts'
import { planWords } from '../state/plan.ts'
import { memoryWords } from '../state/memory.ts'
import { timesOf } from '../state/spans.ts'
import { stepWords } from '../state/step.ts'
import type { TreeRow } from '../state/tree.ts'
import { AgentName, AgentSign } from './agent-sign.tsx'
import { Caller } from './caller.tsx'
import { Pill } from './pill.tsx'
import { StateMark } from './state-mark.tsx'

/** The height of a row, in px. All rows have it, so that those far from the view need not be in the page. */
export const rowHeight = 46

interface RowProps {
  readonly row: TreeRow
  /** Its distance from the top of the tree, in px. */
  readonly top: number
  readonly view: ConversationView
  readonly now: number
  readonly inTabOrder: boolean
  readonly found: boolean
  readonly selected: boolean
  readonly onFold: (callId: string, shut: boolean) => void
  readonly onSelect: (callId: string) => void
}

/** A row of the tree: its name, its tokens and times, and what it does or waits for. Drawn again only when one of its properties changes. */
export const RunRow = memo(function Row({
  row,
  top,
  view,
  now,
  inTabOrder,
  found,
  selected,
  onFold,
  onSelect,
}: RowProps) {
  const { call, model, level, state } = row
  if (row.unread !== null) return <UnreadRow row={row} top={top} inTabOrder={inTabOrder} />
  const over = state === 'cancelled' && call.endedAt === null
  const { workedMs, waitedMs } =
    model === null ? timesOf(view, call.callId, now) : { workedMs: modelMs(model, now), waitedMs: 0 }
  const step = stepWords(view, call)
  // Its name is one line of words.
  const seen = model === null ? {} : ({ 'aria-hidden': true } as const)
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree around it takes the keys.
    <div
      role="treeitem"
      aria-level={level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-selected={selected}
      {...(row.below > 0 ? { 'aria-expanded': row.expanded } : {})}
      data-call={row.id}
      data-state={state}
      tabIndex={inTabOrder ? 0 : -1}
      onClick={() => onSelect(row.id)}
      style={{ top, height: rowHeight }}
      className={`absolute inset-x-0 flex cursor-default overflow-hidden border-l-2 pr-4 pl-2 contain-strict -outline-offset-2 ${selected ? 'border-accent bg-accent-soft' : found ? 'border-line-strong bg-sunken' : 'border-transparent hover:bg-sunken'}`}
    >
      <Guides level={level} />
      <Fold shown={row.below > 0} expanded={row.expanded} onFold={(shut) => onFold(row.id, shut)} />
      {model !== null && <span className="sr-only">{modelWords(model, now)}</span>}
      <span className="mt-[7px] mr-2" {...seen}>
        <StateMark state={state} />
      </span>
      <span className="min-w-0 flex-1 py-1" {...seen}>
        <span className="flex items-baseline gap-3">
          <span className="flex min-w-0 flex-1 items-baseline gap-2">
            {model === null ? <CallName call={call} /> : <ModelName model={model} />}
            {model === null && step !== null && <Pill>{step}</Pill>}
            {model === null && call.returned && <Pill>gave control back</Pill>}
            {model === null && call.isCritic && <Pill>critique</Pill>}
            {model === null && call.guardrail !== null && <Pill>checks {call.guardrail}</Pill>}
            {model === null && call.background && <Pill>background</Pill>}
            {model === null && planWords(call) !== null && <Pill>{planWords(call)}</Pill>}
            {model === null && call.kind === 'agent' && call.memories.length > 0 && <Pill>{memoryWords(call)}</Pill>}
            {model === null && call.critiques.some(({ verdict }) => verdict === 'revise') && <Pill>revised</Pill>}
            {model === null && call.retrievals.length > 0 && <Pill>{retrievalWords(call.retrievals)}</Pill>}
          </span>
          <span className="shrink-0 text-xs text-muted tabular-nums">
            {(model !== null || call.kind === 'agent') && <>{formatTokens(row.tokens)} tok · </>}
            {over && model === null ? '–' : formatElapsed(workedMs)}
          </span>
        </span>
        <span className="flex items-baseline gap-3 text-xs">
          {model === null ? <SecondLine row={row} view={view} /> : <ModelLine model={model} />}
          {waitedMs >= 1000 && (
            <span className="ml-auto shrink-0 text-muted tabular-nums" title="Time that it waited for people">
              + {formatElapsed(waitedMs)} waiting
            </span>
          )}
        </span>
      </span>
    </div>
  )
})

/** A model call that is read once it is near the view. */
function UnreadRow({ row, top, inTabOrder }: Pick<RowProps, 'row' | 'top' | 'inTabOrder'>) {
  return (
    <div
      role="treeitem"
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-selected={false}
      data-call={row.id}
      tabIndex={inTabOrder ? 0 : -1}
      style={{ top, height: rowHeight }}
      className="absolute inset-x-0 flex border-l-2 border-transparent pr-4 pl-2 text-xs text-muted contain-strict -outline-offset-2"
    >
      <Guides level={row.level} />
      <span className="py-1 pl-12">Model call {row.unread}, loading …</span>
    </div>
  )
}

function Guides({ level }: { readonly level: number }) {
  return Array.from({ length: level - 1 }, (_, depth) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the guides have no other identity.
    <span key={depth} aria-hidden="true" className="ml-[13px] w-[9px] shrink-0 border-l border-line" />
  ))
}

function ModelName({ model: { number, purpose } }: { readonly model: ModelCallLine }) {
  return (
    <span className="truncate text-xs leading-5">
      Model call {number}
      {purpose !== 'answer' && <span className="text-muted"> for {purposes[purpose]}</span>}
    </span>
  )
}

function ModelLine({ model: { model, error, tools } }: { readonly model: ModelCallLine }) {
  if (error !== null) return <span className="min-w-0 truncate text-fail">{shownText(error.detail || error.code)}</span>
  return (
    <span className="min-w-0 truncate text-muted">
      {shownText(model)}
      {tools.length > 0 && `, ${count(tools.length, 'tool')}`}
    </span>
  )
}

function CallName({ call }: { readonly call: CallView }) {
  if (call.kind === 'tool') return <span className="truncate font-mono text-xs leading-5">{call.name}</span>
  return (
    <span className="flex min-w-0 items-center gap-1.5">
      {call.handedFrom !== null && (
        <span className="text-muted" title="Control was handed over to it">
          →
        </span>
      )}
      <AgentSign id={call.name} />
      <span className="truncate font-medium">
        <AgentName id={call.name} />
      </span>
      <Elsewhere call={call} />
    </span>
  )
}

/** The other server: where the call goes, or where the run's came from. */
function Elsewhere({ call: { remote, caller } }: { readonly call: CallView }) {
  if (remote !== null) return <span className="truncate text-xs text-muted">{shownText(remote)}</span>
  return caller === null ? null : <Caller caller={caller} />
}

function SecondLine({ row, view }: Pick<RowProps, 'row' | 'view'>) {
  const { call, state } = row
  const nameOf = useAgentName()
  const look = 'min-w-0 truncate'
  if (call.error !== null) {
    const tone = state === 'failed' ? 'text-fail' : 'text-muted'
    return <span className={`${look} ${tone}`}>{shownText(call.error.detail || call.error.code)}</span>
  }
  if (call.interruptionId !== null) return <AskedLine open={view.open.get(call.interruptionId)} />
  if (row.waitsFor.length > 0) {
    const tone = state === 'waiting' ? 'text-wait' : 'text-muted'
    return <span className={`${look} ${tone}`}>waits for {row.waitsFor.map(nameOf).join(', ')}</span>
  }
  if (row.handedTo !== null)
    return <span className={`${look} text-muted`}>handed over to {nameOf(row.handedTo)}, which speaks now</span>
  if (call.progress !== null) return <span className={`${look} text-muted`}>{progressText(call.progress)}</span>
  const kept = call.kind === 'tool' ? memoryWords(call) : null
  if (kept !== null) return <span className={`${look} text-muted`}>{kept}</span>
  if (call.artifacts.length > 0) return <span className={`${look} text-muted`}>{savedWords(call)}</span>
  const source = view.calls.get(call.handedFrom ?? '')
  if (source !== undefined) return <span className={`${look} text-muted`}>took over from {nameOf(source.name)}</span>
  const said = call.kind === 'agent' ? call.task : oneLine(call.arguments)
  return said === '' ? null : <span className={`${look} text-muted`}>{said}</span>
}

/** Whose answer it waits for. What is addressed to nobody is everybody's. */
function AskedLine({ open }: { readonly open: Interruption | undefined }) {
  const principal = usePrincipal()
  const other = open === undefined || isAddressedTo(principal, open.addressee) ? null : open.addressee
  return (
    <span className="min-w-0 truncate text-wait">
      waits for {other === null ? 'your' : `the`} answer{other === null ? '' : ` of ${other}`}
    </span>
  )
}

function savedWords({ artifacts }: CallView): string {
  const [first] = artifacts
  return artifacts.length === 1 ? `saved ${first?.name}` : `saved ${artifacts.length} files: ${first?.name} …`
}

function oneLine(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = JSON.stringify(value)
  return text === '{}' ? '' : text.slice(0, 200)
}

function Fold(props: {
  readonly shown: boolean
  readonly expanded: boolean
  readonly onFold: (shut: boolean) => void
}) {
  if (!props.shown) return <span className="w-6 shrink-0" />
  return (
    <span
      aria-hidden="true"
      className="mt-[3px] flex size-6 shrink-0 items-center justify-center text-muted hover:text-ink"
      onClick={(event) => {
        event.stopPropagation()
        props.onFold(props.expanded)
      }}
    >
      <svg
        viewBox="0 0 12 12"
        className={`size-3 ${props.expanded ? 'rotate-90' : ''}`}
        fill="currentColor"
        aria-hidden="true"
      >
        <path d="M4 2.5 8.5 6 4 9.5z" />
      </svg>
    </span>
  )
}
