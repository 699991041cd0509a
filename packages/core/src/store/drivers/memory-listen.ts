/** What the stores on the same tables in memory tell each other, as processes on one database would. */
import type { Store, StoreListener } from '../store.ts'
import type { Handle, Memory, MemoryAccess } from './memory-tables.ts'

/**
 * Calls the listeners of all stores on the same tables, later and never from within the call that it is about. A store's only
 * listener does not hear of what that store did; where it has several, as when runtimes share it, each may hear of its own.
 */
export function tellOthers({ memory, handle: from }: MemoryAccess, call: (listener: StoreListener) => void): void {
  for (const { listeners } of memory.handles) {
    if (listeners === from.listeners && listeners.size < 2) continue
    for (const one of listeners) {
      queueMicrotask(() => {
        if (listeners.has(one)) call(one.listener)
      })
    }
  }
}

/** Whether anybody but this store could hear of what it does. */
export function isHeard({ memory, handle }: MemoryAccess): boolean {
  return memory.handles.size > 1 || handle.listeners.size > 1
}

type ListenMethods = Pick<Store, 'listen' | 'say'>

/** The methods of a store that are about other processes. */
export function listenMethods(access: MemoryAccess): ListenMethods {
  return {
    listen(listener) {
      const one = { listener }
      access.handle.listeners.add(one)
      return () => {
        access.handle.listeners.delete(one)
      }
    },
    say: (database, conversation, text) =>
      tellOthers(access, (listener) => listener.said({ database, conversation }, text)),
  }
}

/** Takes a store from the tables; the last one leaves nothing behind. */
export function leave(memory: Memory, handle: Handle): void {
  handle.listeners.clear()
  memory.handles.delete(handle)
  if (memory.handles.size > 0) return
  memory.databases.clear()
  memory.live.clear()
}
