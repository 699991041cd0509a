/** The tree of a run: every agent and tool with its state, task, tokens and time. Arrow keys move in it. */
import { type KeyboardEvent, useRef, useState } from 'react'
import { formatElapsed, formatTokens } from '../state/format.ts'
import { useAgentName } from '../state/queries.ts'
import type { CallView, ConversationView } from '@witan/client'
import { type Times, timesOf } from '../state/spans.ts'
import { stepWords } from '../state/step.ts'
import { type TreeRow, treeRows } from '../state/tree.ts'
import { useNow } from '../state/use-now.ts'
import { AgentName, AgentSign } from './agent-sign.tsx'
import { Pill } from './pill.tsx'
import { StateMark } from './state-mark.tsx'

interface TreeProps {
  readonly view: ConversationView
  readonly runId: string
  readonly selected: string | null
  readonly onSelect: (callId: string) => void
}

/** One row is in the tab order; Up, Down, Home and End move, Left and Right fold, Enter opens the details. */
export function RunTree({ view, runId, selected, onSelect }: TreeProps) {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set())
  const [focused, setFocused] = useState<string | null>(null)
  const list = useRef<HTMLDivElement>(null)
  const rows = treeRows(view, runId, collapsed)
  const atWork = rows.some((row) => row.state === 'running')
  const now = useNow(atWork || rows.some((row) => row.state === 'waiting'), atWork ? 200 : 1000)
  const current =
    rows.find((row) => row.call.callId === focused) ?? rows.find((row) => row.call.callId === selected) ?? rows[0]
  const fold = (callId: string, shut: boolean) => {
    const next = new Set(collapsed)
    if (shut) next.add(callId)
    else next.delete(callId)
    setCollapsed(next)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (current === undefined) return
    const move = moveFor(event.key, rows, current)
    if (move === null) return
    event.preventDefault()
    if ('fold' in move) return fold(current.call.callId, move.fold)
    if ('open' in move) return onSelect(current.call.callId)
    setFocused(move.to)
    list.current?.querySelector<HTMLElement>(`[data-call="${CSS.escape(move.to)}"]`)?.focus()
  }
  return (
    <div ref={list} role="tree" aria-label="Calls of this run" tabIndex={-1} onKeyDown={onKeyDown} data-testid="tree">
      {rows.map((row) => (
        <Row
          key={row.call.callId}
          row={row}
          view={view}
          times={timesOf(view, row.call.callId, now)}
          inTabOrder={row === current}
          selected={row.call.callId === selected}
          onFold={(shut) => fold(row.call.callId, shut)}
          onSelect={() => {
            setFocused(row.call.callId)
            onSelect(row.call.callId)
          }}
        />
      ))}
    </div>
  )
}

type Move = { readonly to: string } | { readonly fold: boolean } | { readonly open: true }

function moveFor(key: string, rows: readonly TreeRow[], current: TreeRow): Move | null {
  const index = rows.indexOf(current)
  const folds = current.call.children.length > 0
  const to = (row: TreeRow | undefined): Move | null => (row === undefined ? null : { to: row.call.callId })
  if (key === 'ArrowDown') return to(rows[index + 1])
  if (key === 'ArrowUp') return to(rows[index - 1])
  if (key === 'Home') return to(rows[0])
  if (key === 'End') return to(rows.at(-1))
  if (key === 'ArrowRight') return folds && !current.expanded ? { fold: false } : folds ? to(rows[index + 1]) : null
  if (key === 'ArrowLeft' && folds && current.expanded) return { fold: true }
  if (key === 'ArrowLeft') return to(rows.findLast((row, at) => at < index && row.level < current.level))
  if (key === 'Enter' || key === ' ') return { open: true }
  return null
}

interface RowProps {
  readonly row: TreeRow
  readonly view: ConversationView
  readonly times: Times
  readonly inTabOrder: boolean
  readonly selected: boolean
  readonly onFold: (shut: boolean) => void
  readonly onSelect: () => void
}

function Row({ row, view, times, inTabOrder, selected, onFold, onSelect }: RowProps) {
  const { call, level, state } = row
  const over = state === 'cancelled' && call.endedAt === null
  const { workedMs, waitedMs } = times
  const step = stepWords(view, call)
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree around it takes the keys.
    <div
      role="treeitem"
      aria-level={level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-selected={selected}
      {...(call.children.length > 0 ? { 'aria-expanded': row.expanded } : {})}
      data-call={call.callId}
      data-state={state}
      tabIndex={inTabOrder ? 0 : -1}
      onClick={onSelect}
      className={`flex cursor-default border-l-2 pr-4 pl-2 [contain-intrinsic-size:auto_46px] [content-visibility:auto] -outline-offset-2 ${selected ? 'border-accent bg-accent-soft' : 'border-transparent hover:bg-sunken'}`}
    >
      {Array.from({ length: level - 1 }, (_, depth) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the guides have no other identity.
        <span key={depth} aria-hidden="true" className="ml-[13px] w-[9px] shrink-0 border-l border-line" />
      ))}
      <Fold shown={call.children.length > 0} expanded={row.expanded} onFold={onFold} />
      <span className="mt-[7px] mr-2">
        <StateMark state={state} />
      </span>
      <span className="min-w-0 flex-1 py-1">
        <span className="flex items-baseline gap-3">
          <span className="flex min-w-0 flex-1 items-baseline gap-2">
            <CallName call={call} />
            {step !== null && <Pill>{step}</Pill>}
            {call.returned && <Pill>gave control back</Pill>}
            {call.background && <Pill>background</Pill>}
          </span>
          <span className="shrink-0 text-xs text-muted tabular-nums">
            {call.kind === 'agent' && <>{formatTokens(row.tokens)} tok · </>}
            {over ? '–' : formatElapsed(workedMs)}
          </span>
        </span>
        <span className="flex items-baseline gap-3 text-xs">
          <SecondLine row={row} view={view} />
          {waitedMs >= 1000 && (
            <span className="ml-auto shrink-0 text-muted tabular-nums" title="Time that it waited for people">
              + {formatElapsed(waitedMs)} waiting
            </span>
          )}
        </span>
      </span>
    </div>
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
    </span>
  )
}

function SecondLine({ row, view }: Pick<RowProps, 'row' | 'view'>) {
  const { call, state } = row
  const nameOf = useAgentName()
  const look = 'min-w-0 truncate'
  if (call.error !== null) {
    const tone = state === 'failed' ? 'text-fail' : 'text-muted'
    return <span className={`${look} ${tone}`}>{call.error.detail || call.error.code}</span>
  }
  if (call.interruptionId !== null) return <span className={`${look} text-wait`}>waits for your answer</span>
  if (row.waitsFor.length > 0) {
    const tone = state === 'waiting' ? 'text-wait' : 'text-muted'
    return <span className={`${look} ${tone}`}>waits for {row.waitsFor.map(nameOf).join(', ')}</span>
  }
  if (row.handedTo !== null)
    return <span className={`${look} text-muted`}>handed over to {nameOf(row.handedTo)}, which speaks now</span>
  if (call.artifacts.length > 0) return <span className={`${look} text-muted`}>{savedWords(call)}</span>
  const source = view.calls.get(call.handedFrom ?? '')
  if (source !== undefined) return <span className={`${look} text-muted`}>took over from {nameOf(source.name)}</span>
  const said = call.kind === 'agent' ? call.task : oneLine(call.arguments)
  return said === '' ? null : <span className={`${look} text-muted`}>{said}</span>
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
