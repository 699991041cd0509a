/** The store that keeps everything in memory: for tests, trials and work that may be lost. */
import { WitanError } from '@witan/protocol'
import { systemClock } from '../../identity/clock.ts'
import type { Store } from '../store.ts'
import { agentMethods, replyMethods } from './memory-agents.ts'
import { artifactMethods } from './memory-artifacts.ts'
import { blockMethods } from './memory-blocks.ts'
import { contentMethods } from './memory-contents.ts'
import { interruptionMethods } from './memory-interruptions.ts'
import { jobMethods } from './memory-jobs.ts'
import { leave, listenMethods } from './memory-listen.ts'
import { logMethods } from './memory-log.ts'
import { recordMethods } from './memory-records.ts'
import { restLimits } from './memory-rest.ts'
import { emptyLine, type OpenStore, type Memory, type MemoryAccess, type RestLimits } from './memory-tables.ts'
import { snapshotMethods } from './memory-snapshot.ts'
import { usageMethods } from './memory-usage.ts'
import { embeddedKnowledge } from './sqlite-knowledge.ts'

/** Options of a store in memory. */
export interface MemoryStoreOptions {
  /** Default: the machine's clock. */
  readonly now?: () => number
  /** Another store in memory. Both share tables, clock and limits, as two processes share a database. */
  readonly beside?: Store
  /**
   * How many inactive conversations are kept, those without a live job or an open interruption. Beyond that the least recently
   * written one is dropped with all its rows, as if it had expired. Default 1000; `Infinity` keeps all.
   */
  readonly maxResting?: number
  /** How long an inactive conversation is kept after its last write, in ms. Default a day; `Infinity` keeps it forever. */
  readonly maxRestingMs?: number
}

const memories = new WeakMap<Store, Memory>()

/**
 * A store in memory. Appends are applied at once, in order. Only the latest inactive conversations are kept, and nothing once this
 * store and every store beside it is closed. Throws `CONFIG_INVALID` for an invalid limit, or a `beside` that is not a store in memory.
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  const { now = systemClock.now, beside } = options
  const memory = beside === undefined ? newMemory(now, restLimits(options)) : memoryOf(beside)
  const handle: OpenStore = { listeners: new Set() }
  memory.handles.add(handle)
  memory.knowledge.open()
  const access: MemoryAccess = { memory, handle }
  const store: Store = {
    now: memory.now,
    history: 0,
    async open() {
      memory.handles.add(handle)
      memory.knowledge.open()
    },
    close: () => leave(memory, handle),
    knowledge: memory.knowledge.records,
    ...logMethods(access),
    ...jobMethods(access),
    ...interruptionMethods(access),
    ...agentMethods(access),
    ...recordMethods(access),
    ...blockMethods(access),
    ...replyMethods(access),
    ...snapshotMethods(access),
    ...contentMethods(access),
    ...artifactMethods(access),
    ...usageMethods(access),
    ...listenMethods(access),
  }
  memories.set(store, memory)
  return store
}

function newMemory(now: () => number, limits: RestLimits): Memory {
  return {
    now,
    databases: new Map(),
    secrets: new Map(),
    live: new Set(),
    handles: new Set(),
    limits,
    resting: emptyLine(),
    knowledge: embeddedKnowledge({ file: null, synchronous: 'normal', now }),
  }
}

function memoryOf(store: Store): Memory {
  const memory = memories.get(store)
  if (memory !== undefined) return memory
  throw new WitanError('CONFIG_INVALID', '`beside` is not a store in memory.', {
    hint: 'Give what `memoryStore()` returned, without anything around it.',
  })
}
