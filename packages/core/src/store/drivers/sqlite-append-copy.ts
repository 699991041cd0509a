/** The append of a copied log: its entries, artifacts and references to content are written as a draft. */
import { artifactRows } from '../artifact-records.ts'
import { entryText } from '../entry-text.ts'
import { artifactSql } from '../sql/artifacts.ts'
import { contentSql } from '../sql/contents.ts'
import { logSql } from '../sql/log.ts'
import type { Append, AppendResult } from '../store.ts'
import type { ContentUse } from '../stored-content.ts'
import type { Entry } from '@witan/protocol/entries'
import { type AppendPlace, fullError, keysOfConversation, refusalOf, storeAppend } from './sqlite-append.ts'
import { useContents } from './sqlite-content-rows.ts'
import { type DraftRow, writeDraft } from './sqlite-draft.ts'
import type { SqliteSession } from './sqlite-session.ts'

/** Stores an append that creates a conversation without a job. */
export async function appendCopy(session: SqliteSession, append: Append): Promise<AppendResult> {
  const { conversation, entries } = append
  assertRoom(conversation, entries)
  const { contents: _, ...last } = append
  const at = (place: Pick<AppendPlace, 'connection' | 'heads' | 'usage'>) => ({ ...place, now: session.now() })
  return writeDraft<AppendResult>(session, {
    rows: copiedRows(append),
    refused: { ok: false, reason: 'contentless', job: null },
    refusal: (connection, cache) => refusalOf(at({ connection, ...cache }), last),
    finish: (connection, cache, number) =>
      storeAppend({ ...at({ connection, ...cache }), written: { number, entries: entries.length } }, last, []),
  })
}

/** Throws `STORE_UNAVAILABLE` if a conversation cannot have so many entries. */
export function assertRoom(conversation: string, entries: readonly Entry[]): void {
  if (entries.length >= keysOfConversation) throw fullError(conversation)
}

function* copiedRows(append: Append): Generator<DraftRow> {
  const { database, contents = [] } = append
  yield* entryRows(append)
  yield* useRows(database, contents)
}

/** The work for one reference, in characters of a row: its three statements take as long as writing a row of this length. */
const useSize = 700

/** The references to content. One to content that the database does not have is refused. */
export function* useRows(database: string, contents: readonly ContentUse[]): Generator<DraftRow> {
  for (const use of contents) {
    yield {
      size: useSize,
      write(connection, number) {
        if ((connection.get(contentSql.findContent, database, use.digest)?.parts ?? null) === null) return false
        useContents(connection, [use], { database, number })
        return true
      },
    }
  }
}

/** The rows of a log from its first entry on. An entry that JSON cannot hold throws. */
export function* entryRows(log: Pick<Append, 'database' | 'conversation' | 'entries'>): Generator<DraftRow> {
  const { database, conversation, entries } = log
  for (const [index, entry] of entries.entries()) {
    const text = entryText(entry, conversation)
    const [artifact] = artifactRows([entry], index)
    yield {
      size: text.length,
      write({ run }, number) {
        run(logSql.insertEntry, number * keysOfConversation + index + 1, text)
        if (artifact !== undefined) {
          const { seq, id, run: of, agent } = artifact
          run(artifactSql.insertArtifact, number, seq, database, id, of, agent)
        }
        return true
      },
    }
  }
}
