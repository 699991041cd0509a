/** What a client knows for certain: every request that was acknowledged, and every event it read, with its id. */
import type { AnyEvent } from '@witan/protocol'

/** An input that a server answered with 2xx. `value` is the text of a message, the JSON of an answer. */
export interface Acknowledged {
  readonly kind: 'message' | 'answer' | 'cancel'
  readonly conversation: string
  /** The run or task that was cancelled, or the interruption that was answered. */
  readonly subject: string | null
  readonly value: string
}

/** Events as one connection gave them, in order, each with the id of its frame. */
export interface Connection {
  readonly conversation: string
  /** What it asked for: events after this. */
  readonly from: number
  /** Whether it asked for every event; else some may be left out, and the order is still theirs. */
  readonly whole: boolean
  readonly frames: { readonly id: number; readonly event: AnyEvent }[]
  /** Text as it came live, by call. */
  readonly deltas: AnyEvent[]
}

/** One client's history, or that of several. */
export interface History {
  readonly acknowledged: Acknowledged[]
  /** Answers to interruptions that were refused with 409. */
  readonly conflicts: Acknowledged[]
  readonly connections: Connection[]
  /** How many operations were meant, and how many were acknowledged in the end. */
  intended: number
}

export function newHistory(): History {
  return { acknowledged: [], conflicts: [], connections: [], intended: 0 }
}
