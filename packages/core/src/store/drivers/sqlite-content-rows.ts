/** Rows of content of the embedded store, inside one transaction. */
import { contentSql } from '../sql/contents.ts'
import type { ContentUse, StoredContent } from '../stored-content.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { Row } from './sqlite-rows.ts'

/** The bytes of one part. A commit of this size takes about ten milliseconds. */
const partBytes = 1_048_576

interface NewContent {
  readonly database: string
  readonly digest: string
  readonly now: number
}

/** The number of content whose parts must be written; null if it is complete already. */
export function beginContent({ get, run }: SqliteConnection, { database, digest, now }: NewContent): number | null {
  const found = get(contentSql.findContent, database, digest)
  if (found === null) run(contentSql.insertContent, database, digest, now)
  else run(contentSql.renewContent, found.number as number, now)
  if (found !== null) return found.parts === null ? (found.number as number) : null
  return get(contentSql.findContent, database, digest)?.number as number
}

/** The bytes in parts. */
export function partsOf(bytes: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = []
  for (let from = 0; from < bytes.byteLength; from += partBytes) parts.push(bytes.subarray(from, from + partBytes))
  return parts
}

/** Content of a row of `readUse` or `readUses`. */
export function contentOf({ all }: SqliteConnection, row: Row): StoredContent {
  const parts = all(contentSql.readParts, row.number as number).map(({ bytes }) => bytes as unknown as Uint8Array)
  const { digest, media_type: mediaType, name } = row as Record<string, string>
  return { digest, mediaType, name: name ?? null, bytes: new Uint8Array(Buffer.concat(parts)) } as StoredContent
}

/** Lets a conversation refer to content that the database has. */
export function useContents(
  { run }: SqliteConnection,
  uses: readonly ContentUse[],
  { database, number }: { readonly database: string; readonly number: number },
): void {
  for (const { digest, mediaType, name } of uses) {
    run(contentSql.useContent, number, database, digest, mediaType, name)
    run(contentSql.holdContent, database, digest)
  }
}
