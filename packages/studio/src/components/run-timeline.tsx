/** A run on a line of time: a bar for each call, in which work and waiting for people differ in pattern. */
import type { ConversationView } from '@witan/client'
import { type KeyboardEvent, memo, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { formatElapsed } from '../state/format.ts'
import { useAgentName } from '../state/queries.ts'
import { type TimelineItem, ticksOf, timelineOf, timelineWords } from '../state/timeline.ts'
import { runSummary } from '../state/tree.ts'
import { useNow } from '../state/use-now.ts'
import { useRowWindow } from '../state/use-row-window.ts'
import { AgentSign } from './agent-sign.tsx'

/** In px, of all rows alike. */
const rowHeight = 34
/** Names stop here; deeper calls are told apart in the tree. */
const mostIndent = 8

interface TimelineProps {
  readonly view: ConversationView
  readonly runId: string
  readonly selected: string | null
  readonly onSelect: (callId: string) => void
}

/** Only rows near the view are in the page. One row is in the tab order; Up, Down, Home and End move, Enter opens the details. */
export function RunTimeline({ view, runId, selected, onSelect }: TimelineProps) {
  const { state } = runSummary(view, runId)
  const isOpen = state === 'running' || state === 'waiting'
  const now = useNow(isOpen, state === 'running' ? 200 : 1000)
  const { items, wholeMs } = useMemo(() => timelineOf(view, runId, now), [view, runId, now])
  const list = useRef<HTMLOListElement>(null)
  const [current, setCurrent] = useState(0)
  const isMoved = useRef(false)
  const { box, first, last, reveal } = useRowWindow({ count: items.length, rowHeight, followsEnd: false })
  useLayoutEffect(() => {
    if (!isMoved.current) return
    isMoved.current = false
    list.current?.querySelector<HTMLElement>(`[data-row="${current}"] button`)?.focus({ preventScroll: true })
  }, [current])
  const onKeyDown = (event: KeyboardEvent) => {
    const to = moveFor(event.key, current, items.length)
    if (to === null) return
    event.preventDefault()
    isMoved.current = to !== current
    setCurrent(to)
    reveal(to)
  }
  return (
    <div className="flex min-h-0 flex-1 flex-col" data-testid="timeline">
      <Scale wholeMs={wholeMs} />
      <div ref={box} className="min-h-0 flex-1 overflow-y-auto">
        <ol
          ref={list}
          aria-label="Timeline"
          className="relative"
          style={{ height: items.length * rowHeight }}
          onKeyDown={onKeyDown}
        >
          {shownItems(items, { first, last, current }).map(([item, index]) => (
            <TimelineRow
              key={item.call.callId}
              item={item}
              index={index}
              count={items.length}
              wholeMs={wholeMs}
              inTabOrder={index === current}
              selected={item.call.callId === selected}
              onSelect={() => {
                setCurrent(index)
                onSelect(item.call.callId)
              }}
            />
          ))}
        </ol>
      </div>
    </div>
  )
}

function shownItems(items: readonly TimelineItem[], at: { first: number; last: number; current: number }) {
  const near = items.slice(at.first, at.last).map((item, index) => [item, at.first + index] as const)
  const current = items[at.current]
  if (current === undefined || (at.current >= at.first && at.current < at.last)) return near
  return at.current < at.first ? [[current, at.current] as const, ...near] : [...near, [current, at.current] as const]
}

function moveFor(key: string, current: number, count: number): number | null {
  if (key === 'ArrowDown') return Math.min(current + 1, count - 1)
  if (key === 'ArrowUp') return Math.max(current - 1, 0)
  if (key === 'Home') return 0
  return key === 'End' ? count - 1 : null
}

const columns = 'grid grid-cols-[minmax(7rem,38%)_minmax(0,1fr)] gap-2 px-4'

/** What the bars mean, and the moments below which they stand. */
function Scale({ wholeMs }: { readonly wholeMs: number }) {
  return (
    <div className={`${columns} shrink-0 border-b border-line py-1.5 text-xs text-muted`}>
      <span className="flex flex-wrap gap-x-3">
        <span className="flex items-center gap-1">
          <span className="timeline-work inline-block h-2 w-4 rounded-xs" /> works
        </span>
        <span className="flex items-center gap-1">
          <span className="timeline-wait inline-block h-2 w-4 rounded-xs" /> waits
        </span>
      </span>
      <span aria-hidden="true" className="relative h-4 tabular-nums">
        {ticksOf(wholeMs).map((ms) => (
          <span
            key={ms}
            className={`absolute whitespace-nowrap ${ms / wholeMs > 0.85 ? '-translate-x-full' : ''}`}
            style={{ left: `${wholeMs === 0 ? 0 : (ms / wholeMs) * 100}%` }}
          >
            {ms === 0 ? '0' : formatElapsed(ms)}
          </span>
        ))}
      </span>
    </div>
  )
}

interface RowProps {
  readonly item: TimelineItem
  readonly index: number
  readonly count: number
  readonly wholeMs: number
  readonly inTabOrder: boolean
  readonly selected: boolean
  readonly onSelect: () => void
}

const TimelineRow = memo(function Row({ item, index, count, wholeMs, inTabOrder, selected, onSelect }: RowProps) {
  const nameOf = useAgentName()
  const { call, level } = item
  const isAgent = call.kind === 'agent'
  const name = isAgent ? nameOf(call.name) : call.name
  const words = timelineWords(item, name)
  return (
    <li
      aria-label={words}
      aria-posinset={index + 1}
      aria-setsize={count}
      data-row={index}
      className="absolute inset-x-0"
      style={{ top: index * rowHeight, height: rowHeight }}
    >
      <button
        type="button"
        tabIndex={inTabOrder ? 0 : -1}
        aria-pressed={selected}
        onClick={onSelect}
        className={`${columns} h-full w-full items-center border-l-2 text-left -outline-offset-2 ${selected ? 'border-accent bg-accent-soft' : 'border-transparent hover:bg-sunken'}`}
      >
        <span className="sr-only">{words}</span>
        <span
          aria-hidden="true"
          className="flex min-w-0 items-center gap-1.5"
          style={{ paddingLeft: `${Math.min(level - 1, mostIndent) * 0.6}rem` }}
        >
          {isAgent && <AgentSign id={call.name} />}
          <span className={`truncate ${isAgent ? 'font-medium' : 'font-mono text-xs'}`}>{name}</span>
        </span>
        <Bar item={item} wholeMs={wholeMs} />
      </button>
    </li>
  )
})

/** Its parts stand beside each other. What took no time is a mark. */
function Bar({ item: { periods, fromMs, workedMs, waitedMs, grows }, wholeMs }: Pick<RowProps, 'item' | 'wholeMs'>) {
  const percent = (ms: number) => `${wholeMs === 0 ? 0 : (ms / wholeMs) * 100}%`
  const end = (periods.at(-1)?.toMs ?? fromMs) / Math.max(wholeMs, 1)
  return (
    <span aria-hidden="true" className="relative block h-full">
      {(periods.length === 0 ? [{ fromMs, toMs: fromMs, isWaiting: false }] : periods).map((one) => (
        <span
          key={one.fromMs}
          className={`absolute top-[11px] h-3 min-w-0.5 ${one.isWaiting ? 'timeline-wait' : 'timeline-work'} ${grows && one.toMs === periods.at(-1)?.toMs ? 'timeline-grows' : ''}`}
          style={{ left: percent(one.fromMs), width: percent(one.toMs - one.fromMs) }}
        />
      ))}
      <span
        className={`absolute top-[9px] px-1.5 text-xs whitespace-nowrap text-muted tabular-nums ${end > 0.6 ? 'hidden' : ''}`}
        style={{ left: `${end * 100}%` }}
      >
        {formatElapsed(workedMs)}
        {waitedMs >= 1000 && ` + ${formatElapsed(waitedMs)}`}
      </span>
    </span>
  )
}
