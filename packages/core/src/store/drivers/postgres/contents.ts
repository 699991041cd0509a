/** Content on PostgreSQL: stored once for each digest, while a conversation refers to it. */
import { contentSql } from '../../sql/postgres/contents.ts'
import type { Store } from '../../store.ts'
import type { ContentUse, StoredContent } from '../../stored-content.ts'
import type { PostgresSession } from './session.ts'
import type { Statement, Row } from './statements.ts'
import { restored, stored } from './text.ts'

/** The methods of a store that are about content. */
export function contentMethods(session: PostgresSession): Pick<Store, 'putContent' | 'readContent'> {
  return {
    async putContent(database, digest, bytes) {
      const at = stored(database)
      const queries = [[contentSql.sweepContents, at] as const, putContent(at, { digest, bytes })]
      await session.transaction(at, ({ commit }) => commit(queries), { replyMs: bytesMs })
    },
    async readContent(database, conversation, digest) {
      const at = stored(database)
      const query: Statement = [contentSql.readContent, at, stored(conversation), stored(digest)]
      const [rows = []] = await session.work(() =>
        session.connection.run({ database: at }, [query], { replyMs: bytesMs }),
      )
      return rows[0] === undefined ? null : contentOf(rows[0])
    },
  }
}

/** The time limit of a statement with many bytes. */
const bytesMs = 60_000

/** Stores content that is not there yet. */
export function putContent(database: string, { digest, bytes }: Pick<StoredContent, 'digest' | 'bytes'>): Statement {
  const { buffer, byteOffset, byteLength } = bytes
  return [contentSql.putContent, database, stored(digest), Buffer.from(buffer, byteOffset, byteLength)]
}

/** Content with its use, from `readContent`. */
export function contentOf({ digest, bytes, media_type: mediaType, name }: Row): StoredContent {
  return {
    digest: restored(digest as string),
    mediaType: restored(mediaType as string),
    name: name === null ? null : restored(name as string),
    bytes: new Uint8Array(Buffer.from(bytes as string, 'base64')),
  }
}

/** References of conversations to content that the database has. */
export function useContents(
  database: string,
  uses: readonly (ContentUse & { readonly conversation: string })[],
): Statement[] {
  if (uses.length === 0) return []
  const digests = uses.map(({ digest }) => stored(digest))
  const names = uses.map(({ name }) => (name === null ? null : stored(name)))
  const [ids, types] = [uses.map((use) => stored(use.conversation)), uses.map((use) => stored(use.mediaType))]
  return [
    [contentSql.useContents, database, ids, digests, types, names],
    [contentSql.holdContents, database, digests],
  ]
}
