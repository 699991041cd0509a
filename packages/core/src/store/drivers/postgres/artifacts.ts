/** The index of artifacts on PostgreSQL. */
import { type ArtifactRecords, type ArtifactRow, artifactEntry } from '../../artifact-records.ts'
import { pageStart } from '../../cursor.ts'
import { entryOf } from '../../entry-text.ts'
import { artifactSql } from '../../sql/postgres/artifacts.ts'
import type { PostgresSession } from './session.ts'
import type { Statement, Row } from './statements.ts'
import { restored, stored } from './text.ts'

/** The methods of a store that find artifacts. */
export function artifactMethods(session: PostgresSession): ArtifactRecords {
  return {
    async listArtifacts(database, conversation, { limit, after, run, agent }) {
      const at = [stored(database), stored(conversation)] as const
      const last =
        after === null ? null : await session.read(database, [artifactSql.artifactPlace, ...at, stored(after)])
      const from = last === null ? 0 : (pageStart(last[0]?.[0]).seq as number)
      const wanted = [run, agent].map((value) => (value === null ? null : stored(value)))
      const [rows = []] = await session.read(database, [artifactSql.listArtifacts, ...at, from, ...wanted, limit])
      return rows.map(entryIn)
    },
    async findArtifact(database, id) {
      const [rows = []] = await session.read(database, [artifactSql.findArtifact, stored(database), stored(id)])
      return rows.map((row) => ({ conversation: restored(row.conversation as string), entry: entryIn(row) }))
    },
  }
}

function entryIn({ text, seq, conversation }: Row) {
  return artifactEntry(entryOf(text as string, seq as number, restored(conversation as string)))
}

/** Adds artifacts to the index. */
export function insertArtifacts(
  database: string,
  rows: readonly (ArtifactRow & { readonly conversation: string })[],
): Statement[] {
  if (rows.length === 0) return []
  const texts = [
    rows.map(({ id }) => stored(id)),
    rows.map(({ run }) => stored(run)),
    rows.map((row) => stored(row.agent)),
  ]
  const conversations = rows.map(({ conversation }) => stored(conversation))
  return [[artifactSql.insertArtifacts, database, conversations, rows.map(({ seq }) => seq), ...texts]]
}
