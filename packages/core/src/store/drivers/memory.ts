/** The store that keeps everything in memory: for tests, trials and work that may be lost. */
import { systemClock } from '../../identity/clock.ts'
import type { Store } from '../store.ts'
import { agentMethods, replyMethods } from './memory-desk.ts'
import { jobMethods } from './memory-jobs.ts'
import { interruptionMethods, logMethods } from './memory-log.ts'
import type { Memory } from './memory-tables.ts'

/** A store in memory. It keeps nothing after `close`; appends are applied at once, in order. `now` is the machine's clock by default. */
export function memoryStore(options: { readonly now?: () => number } = {}): Store {
  const { now = systemClock.now } = options
  const memory: Memory = { now, databases: new Map(), live: new Set() }
  return {
    now,
    open: async () => {},
    async close() {
      memory.databases.clear()
      memory.live.clear()
    },
    ...logMethods(memory),
    ...jobMethods(memory),
    ...interruptionMethods(memory),
    ...agentMethods(memory),
    ...replyMethods(memory),
  }
}
