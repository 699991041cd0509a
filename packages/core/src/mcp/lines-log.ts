/** Hands what MCP servers write for people to a log: one line each, short, and not too many. */
import type { Clock } from '../identity/clock.ts'
import { type Hide, said } from './trouble.ts'

/** Writes a line of a server. */
export type ServerLog = (text: string) => void

const longestLine = 1_000
const mostInSecond = 20

/** A log for one server; what exceeds 20 lines a second is counted, and left out. */
export function createServerLog(of: {
  readonly server: string
  readonly clock: Clock
  readonly hide: Hide
  readonly log: (line: string) => void
}): ServerLog {
  let second = 0
  let written = 0
  let left = 0
  return (text) => {
    const now = Math.floor(of.clock.now() / 1000)
    if (now !== second) {
      if (left > 0) of.log(`[${of.server}] … ${left} more lines`)
      second = now
      written = 0
      left = 0
    }
    if (written >= mostInSecond) {
      left += 1
      return
    }
    const line = said(text, of.hide, longestLine)
    if (line === '') return
    written += 1
    of.log(`[${of.server}] ${line}`)
  }
}
