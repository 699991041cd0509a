/** A value that is typed, once the typing pauses. */
import { useEffect, useState } from 'react'

const pauseMs = 200

/** The value as it was when it last stood still. */
export function useSettled(value: string): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
