/** The documents of knowledge bases in an export: each as it was read, so that an import cuts and places it as its base wants it. */
import { isDeepStrictEqual } from 'node:util'
import { randomId } from '../identity/ids.ts'
import { documentsOf, isBaseRow } from '../agent/records.ts'
import type { Attributes, Block } from '../knowledge/document.ts'
import { readAlready, writeAlready } from '../knowledge/read-already.ts'
import type { MovingOf } from './export-lines.ts'
import type { Store } from './store.ts'

const pageSize = 100

/** The documents of all bases of a database, by base and key. One that is deleted meanwhile is left out. */
export async function* documentLines(store: Store, database: string): AsyncGenerator<MovingOf<'document'>> {
  for (const base of (await store.listAgents(database)).filter(isBaseRow)) {
    const at = { database, base: base.data.id, name: documentsOf(base) }
    for (let after: string | null = null; ; ) {
      const rows = await store.knowledge.listDocuments(database, at.name, { prefix: '', after, limit: pageSize })
      for (const { key } of rows) {
        const line = await documentLine(store, { ...at, key })
        if (line !== null) yield line
      }
      after = rows.at(-1)?.key ?? null
      if (rows.length < pageSize) break
    }
  }
}

async function documentLine(
  store: Store,
  { database, base, name, key }: Record<'database' | 'base' | 'name' | 'key', string>,
): Promise<MovingOf<'document'> | null> {
  const row = await store.knowledge.readDocument(database, name, key)
  if (row === null) return null
  const { title, uri, mediaType, attributes, digest, blocks } = row
  return {
    kind: 'document',
    database,
    base,
    key,
    title,
    uri,
    mediaType,
    attributes: { ...attributes },
    digest,
    blocks: [...blocks],
  }
}

/** Compares a document with what the store has under its key. One that waits to be read is not there yet. */
export async function standingOfDocument(
  store: Store,
  item: MovingOf<'document'>,
  name: string,
): Promise<'new' | 'same' | 'other'> {
  const there = await documentLine(store, { ...item, name })
  if (there === null) return 'new'
  return isDeepStrictEqual(there, item) ? 'same' : 'other'
}

/** Takes a document in: the next process that works on the store cuts and places it. */
export async function importDocument(
  store: Store,
  item: MovingOf<'document'>,
  { name, at }: { readonly name: string; readonly at: number },
): Promise<void> {
  const { database, key, title, uri, mediaType, attributes, digest, blocks } = item
  const content = writeAlready({ mediaType, title, blocks: blocks as readonly Block[] })
  const pending = { key, title, uri, mediaType: readAlready, content, attributes: attributes as Attributes, digest }
  await store.knowledge.beginIngest(database, {
    base: name,
    id: randomId(),
    at,
    prune: null,
    pending: [pending],
    failed: [],
  })
}
