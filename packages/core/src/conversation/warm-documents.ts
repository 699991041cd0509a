/** Keeps the folds of recently read documents, so that the next page reads only newer entries. */
import type { Entry } from '@witan/protocol/entries'
import { type DocumentFold, emptyDocument, applyEntry } from './document.ts'

/** Stored entries of a conversation after a seq, in order. */
type ReadEntries = (of: {
  readonly database: string
  readonly conversation: string
  readonly after: number
}) => AsyncIterable<Entry>

/** A fold, and the last entry that it has taken. */
interface WarmDocument {
  fold: DocumentFold
  last: Pick<Entry, 'seq' | 'job' | 'appendNo'> | null
}

interface Place {
  readonly database: string
  readonly path: string
}

/** The id of a document's conversation: the first two parts of the path. */
export function conversationOf(path: string): string {
  return path.split('/', 2).join('/')
}

/** The recently read documents of a process. */
export class WarmDocuments {
  readonly #read: ReadEntries
  readonly #capacity: number
  /** Each is the promise of its latest update; a concurrent reader waits for it and continues from there. */
  readonly #kept = new Map<string, Promise<WarmDocument>>()

  /** Keeps at most `capacity` documents and drops the least recently read. */
  constructor(read: ReadEntries, capacity = 16) {
    this.#read = read
    this.#capacity = capacity
  }

  /** The document with everything stored at the time of the call. The next read changes the returned fold. */
  async latest(place: Place): Promise<WarmDocument> {
    const key = `${place.database}\n${place.path}`
    const reading = this.#bringUp(place, this.#kept.get(key))
    this.#kept.delete(key)
    this.#kept.set(key, reading)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#capacity) break
      this.#kept.delete(oldest)
    }
    try {
      return await reading
    } catch (error) {
      if (this.#kept.get(key) === reading) this.#kept.delete(key)
      throw error
    }
  }

  /** Drops the documents of a conversation. */
  drop(database: string, conversation: string): void {
    for (const key of this.#kept.keys()) {
      const [at = '', path = ''] = key.split('\n')
      if (at === database && conversationOf(path) === conversation) this.#kept.delete(key)
    }
  }

  async #bringUp(place: Place, before: Promise<WarmDocument> | undefined): Promise<WarmDocument> {
    const warm = (await before?.catch(() => null)) ?? null
    if (warm !== null && (await this.#readOn(place, warm))) return warm
    const fresh: WarmDocument = { fold: emptyDocument(place.path), last: null }
    await this.#readOn(place, fresh)
    return fresh
  }

  /** False if the last folded entry is not the stored one: the id now belongs to another conversation. */
  async #readOn({ database, path }: Place, warm: WarmDocument): Promise<boolean> {
    const { last } = warm
    let isSame = last === null
    const after = last === null ? 0 : last.seq - 1
    for await (const entry of this.#read({ database, conversation: conversationOf(path), after })) {
      if (!isSame) {
        isSame = entry.job === last?.job && entry.appendNo === last.appendNo
        if (!isSame) return false
        continue
      }
      applyEntry(warm.fold, entry)
      warm.last = { seq: entry.seq, job: entry.job, appendNo: entry.appendNo }
    }
    return isSame
  }
}
