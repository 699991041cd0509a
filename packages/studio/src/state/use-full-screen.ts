/** A part of the page that can take the whole screen. */
import { type RefObject, useEffect, useState } from 'react'

/** `toggle` takes the screen or gives it back; Escape gives it back too, also in browsers that leave that to the page. */
export function useFullScreen(part: RefObject<HTMLElement | null>) {
  const [isFull, setIsFull] = useState(false)
  useEffect(() => {
    const look = () => setIsFull(document.fullscreenElement !== null && document.fullscreenElement === part.current)
    document.addEventListener('fullscreenchange', look)
    return () => document.removeEventListener('fullscreenchange', look)
  }, [part])
  useEffect(() => {
    if (!isFull) return
    const onKeyDown = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') void leave()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [isFull])
  // A browser may refuse: then the part stays where it is.
  const toggle = () => void (isFull ? leave() : part.current?.requestFullscreen().catch(() => undefined))
  return { isFull, toggle }
}

async function leave(): Promise<void> {
  if (document.fullscreenElement !== null) await document.exitFullscreen().catch(() => undefined)
}
