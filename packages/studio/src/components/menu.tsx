/** A button that opens a menu of things to do. */
import { type KeyboardEvent, useId, useLayoutEffect, useRef, useState } from 'react'

/** One thing to do. */
interface MenuItem {
  readonly words: string
  readonly onChoose: () => void
}

interface MenuProps {
  /** The name of the button and of the menu. */
  readonly label: string
  readonly items: readonly MenuItem[]
}

/** How far the menu stands from its button, in px. */
const gap = 4

/** Up, Down, Home and End move in it; Escape, and a click elsewhere, close it. The focus goes back to the button. */
export function Menu({ label, items }: MenuProps) {
  const button = useRef<HTMLButtonElement>(null)
  const menu = useRef<HTMLDivElement>(null)
  const [isOpen, setIsOpen] = useState(false)
  const id = useId()
  const open = () => {
    menu.current?.showPopover()
    setIsOpen(true)
  }
  useLayoutEffect(() => {
    const [list, from] = [menu.current, button.current]
    if (!isOpen || list === null || from === null) return
    placeAt(list, from.getBoundingClientRect())
    itemsOf(list)[0]?.focus()
  }, [isOpen])
  const close = () => {
    menu.current?.hidePopover()
    setIsOpen(false)
    button.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const all = itemsOf(menu.current)
    const to = moveFor(event.key, all.indexOf(document.activeElement as HTMLElement), all.length)
    if (event.key === 'Escape' || event.key === 'Tab') close()
    if (to === null && event.key !== 'Escape') return
    event.preventDefault()
    if (to !== null) all[to]?.focus()
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => (isOpen ? close() : open())}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown') return
          event.preventDefault()
          open()
        }}
        className="inline-flex size-6 shrink-0 items-center justify-center rounded-md text-muted hover:bg-sunken hover:text-ink"
      >
        <svg viewBox="0 0 16 16" className="size-4" fill="currentColor" aria-hidden="true">
          <circle cx="3" cy="8" r="1.4" />
          <circle cx="8" cy="8" r="1.4" />
          <circle cx="13" cy="8" r="1.4" />
        </svg>
      </button>
      <div
        ref={menu}
        id={id}
        role="menu"
        aria-label={label}
        popover="auto"
        tabIndex={-1}
        onToggle={(event) => event.newState === 'closed' && setIsOpen(false)}
        onKeyDown={onKeyDown}
        className="fixed m-0 min-w-40 rounded-md border border-line-strong bg-panel p-1 text-left text-ink shadow-lg"
      >
        {(isOpen ? items : []).map(({ words, onChoose }) => (
          <button
            key={words}
            type="button"
            role="menuitem"
            tabIndex={-1}
            onClick={() => {
              close()
              onChoose()
            }}
            className="block min-h-8 w-full rounded px-2.5 text-left text-sm whitespace-nowrap -outline-offset-2 hover:bg-sunken focus:bg-accent-soft"
          >
            {words}
          </button>
        ))}
      </div>
    </>
  )
}

/** Below the button, above it where there is no room, and never beside the page. */
function placeAt(list: HTMLElement, at: DOMRect): void {
  const { offsetWidth, offsetHeight } = list
  const isBelow = at.bottom + gap + offsetHeight <= window.innerHeight
  list.style.top = `${isBelow ? at.bottom + gap : at.top - gap - offsetHeight}px`
  list.style.left = `${Math.max(gap, Math.min(at.left, window.innerWidth - offsetWidth - gap))}px`
}

function itemsOf(list: HTMLElement | null): HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])]
}

function moveFor(key: string, at: number, count: number): number | null {
  if (key === 'ArrowDown') return (at + 1) % count
  if (key === 'ArrowUp') return (at - 1 + count) % count
  if (key === 'Home') return 0
  return key === 'End' ? count - 1 : null
}
