/** Content on PostgreSQL: stored once for each digest, while a conversation refers to it. */
import { contentSql } from '../../sql/postgres/contents.ts'
import type { Store } from '../../store.ts'
import type { ContentUse, StoredContent } from '../../stored-content.ts'
import type { PostgresSession } from './session.ts'
import { CopiedBytes } from './copied-bytes.ts'
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
      const [, content] = await readContent(session, [stored(database), stored(conversation), stored(digest)])
      return content
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

/** The rows of these queries, and the content of a conversation, or null. */
export async function readContent(
  session: PostgresSession,
  at: readonly [database: string, conversation: string, digest: string],
  beside: readonly Statement[] = [],
): Promise<readonly [rows: readonly (readonly Row[])[], content: StoredContent | null]> {
  const queries: Statement[] = [...beside, [contentSql.nameContent, ...at], [contentSql.copyNamed]]
  const [all, bytes] = await readBytes(session, at[0], queries)
  const [found] = all[beside.length] ?? []
  return [all, found === undefined ? null : { ...contentUse(found), bytes }]
}

/** The rows of these queries, and the bytes that the last of them copies: many bytes are no value of a row, which would be text. */
export async function readBytes(
  session: PostgresSession,
  database: string,
  queries: readonly Statement[],
): Promise<readonly [rows: readonly (readonly Row[])[], bytes: Uint8Array]> {
  const read = async () => {
    const copied = new CopiedBytes()
    const options = { snapshot: true, replyMs: bytesMs, copied: (bytes: Uint8Array) => copied.take(bytes) }
    const all = await session.connection.run({ database }, queries, options)
    return [all, copied.joined()] as const
  }
  return session.work(read, { mayBeLong: true })
}

function contentUse({ digest, media_type: mediaType, name }: Row): ContentUse {
  return {
    digest: restored(digest as string),
    mediaType: restored(mediaType as string),
    name: name === null ? null : restored(name as string),
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
