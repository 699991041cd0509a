/** Writes down when API keys were used, to the minute, in batches and beside the requests. */
import type { KeyLookup, KnownKey } from '@witan/core/tooling'
import type { Log } from './log.ts'

const minuteMs = 60_000
const flushMs = 15_000
const atOnce = 500

/** The uses of keys. */
interface KeyUses {
  /** Remembers that this key is in use now. Costs no look at the store. */
  note(key: KnownKey): void
  /** Writes what was noted; a failure is logged. Later uses are not noted any more, since the store may be closed then. */
  close(): Promise<void>
}

/** Notes uses, and writes them a quarter of a minute later. */
export function createKeyUses(store: Pick<KeyLookup, 'now' | 'noteUses'>, log: Log): KeyUses {
  const noted = new Map<string, { readonly keyId: string; readonly database: string; readonly at: number }>()
  let timer: NodeJS.Timeout | null = null
  let isClosed = false
  async function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer)
    timer = null
    const uses = [...noted.values()]
    noted.clear()
    try {
      for (let from = 0; from < uses.length; from += atOnce) await store.noteUses(uses.slice(from, from + atOnce))
    } catch (error) {
      log('warn', 'the last uses of API keys could not be stored', { error })
    }
  }
  return {
    note({ keyId, lastUsedAt, principal: { database } }) {
      const at = Math.floor(store.now(database) / minuteMs) * minuteMs
      if (isClosed || (lastUsedAt ?? 0) >= at || (noted.get(keyId)?.at ?? 0) >= at) return
      noted.set(keyId, { keyId, database, at })
      timer ??= setTimeout(() => void flush(), flushMs).unref()
    },
    close() {
      isClosed = true
      return flush()
    },
  }
}
