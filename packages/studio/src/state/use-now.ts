/** The time, for clocks that run on the page. */
import { useEffect, useState } from 'react'

/** Milliseconds since 1970, updated every `everyMs` while `running`; constant otherwise. */
export function useNow(running: boolean, everyMs = 200): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!running) return
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [running, everyMs])
  return now
}
