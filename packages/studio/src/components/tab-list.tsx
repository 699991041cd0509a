/** Tabs: one of several views is shown, and its tab is in the tab order; the arrow keys, Home and End choose another one. */
import { type KeyboardEvent, useRef } from 'react'

interface TabListProps<Value extends string> {
  /** The tabs get `<id>-<value>` as their ids; the panel is `<id>-panel`. */
  readonly id: string
  readonly label: string
  readonly tabs: readonly { readonly value: Value; readonly words: string }[]
  readonly chosen: Value
  readonly onChoose: (value: Value) => void
}

/** The panel is the caller's. */
export function TabList<Value extends string>({ id, label, tabs, chosen, onChoose }: TabListProps<Value>) {
  const list = useRef<HTMLDivElement>(null)
  const onKeyDown = (event: KeyboardEvent) => {
    const at = tabs.findIndex(({ value }) => value === chosen)
    const to = tabs[moveFor(event.key, at, tabs.length) ?? -1]
    if (to === undefined) return
    event.preventDefault()
    onChoose(to.value)
    list.current?.querySelector<HTMLElement>(`#${CSS.escape(`${id}-${to.value}`)}`)?.focus()
  }
  return (
    <div
      ref={list}
      role="tablist"
      aria-label={label}
      className="flex shrink-0 gap-4 overflow-x-auto border-b border-line px-4"
      onKeyDown={onKeyDown}
    >
      {tabs.map(({ value, words }) => (
        <button
          key={value}
          type="button"
          role="tab"
          id={`${id}-${value}`}
          aria-selected={value === chosen}
          aria-controls={`${id}-panel`}
          tabIndex={value === chosen ? 0 : -1}
          onClick={() => onChoose(value)}
          className="min-h-8 border-b-2 border-transparent px-1 text-xs whitespace-nowrap text-muted -outline-offset-2 hover:text-ink aria-selected:border-accent aria-selected:text-ink"
        >
          {words}
        </button>
      ))}
    </div>
  )
}

function moveFor(key: string, at: number, count: number): number | null {
  if (key === 'ArrowRight') return (at + 1) % count
  if (key === 'ArrowLeft') return (at - 1 + count) % count
  if (key === 'Home') return 0
  return key === 'End' ? count - 1 : null
}
