/** Spreads requests that arrive at once over turns of the event loop, so that no number of them holds it for long. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** How much work one turn of the event loop accepts. Tests use small numbers. */
export interface TurnstileLimits {
  /** After this time, in ms, no further request begins in the turn. */
  readonly turnMs: number
  /** No more requests than this begin in one turn, and no more connections are read again in it, after all were held. */
  readonly requests: number
}

const defaultLimits: TurnstileLimits = { turnMs: 10, requests: 100 }

/** One turn. Its clock does not see what requests do after they first wait, so they are counted, too. */
interface Turn {
  readonly endsAt: number
  begun: number
}

/** Admits requests turn by turn. */
interface Turnstile {
  /** Begins the work of a request: at once, or in a later turn. Requests begin in the order in which they arrived. */
  admit(begin: () => void): void
}

/**
 * Creates the turnstile of a server. One poll of the system hands over every connection that has something to read, thousands at a
 * time, and Node parses and emits them all in one turn. So when a turn is full and yet another request arrives, no connection is
 * read any more; later turns begin the requests that wait, and then read some connections after the others.
 */
export function createTurnstile(
  server: Server,
  { limits = defaultLimits, now = () => performance.now() }: { limits?: TurnstileLimits; now?: () => number } = {},
): Turnstile {
  const read = new Set<Socket>()
  const held = new Set<Socket>()
  const waiting: (() => void)[] = []
  /** Null until a request arrives in it, and while there is nothing to spread. */
  let turn: Turn | null = null

  server.on('connection', (socket: Socket) => {
    read.add(socket)
    socket.once('close', () => {
      read.delete(socket)
      held.delete(socket)
    })
  })

  function holdAll(): void {
    for (const socket of read) {
      socket.pause()
      held.add(socket)
    }
    read.clear()
  }

  function readSome(): void {
    let left = limits.requests
    for (const socket of held) {
      if (left === 0) return
      left -= 1
      held.delete(socket)
      read.add(socket)
      socket.resume()
    }
  }

  function openTurn(): Turn {
    setImmediate(nextTurn)
    turn = { endsAt: now() + limits.turnMs, begun: 0 }
    return turn
  }

  /** True if one more request may begin in this turn, which then counts. While requests wait, the turn is full. */
  function hasRoom(): boolean {
    const current = turn ?? openTurn()
    if (current.begun >= limits.requests || now() >= current.endsAt) return false
    current.begun += 1
    return true
  }

  function nextTurn(): void {
    turn = null
    if (waiting.length === 0 && held.size === 0) return
    openTurn()
    let begun = 0
    for (; begun < waiting.length && hasRoom(); begun += 1) waiting[begun]?.()
    waiting.splice(0, begun)
    if (waiting.length === 0) readSome()
  }

  return {
    admit(begin) {
      if (hasRoom()) return begin()
      waiting.push(begin)
      holdAll()
    },
  }
}
