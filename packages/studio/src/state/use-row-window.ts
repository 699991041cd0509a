/** Which rows of a long list are in the page: those near the view, all rows having the same height. */
import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react'

/** How many rows beyond the view are in the page, on both sides: a fast wheel reaches no empty space. */
const beyond = 12
/** The window moves in steps, so that most frames of a scroll change nothing. */
const stride = 6

/** The rows from `first` to before `last`, and the box that scrolls. */
interface RowWindow {
  readonly box: RefObject<HTMLDivElement | null>
  readonly first: number
  readonly last: number
  /** Scrolls as little as needed to bring a row into view. */
  reveal(index: number): void
}

interface RowList {
  readonly count: number
  readonly rowHeight: number
  /** Whether the end stays in sight while rows are added, as long as it is. */
  readonly followsEnd: boolean
}

/** Follows the scrolling of its box. */
export function useRowWindow({ count, rowHeight, followsEnd }: RowList): RowWindow {
  const box = useRef<HTMLDivElement>(null)
  const wasAtEnd = useRef(true)
  const [range, setRange] = useState({ first: 0, last: 2 * beyond })
  const look = useCallback(() => {
    const { scrollTop = 0, clientHeight = 0, scrollHeight = 0 } = box.current ?? {}
    wasAtEnd.current = scrollTop + clientHeight >= scrollHeight - rowHeight
    const first = Math.max(0, (Math.floor(scrollTop / rowHeight / stride) - 1) * stride - beyond + stride)
    const last = (Math.ceil((scrollTop + clientHeight) / rowHeight / stride) + 1) * stride + beyond - stride
    setRange((before) => (before.first === first && before.last === last ? before : { first, last }))
  }, [rowHeight])
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    look()
    const watcher = new ResizeObserver(look)
    watcher.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      watcher.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [look])
  // biome-ignore lint/correctness/useExhaustiveDependencies: what has grown is what asks for the scroll.
  useLayoutEffect(() => {
    const element = box.current
    if (element !== null && followsEnd && wasAtEnd.current) element.scrollTop = element.scrollHeight
  }, [count, followsEnd])
  const reveal = useCallback(
    (index: number) => {
      const element = box.current
      if (element === null) return
      const top = index * rowHeight
      if (top < element.scrollTop) element.scrollTop = top
      else if (top + rowHeight > element.scrollTop + element.clientHeight)
        element.scrollTop = top + rowHeight - element.clientHeight
    },
    [rowHeight],
  )
  return { box, first: Math.min(range.first, count), last: Math.min(range.last, count), reveal }
}
