/** A part of the page that scrolls by itself. Where it holds more than it shows, the keys reach it under its name. */
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'

interface BoxProps {
  readonly label: string
  readonly className: string
  readonly testId?: string
  readonly children: ReactNode
}

/** In the tab order only while there is something to scroll to, so that the arrow keys scroll it. */
export function ScrollBox({ label, className, testId, children }: BoxProps) {
  const box = useRef<HTMLDivElement>(null)
  const [overflows, setOverflows] = useState(false)
  const look = () => {
    const { scrollHeight = 0, clientHeight = 0, scrollWidth = 0, clientWidth = 0 } = box.current ?? {}
    setOverflows(scrollHeight > clientHeight || scrollWidth > clientWidth)
  }
  useLayoutEffect(look)
  useEffect(() => {
    const watcher = new ResizeObserver(look)
    if (box.current !== null) watcher.observe(box.current)
    return () => watcher.disconnect()
  })
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has another meaning.
    <div
      ref={box}
      role="group"
      aria-label={label}
      {...(overflows ? { tabIndex: 0 } : {})}
      className={`overflow-auto -outline-offset-2 ${className}`}
      data-testid={testId}
    >
      {children}
    </div>
  )
}
