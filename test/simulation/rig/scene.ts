/** What a simulated story is made of. */
import type { Runtime, Store } from '@witan/core'
import type { History } from '../../faults/rig/history.ts'
import type { memoryLedger } from '../../faults/rig/ledger.ts'
import type { Gate, SimulatedTime, Turns } from './gate.ts'

/** What simulates: gives turns, and lets one of them happen. */
export interface Simulator {
  readonly turns: Turns
  /** How many wait for their turn. */
  count(): number
  /** Lets one happen, and all that follows from it at once. */
  step(): Promise<void>
  /** How far the second worker's clock is ahead of the others'. */
  readonly skewMs: number
}

/** One logical worker. */
export interface Worker {
  readonly gate: Gate
  readonly runtime: Runtime
}

/** How often each thing happened. */
export interface Tally {
  crashes: number
  freezes: number
  thaws: number
  fenced: number
  recovered: number
}

/** The one conversation of a story. */
export const conversation = 'chats/1'
/** Everything there is in a story. */
export interface Scene {
  readonly simulator: Simulator
  readonly time: SimulatedTime
  readonly root: Store
  readonly ledger: ReturnType<typeof memoryLedger>
  readonly workers: Worker[]
  readonly history: History
  readonly tally: Tally
  made: number
  said: number
}
