/** The tree of a run: every agent and tool with its state, task, tokens and time. Arrow keys move in it. */
import type { ConversationView } from '@witan/client'
import { countModelCalls, modelsByCall, unreadRowId } from '../state/model-calls.ts'
import { type KeyboardEvent, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { formatNumber } from '../state/format.ts'
import { type TreeRow, treeRows } from '../state/tree.ts'
import { useModelCalls } from '../state/use-model-calls.ts'
import { useNow } from '../state/use-now.ts'
import { useRowWindow } from '../state/use-row-window.ts'
import { RunRow, rowHeight } from './run-row.tsx'
import { RunSearch } from './run-search.tsx'

interface TreeProps {
  readonly conversationId: string
  readonly view: ConversationView
  readonly runId: string
  /** The id of a row. */
  readonly selected: string | null
  readonly onSelect: (callId: string) => void
  /** Of the box that scrolls. */
  readonly className: string
}

/** In a longer tree not all rows are in the page, so the page has a search of its own. */
const searchFrom = 40

/**
 * Only rows near the view are in the page; what assistive technology reads is of the whole tree. One row is in the tab order; Up,
 * Down, Home and End move, Left and Right fold, Enter opens the details. While the run works its end stays in sight, unless somebody
 * has scrolled up or works in the tree.
 */
export function RunTree({ conversationId, view, runId, selected, onSelect, className }: TreeProps) {
  const { collapsed, fold, unfoldAll } = useFolds()
  const { tree, focused, setFocused, moveTo } = useFocused()
  const { rows, unfolded, models, readMore } = useRows({ conversationId, view, runId }, collapsed)
  const active = useMemo(() => new Set(rows.map(({ state }) => state)), [rows])
  const atWork = active.has('running')
  const now = useNow(atWork || active.has('waiting'), atWork ? 200 : 1000)
  const indexOf = useMemo(() => new Map(rows.map((row, index) => [row.id, index])), [rows])
  const current = indexOf.get(focused ?? '') ?? indexOf.get(selected ?? '') ?? 0
  const { box, first, last, reveal } = useRowWindow({
    count: rows.length,
    rowHeight,
    followsEnd: atWork && focused === null && selected === null,
  })
  useReadNear(rows.slice(first, last), readMore)
  useReadFocus(rows, { focused, isThere: indexOf.has(focused ?? ''), setFocused, moveTo })
  const select = useCallback(
    (callId: string) => {
      setFocused(callId)
      onSelect(callId)
    },
    [onSelect, setFocused],
  )
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[current]
    const move = row === undefined ? null : moveFor(event.key, rows, row)
    if (row === undefined || move === null) return
    event.preventDefault()
    if ('fold' in move) return fold(row.id, move.fold)
    if ('open' in move) return row.unread === null ? onSelect(row.id) : undefined
    moveTo(move.to)
    reveal(indexOf.get(move.to) ?? 0)
  }
  // Its details take room from the tree.
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was chosen is what asks for it.
  useLayoutEffect(() => {
    if (selected !== null) reveal(current)
  }, [selected])
  return (
    <>
      {view.calls.size > searchFrom && (
        <RunSearch
          key={runId}
          view={view}
          runId={runId}
          onFind={(callId) => {
            unfoldAll()
            setFocused(callId)
            reveal(unfolded().findIndex(({ id }) => id === callId))
          }}
        />
      )}
      {models}
      <div ref={box} className={className}>
        <div
          ref={tree}
          role="tree"
          aria-label="Calls of this run"
          onKeyDown={onKeyDown}
          data-testid="tree"
          className="relative"
          style={{ height: rows.length * rowHeight }}
        >
          {shownRows(rows, { first, last, current }).map(([row, index]) => (
            <RunRow
              key={row.id}
              row={row}
              top={index * rowHeight}
              view={view}
              now={isOver(row) ? 0 : now}
              inTabOrder={index === current}
              found={row.id === focused}
              selected={row.id === selected}
              onFold={fold}
              onSelect={select}
            />
          ))}
        </div>
        {selected === null && (
          <p className="px-4 pt-3 text-xs text-muted">Choose a node to see its input and its result.</p>
        )}
      </div>
    </>
  )
}

const noFolds: ReadonlySet<string> = new Set()

