/** Content of the embedded store: written and removed in small parts, read at once. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { unusedContentMs } from '../contents.ts'
import { contentSql } from '../sql/contents.ts'
import type { Store } from '../store.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { beginContent, contentOf, partsOf } from './sqlite-content-rows.ts'
import type { SqliteSession } from './sqlite-session.ts'

/** The methods of a store that are about content. */
export function contentMethods(session: SqliteSession): Pick<Store, 'putContent' | 'readContent'> {
  return {
    putContent: (database, digest, bytes) => putContent(session, { database, digest, bytes }),
    readContent: (database, conversation, digest) =>
      session.read((connection) => {
        const row = connection.get(contentSql.readUse, database, conversation, digest, session.now())
        return row === null ? null : contentOf(connection, row)
      }),
  }
}

/** Stores content part by part. */
export async function putContent(
  session: SqliteSession,
  { database, digest, bytes }: { readonly database: string; readonly digest: string; readonly bytes: Uint8Array },
): Promise<void> {
  await sweepContents(session, session.now() - unusedContentMs)
  const number = await session.write((connection) => beginContent(connection, { database, digest, now: session.now() }))
  if (number === null) return
  const parts = partsOf(bytes)
  for (const [at, part] of parts.entries()) {
    await nextTurn() // a write alone in its turn would else follow the one before at once
    await session.write(({ run }) => run(contentSql.putPart, number, at, part))
  }
  await session.write(({ run }) => run(contentSql.finishContent, number, parts.length))
}

/** Removes content that has been unused since before that time, part by part. Without any it only reads. */
export async function sweepContents(session: SqliteSession, before: number): Promise<void> {
  const isDue = () => session.read(({ get }) => get(contentSql.longestUnused, before) !== null)
  while (await isDue()) {
    await session.write((connection) => removePart(connection, before))
    await nextTurn()
  }
}

function removePart({ get, run }: SqliteConnection, before: number): void {
  const number = get(contentSql.longestUnused, before)?.number
  if (number === undefined) return
  const key = get(contentSql.lastPart, number)?.key ?? null
  if (key === null) return run(contentSql.deleteContent, number)
  run(contentSql.breakContent, number)
  run(contentSql.deletePart, key)
}
