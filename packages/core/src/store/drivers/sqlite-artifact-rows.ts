/** Rows of the index of artifacts of the embedded store, inside one transaction. */
import type { Entry } from '@witan/protocol/entries'
import { artifactRows } from '../artifact-records.ts'
import { artifactSql } from '../sql/artifacts.ts'
import type { SqliteConnection } from './sqlite-connection.ts'

/** Adds the artifacts among entries, which were stored after the seq `before`. */
export function insertArtifacts(
  { run }: SqliteConnection,
  entries: readonly Entry[],
  at: { readonly database: string; readonly number: number; readonly before: number },
): void {
  for (const row of artifactRows(entries, at.before))
    run(artifactSql.insertArtifact, at.number, row.seq, at.database, row.id, row.run, row.agent)
}
