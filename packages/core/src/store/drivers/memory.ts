/** The store that keeps everything in memory: for tests, trials and work that may be lost. */
import { WitanError } from '@witan/protocol'
import { systemClock } from '../../identity/clock.ts'
import type { Store } from '../store.ts'
import { agentMethods, replyMethods } from './memory-desk.ts'
import { interruptionMethods } from './memory-interruptions.ts'
import { jobMethods } from './memory-jobs.ts'
import { leave, listenMethods } from './memory-listen.ts'
import { logMethods } from './memory-log.ts'
import type { Handle, Memory, MemoryAccess } from './memory-tables.ts'
import { wholeMethods } from './memory-whole.ts'

/** How a store in memory is made. */
export interface MemoryStoreOptions {
  /** Default: the machine's clock. */
  readonly now?: () => number
  /** Another store in memory, whose tables and clock this one shares, as two processes share a database. */
  readonly beside?: Store
}

const memories = new WeakMap<Store, Memory>()

/**
 * A store in memory. Appends are applied at once, in order; nothing is kept once it, and every store beside it, is closed. Throws
 * `CONFIG_INVALID` where `beside` is no store in memory.
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  const { now = systemClock.now, beside } = options
  const memory = beside === undefined ? newMemory(now) : memoryOf(beside)
  const handle: Handle = { listeners: new Set() }
  memory.handles.add(handle)
  const access: MemoryAccess = { memory, handle }
  const store: Store = {
    now: memory.now,
    async open() {
      memory.handles.add(handle)
    },
    close: async () => leave(memory, handle),
    ...logMethods(access),
    ...jobMethods(access),
    ...interruptionMethods(access),
    ...agentMethods(access),
    ...replyMethods(access),
    ...wholeMethods(access),
    ...listenMethods(access),
  }
  memories.set(store, memory)
  return store
}

function newMemory(now: () => number): Memory {
  return { now, databases: new Map(), live: new Set(), handles: new Set() }
}

function memoryOf(store: Store): Memory {
  const memory = memories.get(store)
  if (memory !== undefined) return memory
  throw new WitanError('CONFIG_INVALID', '`beside` is not a store in memory.', {
    hint: 'Give what `memoryStore()` returned, without anything around it.',
  })
}