/** The rows of the run, with its model calls unless somebody hides them; and the box that hides them. */
function useRows(
  { conversationId, view, runId }: Pick<TreeProps, 'conversationId' | 'view' | 'runId'>,
  collapsed: ReadonlySet<string>,
) {
  const [isShown, setIsShown] = useState(true)
  const known = useModelCalls(conversationId, { view, runId }, isShown)
  const more = useMemo(
    () => (isShown && known !== null ? { models: modelsByCall(known.lines), isPart: known.isPart } : {}),
    [known, isShown],
  )
  const rows = useMemo(() => treeRows(view, runId, { collapsed, ...more }), [view, runId, collapsed, more])
  const models =
    known === null || known.lines.length === 0 ? null : (
      <div className="flex shrink-0 items-center gap-1 px-4 py-1 text-xs text-muted">
        <label className="flex items-center gap-2">
          <input type="checkbox" checked={isShown} onChange={(event) => setIsShown(event.target.checked)} />
          Model calls
        </label>
        <span className="tabular-nums">({formatNumber(countModelCalls(view, runId, known))})</span>
      </div>
    )
  const unfolded = () => treeRows(view, runId, { collapsed: noFolds, ...more })
  return { rows, unfolded, models, readMore: isShown && known?.isPart === true ? known.more : null }
}

/** Reads more model calls as long as one near the view is not read. */
function useReadNear(near: readonly TreeRow[], readMore: ((callId: string) => void) | null): void {
  const callId = near.find(({ unread }) => unread !== null)?.call.callId
  useEffect(() => {
    if (callId !== undefined) readMore?.(callId)
  })
}

/** The focus on a model call that was not read yet stays on it when it comes. */
function useReadFocus(
  rows: readonly TreeRow[],
  { focused, isThere, setFocused, moveTo }: Omit<ReturnType<typeof useFocused>, 'tree'> & { readonly isThere: boolean },
): void {
  useLayoutEffect(() => {
    if (focused === null || isThere) return
    const row = rows.find(({ call, model }) => model !== null && unreadRowId(call.callId, model.number) === focused)
    if (row === undefined) return
    // Its row before has left the page, and took the focus with it.
    if (document.activeElement === document.body) moveTo(row.id)
    else setFocused(row.id)
  })
}

/** The row that keys or a search went to last. `moveTo` also gives it the focus, once it is in the page. */
function useFocused() {
  const tree = useRef<HTMLDivElement>(null)
  const [focused, setFocused] = useState<string | null>(null)
  const isMoved = useRef(false)
  useLayoutEffect(() => {
    if (!isMoved.current || focused === null) return
    isMoved.current = false
    tree.current?.querySelector<HTMLElement>(`[data-call="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true })
  }, [focused])
  const moveTo = (callId: string) => {
    isMoved.current = true
    setFocused(callId)
  }
  return { tree, focused, setFocused, moveTo }
}

/** The calls whose children are not shown. */
function useFolds() {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(noFolds)
  const fold = useCallback((callId: string, shut: boolean) => {
    setCollapsed((before) => {
      const next = new Set(before)
      if (shut) next.add(callId)
      else next.delete(callId)
      return next
    })
  }, [])
  return { collapsed, fold, unfoldAll: () => setCollapsed(noFolds) }
}

/** The rows near the view, and the one in the tab order wherever it is: the focus is never lost. */
function shownRows(rows: readonly TreeRow[], at: { first: number; last: number; current: number }) {
  const near = rows.slice(at.first, at.last).map((row, index) => [row, at.first + index] as const)
  const current = rows[at.current]
  if (current === undefined || (at.current >= at.first && at.current < at.last)) return near
  return at.current < at.first ? [[current, at.current] as const, ...near] : [...near, [current, at.current] as const]
}

/** Its times change no more. */
function isOver({ call, model, state }: TreeRow): boolean {
  return (model ?? call).endedAt !== null && state !== 'running' && state !== 'waiting'
}

type Move = { readonly to: string } | { readonly fold: boolean } | { readonly open: true }

function moveFor(key: string, rows: readonly TreeRow[], current: TreeRow): Move | null {
  const index = rows.indexOf(current)
  const folds = current.below > 0
  const to = (row: TreeRow | undefined): Move | null => (row === undefined ? null : { to: row.id })
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
