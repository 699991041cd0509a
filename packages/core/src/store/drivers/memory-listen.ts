/** Notifications between stores on the same tables in memory, as between processes on one database. */
import type { StoreListener } from '../listener.ts'
import type { Store } from '../store.ts'
import { emptyLine, type OpenStore, type Memory, type MemoryAccess } from './memory-tables.ts'

/**
 * Calls the listeners of all stores on the same tables, later and never during the call that caused it. If a store has only one
 * listener, its own changes are not reported to it. If it has several, as when runtimes share it, each may get its own changes.
 */
export function notifyOthers({ memory, handle: from }: MemoryAccess, call: (listener: StoreListener) => void): void {
  for (const { listeners } of memory.handles) {
    if (listeners !== from.listeners || listeners.size > 1) notify(listeners, call)
  }
}

/** Calls every listener of every store on the tables, later, for a change that no caller asked for. */
export function notifyAll({ handles }: Memory, call: (listener: StoreListener) => void): void {
  for (const { listeners } of handles) notify(listeners, call)
}

function notify(listeners: OpenStore['listeners'], call: (listener: StoreListener) => void): void {
  for (const one of listeners) {
    queueMicrotask(() => {
      if (listeners.has(one)) call(one.listener)
    })
  }
}

/** Whether a change of this store has any listener to notify. */
export function hasListeners({ memory, handle }: MemoryAccess): boolean {
  return memory.handles.size > 1 || handle.listeners.size > 1
}

type ListenMethods = Pick<Store, 'listen' | 'notify'>

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
    notify: (database, conversation, text) =>
      notifyOthers(access, (listener) => listener.received({ database, conversation }, text)),
  }
}

/** Takes a store from the tables; the last one leaves nothing behind. */
export async function leave(memory: Memory, handle: OpenStore): Promise<void> {
  handle.listeners.clear()
  memory.handles.delete(handle)
  if (memory.handles.size > 0) return
  memory.databases.clear()
  memory.secrets.clear()
  memory.live.clear()
  Object.assign(memory.resting, emptyLine())
  await memory.knowledge.close()
}
