/** The index of artifacts of the embedded store. */
import { type ArtifactRecords, artifactEntry } from '../artifact-records.ts'
import { pageStart } from '../cursor.ts'
import { entryOf } from '../entry-text.ts'
import { artifactSql } from '../sql/artifacts.ts'
import type { Row } from './sqlite-rows.ts'
import type { SqliteSession } from './sqlite-session.ts'

/** The methods of a store that find artifacts. */
export function artifactMethods(session: SqliteSession): ArtifactRecords {
  return {
    listArtifacts: (database, conversation, { limit, after, run, agent }) =>
      session.read(({ get, all }) => {
        const last = after === null ? null : pageStart(get(artifactSql.artifactPlace, database, conversation, after))
        const from = (last?.seq as number | undefined) ?? 0
        const wanted = [database, conversation, from, run, agent, limit, session.now()]
        return all(artifactSql.listArtifacts, ...wanted).map(entryIn)
      }),
    findArtifact: (database, id) =>
      session.read(({ all }) =>
        all(artifactSql.findArtifact, database, id, session.now()).map((row) => ({
          conversation: row.conversation as string,
          entry: entryIn(row),
        })),
      ),
  }
}

function entryIn({ text, seq, conversation }: Row) {
  return artifactEntry(entryOf(text as string, seq as number, conversation as string))
}
